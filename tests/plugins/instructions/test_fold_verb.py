"""`foldline fold` writes what a client should load, and tells when that is out of date."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from foldline.agent import cli
from foldline.backends.parsers.markdown import read_markdown

if TYPE_CHECKING:
    from pathlib import Path

MARK = "\n<!-- fold: where data lives -->\nIn `data/`.\n"
TEXT = f"# Rules\nBe brief é.\n\n## Data{MARK}\n## End\nOver.\n"
FOLDED = TEXT.replace(MARK, "\n\nFolded: where data lives (read lines 4-6 of {})\n")
SOURCE = "docs/agents/CLAUDE.full.md"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    file = tmp_path / SOURCE
    file.parent.mkdir(parents=True)
    file.write_bytes(TEXT.encode())
    monkeypatch.chdir(tmp_path)
    return file


def test_the_folded_text_is_printed(
    source: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert cli.main(["fold", SOURCE]) == 0
    assert capfdbinary.readouterr().out.decode() == FOLDED.format(SOURCE)
    assert cli.main(["fold", SOURCE, "--open-sections", "data"]) == 0
    assert capfdbinary.readouterr().out.decode() == TEXT
    assert cli.main(["fold", SOURCE, "--tool", "read_section", "--root", "docs"]) == 0
    assert b'{"prompt": "agents/CLAUDE.full.md"' in capfdbinary.readouterr().out


def test_a_byte_order_mark_is_kept(
    source: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    source.write_text(TEXT, encoding="utf-8-sig")
    for option, expected in ([], FOLDED.format(SOURCE)), (["--open-sections", "data"], TEXT):
        assert cli.main(["fold", SOURCE, *option]) == 0
        assert capfdbinary.readouterr().out == expected.encode("utf-8-sig")
    for _ in range(2):
        assert cli.main(["fold", SOURCE, "--write", "CLAUDE.md"]) == 0
    assert cli.main(["fold", "CLAUDE.md", "--check"]) == 0
    assert (tmp_path / "CLAUDE.md").read_bytes().startswith(b"\xef\xbb\xbf<!-- Generated")
    capfdbinary.readouterr()
    assert cli.main(["fold", "CLAUDE.md", "--unfold"]) == 0
    assert capfdbinary.readouterr().out == TEXT.encode("utf-8-sig")


@pytest.mark.real
def test_programs_get_utf_8_whatever_the_locale(source: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-m", "foldline.agent", "fold", SOURCE],
        env={"PYTHONIOENCODING": "latin-1", "PATH": ""},
        capture_output=True,
        check=True,
    )
    assert ended.stdout.decode() == FOLDED.format(SOURCE)


def test_a_file_that_a_client_loads_is_written_checked_and_unfolded(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "CLAUDE.md"
    assert cli.main(["fold", SOURCE, "--write", "CLAUDE.md", "--tool", "read_section"]) == 2
    assert "names lines alone" in capsys.readouterr().err
    assert cli.main(["fold", SOURCE, "--write", "CLAUDE.md"]) == 0
    comment, _, folded = out.read_text(encoding="utf-8").partition("\n")
    assert comment.startswith(f"<!-- Generated, edit {SOURCE} instead")
    assert folded == FOLDED.format(SOURCE)
    assert cli.main(["fold", "CLAUDE.md", "--check"]) == 0
    assert capsys.readouterr().out.endswith("CLAUDE.md is up to date\n")

    out.write_text(out.read_text(encoding="utf-8").replace("Over.", "Over and out."), "utf-8")
    assert cli.main(["fold", "CLAUDE.md", "--check"]) == 1
    assert "was changed by hand" in capsys.readouterr().err
    assert cli.main(["fold", "CLAUDE.md", "--unfold"]) == 0
    assert capsys.readouterr().out == TEXT.replace("Over.", "Over and out.")
    out.write_text(out.read_text(encoding="utf-8").replace("where data", "where all data"), "utf-8")
    assert cli.main(["fold", "CLAUDE.md", "--check"]) == 1
    assert "--unfold" not in (said := capsys.readouterr().err)
    assert f"'rules.data' was changed: change it in {SOURCE}, and run `foldline fold " in said

    source.write_bytes(TEXT.replace("Over.", "Done.").encode())
    assert cli.main(["fold", "CLAUDE.md", "--check"]) == 1
    assert f"`foldline fold {SOURCE} --write CLAUDE.md`" in capsys.readouterr().err
    assert cli.main(["fold", SOURCE, "--write", "CLAUDE.md"]) == 0
    assert cli.main(["fold", "CLAUDE.md", "--check"]) == 0


@pytest.mark.parametrize("name", ["CLAUDE.md", "../CLAUDE.md"])
def test_a_file_that_a_person_wrote_is_left_alone(
    name: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "CLAUDE.md").write_text("Mine.\n", encoding="utf-8")
    assert cli.main(["fold", SOURCE, "--write", name]) == 2
    assert "is left alone" in (said := capsys.readouterr().err) or "in one project" in said
    assert source.read_bytes() == TEXT.encode()
    assert (tmp_path / "CLAUDE.md").read_text(encoding="utf-8") == "Mine.\n"
    assert cli.main(["fold", "CLAUDE.md", "--check"]) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--write", SOURCE], f"{SOURCE} is the file to fold: --write names another one"),
        (["--skill", "skills"], "--skill goes with --write OUT"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    options: list[str], message: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["fold", SOURCE, *options]) == 2
    assert message in capsys.readouterr().err
    assert source.read_bytes() == TEXT.encode()


def test_candidates_are_listed_with_what_they_cost(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.write_text("## Files\n" + "- `a.py` holds a part.\n" * 20, encoding="utf-8")
    assert cli.main(["fold", SOURCE, "--suggest"]) == 0
    assert capsys.readouterr().out.startswith(f"{SOURCE}:1: Files (")
    source.write_text(TEXT, encoding="utf-8")
    assert cli.main(["fold", SOURCE, "--suggest"]) == 1


def test_a_skill_says_how_the_sections_are_read(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fold", SOURCE, "--write", "CLAUDE.md", "--skill", ".claude/skills"]
    assert cli.main(words) == 0
    skill = tmp_path / ".claude/skills/folded-sections/SKILL.md"
    text = skill.read_text(encoding="utf-8")
    found = read_markdown(text)
    assert found.front_matter is not None
    assert text[slice(*found.front_matter)].startswith(f"name: {skill.parent.name}\ndescription: ")
    assert cli.main(words) == 0
    assert skill.read_text(encoding="utf-8") == text
    skill.write_text("---\nname: mine\n---\n", encoding="utf-8")
    assert cli.main(words) == 2
    assert "SKILL.md wasn't written by" in capsys.readouterr().err
    assert skill.read_text(encoding="utf-8") == "---\nname: mine\n---\n"


@pytest.mark.parametrize("place", ["../secret.md", "{}/secret.md", "link.md"])
def test_a_source_outside_of_the_project_is_not_read(
    place: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "docs"
    (project / ".git").mkdir()
    (tmp_path / "secret.md").write_text("# Secret\n", encoding="utf-8")
    (project / "link.md").symlink_to(tmp_path / "secret.md")
    line = (
        f"<!-- Generated, edit {place.format(tmp_path)} instead and run: "
        "foldline fold x --write a.md (sha256 0123456789abcdef) -->\n"
    )
    (project / "a.md").write_text(line + "# Secret\n", encoding="utf-8")
    for option in ("--unfold", "--check"):
        assert cli.main(["fold", "docs/a.md", option]) == 2
        said = capsys.readouterr()
        assert "outside of its project" in said.err
        assert not said.out


def test_paths_are_from_the_repository_not_from_a_package_in_it(
    source: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (source.parent / "pyproject.toml").touch()
    assert cli.main(["fold", SOURCE]) == 0
    assert capfdbinary.readouterr().out.decode() == FOLDED.format(SOURCE)
