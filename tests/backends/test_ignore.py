"""Ignore files by git's rules, compared with git itself."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import IgnoredPathError, LocalFileBackend
from foldline.backends.files import git_patterns, ignore
from foldline.backends.files.ignore import IgnoreRules
from foldline.backends.text import format_tree


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


def test_a_worktree_has_the_excludes_of_its_repository(tmp_path: Path) -> None:
    main, other = tmp_path / "main", tmp_path / "other"
    make(main, {"a.py": ""})
    user = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (
        ("init", "-q"),
        ("add", "."),
        (*user, "commit", "-qm", "first"),
        ("worktree", "add", "-q", str(other)),
    ):
        subprocess.run(["git", "-C", str(main), *arguments], check=True)
    make(main, {".git/info/exclude": "built.py\n"})
    make(other, {"built.py": "", "sub/built.py": ""})
    assert listed(other) == ["a.py"]
    # A repository that doesn't know the folder has no say in it.
    (main / ".git" / "worktrees" / "other" / "gitdir").write_text("/elsewhere/.git\n")
    assert listed(other) == ["a.py", "built.py", "sub/built.py"]


def test_a_git_file_that_names_anothers_repository_has_none_of_its_excludes(tmp_path: Path) -> None:
    """Each file of a worktree can be made up, but not the folder that git keeps it in."""
    make(tmp_path, {"other/.git/info/exclude": "a.py\n"})
    files = {
        ".git": "gitdir: made-up\n",
        "made-up/gitdir": "../.git\n",
        "made-up/commondir": f"{tmp_path}/other/.git\n",
        "a.py": "",
    }
    make(tmp_path / "w", files)
    assert "a.py" in listed(tmp_path / "w")


def test_a_git_link_that_the_system_does_not_follow_is_no_repository(tmp_path: Path) -> None:
    make(tmp_path, {"a.py": ""})
    (tmp_path / ".git").symlink_to("x" * 300)
    assert listed(tmp_path) == ["a.py"]


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


MALFORMED = [
    "[z-",
    "[",
    "[a-\\",
    "a[^/-/]",
    "[[:bad:]]",
    "a//",
    "a" * 1_000_000,
    "foo[[:bad:]",
    "\\",
    "!",
    "/",
]


@pytest.mark.parametrize("pattern", MALFORMED, ids=lambda pattern: pattern[:10])
def test_a_malformed_pattern_matches_nothing_and_the_others_count(
    tmp_path: Path, pattern: str
) -> None:
    make(tmp_path, {".gitignore": f"*.log\n{pattern}\n*.tmp\n", "a.log": "", "b.tmp": "", "z": ""})
    assert listed(tmp_path) == [".gitignore", "z"]


def test_what_is_malformed_is_said_on_one_line(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "[z-a\n[y-b\n" + "x" * 100_000, "a.py": ""})
    reason = LocalFileBackend(tmp_path).get_tree(budget=300).reason
    assert reason == ".gitignore: the malformed pattern '[z-a' and 2 more matches nothing"
    assert LocalFileBackend(tmp_path).ignore_problems() == (reason,)


def test_patterns_beyond_the_limit_do_not_count_and_are_not_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    compile_line = git_patterns._pattern

    def counted(line: str, *, any_case: bool) -> git_patterns.GitPattern | None:
        compiled.append(line)
        return compile_line(line, any_case=any_case)

    monkeypatch.setattr(git_patterns, "_pattern", counted)
    lines = "".join(f"f{number}.py\n" for number in range(20_000))
    make(tmp_path, {".gitignore": lines, "f4999.py": "", "f5000.py": ""})
    tree = LocalFileBackend(tmp_path).get_tree()
    assert [entry.name for entry in tree] == [".gitignore", "f5000.py"]
    assert tree.reason == ".gitignore has 20,000 patterns: the first 5,000 of them count"
    assert len([pattern for pattern in compiled if pattern.startswith("f")]) == 5_000


def test_patterns_of_many_ignore_files_are_limited_together(tmp_path: Path) -> None:
    lines = "".join(f"a.{number}\n" for number in range(4_000))
    for number in range(7):
        make(tmp_path, {f"d{number}/.gitignore": f"# {number}\n{lines}", f"d{number}/a.1": ""})
    tree = LocalFileBackend(tmp_path).get_tree()
    assert "d5/.gitignore has 4,000 patterns: the first 0 of them count" in tree.reason
    assert tree.ignored == 5


def test_patterns_with_too_many_wildcards_do_not_count_and_are_not_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    compile_lines = git_patterns.compile_patterns

    def counted(
        lines: tuple[str, ...], *, any_case: bool = False
    ) -> tuple[git_patterns.GitPatterns, tuple[str, ...]]:
        compiled.extend(lines)
        return compile_lines(lines, any_case=any_case)

    monkeypatch.setattr(ignore, "compile_patterns", counted)
    lines = "".join(f"f{number}{'*b?c[d]' * 4}\n" for number in range(4_000))
    make(tmp_path, {".gitignore": f"first\n{lines}last\n", "first": "", "last": ""})
    make(tmp_path, {"below/.ignore": "a.*\nlast\n", "below/last": ""})
    tree = LocalFileBackend(tmp_path).get_tree()
    assert [entry.name for entry in tree] == ["below", ".gitignore", "last"]
    assert tree.reason.startswith(
        ".gitignore has too many wildcards, the limit of all ignore files is 10,000: its first 834 "
        "patterns count"
    )
    assert sum(line.count("*") for line in compiled if line.startswith("f")) == 833 * 4


@pytest.mark.parametrize("name", [".gitignore", ".ignore", "deep/.gitignore"])
@pytest.mark.parametrize("what", ["pipe", "folder", "outside", "large", "device"])
def test_an_ignore_file_that_is_refused_hides_nothing_and_is_said(
    tmp_path: Path, name: str, what: str
) -> None:
    root = tmp_path / "root"
    make(root, {"a.py": "", "deep/b.py": ""})
    (tmp_path / "all").write_text("*\n")
    file = root / name
    if what == "pipe":
        os.mkfifo(file)
    elif what == "folder":
        file.mkdir()
    elif what == "large":
        file.write_text("*\n" * 600_000)
    else:
        file.symlink_to("/dev/zero" if what == "device" else tmp_path / "all")
    files = LocalFileBackend(root)
    assert {"a.py", "deep/b.py"} <= set(listed(root))
    assert files.read_file("deep/b.py") == ""
    reason = files.get_tree().reason
    assert reason.startswith(f"{name} ")
    assert reason.endswith(": nothing of it counts")


def test_a_tree_with_a_problem_keeps_to_its_budget(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "[z-a\n", **{f"folder{n}/a.py": "" for n in range(50)}})
    tree = LocalFileBackend(tmp_path).get_tree(budget=500)
    assert tree.reason
    assert len(format_tree(tree).encode()) <= 500


def test_many_patterns_that_no_engine_takes_at_once_still_count(tmp_path: Path) -> None:
    lines = "".join(f"{chr(97 + n % 26)}{'x' * 60}b{n}*\n" for n in range(4_000))
    make(tmp_path, {".gitignore": f"{lines}*.log\n", "a.log": "", "b.py": ""})
    assert listed(tmp_path) == [".gitignore", "b.py"]


PATTERN_PIECES = st.sampled_from(
    [*"ab*?!/[].\\ ", "**/", "/**", "[!a]", "[a-b]", "ab", "é", "\n", "(?P<ps_d>", "[^/]", "$", "^"]
)
PATTERNS = st.lists(st.lists(PATTERN_PIECES, max_size=5).map("".join), max_size=6).map("\n".join)
ENTRY_NAMES = st.text("ab.é\n!*[(\udc80", min_size=1, max_size=4).filter(lambda name: name != ".")


ENTRIES = st.dictionaries(ENTRY_NAMES, st.booleans(), max_size=6).map(lambda one: [*one.items()])


@given(PATTERNS, PATTERNS, ENTRIES)
def test_what_is_hidden_of_a_folder_is_what_is_hidden_name_by_name(
    top: str, inner: str, entries: list[tuple[str, bool]]
) -> None:
    texts = {"/r/.gitignore": top, "/r/a/.ignore": inner}

    def read(file: Path, _: Path | None) -> tuple[str, str] | None:
        return ("1", texts[str(file)]) if str(file) in texts else None

    for folder in ("", "a", "a/b"):
        rules = IgnoreRules(Path("/r"), read)
        one_by_one = {
            name
            for name, is_folder in entries
            if rules.for_entry(folder, name, is_folder=is_folder) is not None
        }
        assert rules.hidden(folder, entries) == one_by_one
