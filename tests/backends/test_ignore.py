"""Ignore files by git's rules, compared with git itself."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldline.backends import IgnoredPathError, LocalFileBackend


def make(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def listed(root: Path) -> list[str]:
    return sorted(stamp.path for stamp in LocalFileBackend(root).walk())


def test_a_deeper_file_overrules_the_ones_above(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            ".gitignore": "*.log\n",
            "a.log": "",
            "keep/.gitignore": "!*.log\n",
            "keep/b.log": "",
            "keep/c.tmp": "",
        },
    )
    assert listed(tmp_path) == [".gitignore", "keep/.gitignore", "keep/b.log", "keep/c.tmp"]


def test_what_is_in_an_ignored_folder_cannot_come_back(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "out/\n!out/keep.py\n", "out/keep.py": "", "a.py": ""})
    assert listed(tmp_path) == [".gitignore", "a.py"]
    with pytest.raises(IgnoredPathError) as caught:
        LocalFileBackend(tmp_path).read_file("out/keep.py")
    assert (caught.value.pattern, caught.value.source) == ("out/", ".gitignore")


def test_dot_ignore_overrules_gitignore(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.gen\n", ".ignore": "!a.gen\nb.py\n", "a.gen": "", "b.py": ""})
    assert listed(tmp_path) == [".gitignore", ".ignore", "a.gen"]


def test_defaults_hide_what_no_project_means_and_can_be_overruled(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"node_modules/x/i.js": "", "__pycache__/a.pyc": "", ".git/config": "", "a.py": ""},
    )
    assert listed(tmp_path) == ["a.py"]
    make(tmp_path, {".gitignore": "!node_modules/\n"})
    assert listed(tmp_path) == [".gitignore", "a.py", "node_modules/x/i.js"]


def test_rules_of_the_repository_above_the_workspace_count(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            ".git/info/exclude": "excluded.py\n",
            ".gitignore": "/packages/one/built.py\n",
            "packages/one/built.py": "",
            "packages/one/excluded.py": "",
            "packages/one/a.py": "",
        },
    )
    assert listed(tmp_path / "packages" / "one") == ["a.py"]


def test_global_excludes_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    make(home, {".gitconfig": "[core]\n\texcludesFile = ~/mine\n", "mine": "*.swp\n"})
    monkeypatch.setenv("HOME", str(home))
    make(tmp_path / "w", {"a.swp": "", "a.py": ""})
    assert listed(tmp_path / "w") == ["a.py"]


def test_a_malformed_pattern_matches_nothing_and_spoils_nothing(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "!\n\\\n*.log\n", "a.log": "", "a.py": ""})
    assert listed(tmp_path) == [".gitignore", "a.py"]


def test_no_ignore_shows_everything_but_says_nothing_new(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.log\n", "a.log": "text\n"})
    files = LocalFileBackend(tmp_path)
    assert files.read_file("a.log", no_ignore=True) == "text\n"
    assert files.get_tree().ignored == 1
    assert files.get_tree(no_ignore=True).files == 2


def test_a_changed_rule_counts_at_once(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.log\n", "a.log": ""})
    files = LocalFileBackend(tmp_path)
    assert [stamp.path for stamp in files.walk()] == [".gitignore"]
    make(tmp_path, {".gitignore": "nothing\n"})
    assert [stamp.path for stamp in files.walk()] == [".gitignore", "a.log"]


def test_an_open_buffer_is_never_ignored(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.log\n", "a.log": ""})
    files = LocalFileBackend(tmp_path)
    files.set_overlay("a.log", "open\n")
    assert files.read_file("a.log") == "open\n"


NAMES = st.sampled_from(["a", "b", "ab", "a.c", "b.c", "d"])
PATTERNS = st.sampled_from(
    [
        "a",
        "/a",
        "a/",
        "*.c",
        "!a.c",
        "d/*",
        "!d/a",
        "**/b",
        "a/**",
        "d/**/b",
        "?b",
        "[ab].c",
        "a*",
        "!b",
        "#x",
        "a b",
        "*",
        "!*/",
        "/d/b.c",
    ]
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    paths=st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8),
    top=st.lists(PATTERNS, max_size=4),
    below=st.lists(PATTERNS, max_size=3),
)
def test_git_hides_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, paths: set[str], top: list[str], below: list[str]
) -> None:
    root = tmp_path_factory.mktemp("git")
    files = {path for path in paths if not any(other.startswith(f"{path}/") for other in paths)}
    make(root, dict.fromkeys(files, ""))
    make(root, {".gitignore": "\n".join(top) + "\n"})
    if (root / "d").is_dir():
        make(root, {"d/.gitignore": "\n".join(below) + "\n"})
    git = ["git", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True, timeout=30)
    shown = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard", "-z"],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert listed(root) == sorted(filter(None, shown.stdout.split("\0")))
