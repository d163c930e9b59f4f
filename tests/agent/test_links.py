"""Links that lead out of the workspace, or to themselves, are refused by name."""

from pathlib import Path

import pytest

from .verbs import foldline

TEXT = "# Rules\n\nOnly for its owner.\n"
VERBS = (
    ("outline",),
    ("read",),
    ("tokens",),
    ("check",),
    ("fold",),
    ("preview",),
    ("adopt",),
    ("index", "import"),
    ("hover",),
)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_link_to_itself_is_told(verb: tuple[str, ...], tmp_path: Path) -> None:
    for name, other in (("A.md", "A.md"), ("B.md", "C.md"), ("C.md", "B.md")):
        (tmp_path / name).symlink_to(other)
    for name in ("A.md", "B.md"):
        done = foldline(*verb, name, folder=tmp_path)
        assert done.returncode == 2, done
        assert f"{name}: " in done.stderr
        assert "is a link to itself" in done.stderr


def test_links_to_themselves_around_a_file_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# Rules\n")
    (tmp_path / "pyproject.toml").symlink_to("pyproject.toml")
    (tmp_path / "CLAUDE.md").symlink_to("CLAUDE.md")
    for words in (("check",), ("tokens",), ("stack",), ("stack", "CLAUDE.md"), ("doctor",)):
        done = foldline(*words, folder=tmp_path)
        assert "foldline failed" not in done.stderr, words
        assert done.returncode <= 2, words


def test_fold_prints_no_file_from_outside(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
        (folder / ".git").mkdir()
    (outside / "x.md").write_text(TEXT)
    (root / "AGENTS.md").symlink_to(outside / "x.md")
    (root / "rules.md").write_text("# Of ours\n")
    (root / "CLAUDE.md").symlink_to("rules.md")
    for words in ((), ("--suggest",), ("--to", "out.md"), ("--unfold",)):
        done = foldline("fold", "AGENTS.md", *words, folder=root)
        assert done.returncode == 2
        assert f"AGENTS.md links out of {root}: name {outside / 'x.md'}" in done.stderr
        assert "owner" not in done.stdout
    done = foldline("fold", "CLAUDE.md", folder=root)
    assert (done.returncode, done.stdout) == (0, "# Of ours\n"), done


@pytest.mark.parametrize("name", ["x" * 60_000, "a/" * 3_000 + "b.py", "é" * 200], ids=len)
def test_a_name_that_no_file_system_takes_is_told(name: str, tmp_path: Path) -> None:
    others = (("doctor",), ("stack",), ("index", "export"), ("stack", "--start"))
    for verb in (*VERBS[:-1], *others):
        done = foldline(*verb, name, folder=tmp_path)
        assert done.returncode == 2, verb
        assert done.stderr.startswith(f"foldline {verb[0]}: "), verb
        assert "foldline failed" not in done.stderr
        assert len(done.stderr) < 1_000
