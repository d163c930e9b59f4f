"""`foldline fold` prints folded files, and moves sections to where clients load them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from foldline.agent import cli
from foldline.plugins.instructions import folding

if TYPE_CHECKING:
    from pathlib import Path

MARK = "\n<!-- fold: where data lives -->\nIn `data/`.\n"
TEXT = f"# Rules\nBe brief é.\n\n## Data{MARK}\n## End\nOver.\n"
FOLDED = TEXT.replace(MARK, "\n\nFolded: where data lives (read lines 4-6 of {})\n")
SOURCE = "docs/agents/AGENTS.md"


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
    assert b'{"prompt": "agents/AGENTS.md"' in capfdbinary.readouterr().out


def test_a_byte_order_mark_is_kept(
    source: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    source.write_text(TEXT, encoding="utf-8-sig")
    for option, expected in ([], FOLDED.format(SOURCE)), (["--open-sections", "data"], TEXT):
        assert cli.main(["fold", SOURCE, *option]) == 0
        assert capfdbinary.readouterr().out == expected.encode("utf-8-sig")
    before = source.read_bytes()
    assert cli.main(["fold", SOURCE, "--to", "docs/more.md"]) == 0
    assert source.read_bytes().startswith(b"\xef\xbb\xbf# Rules")
    assert cli.main(["fold", SOURCE, "--unfold"]) == 0
    assert source.read_bytes() == before


@pytest.mark.real
def test_programs_get_utf_8_whatever_the_locale(source: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-m", "foldline.agent", "fold", SOURCE],
        env={"PYTHONIOENCODING": "latin-1", "PATH": ""},
        capture_output=True,
        check=True,
    )
    assert ended.stdout.decode() == FOLDED.format(SOURCE)


def test_candidates_are_listed_with_what_they_cost(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.write_text("## Files\n" + "- `a.py` holds a part.\n" * 20, encoding="utf-8")
    assert cli.main(["fold", SOURCE, "--suggest"]) == 0
    assert capsys.readouterr().out.startswith(f"{SOURCE}:1: Files (")
    source.write_text(TEXT, encoding="utf-8")
    assert cli.main(["fold", SOURCE, "--suggest"]) == 1


def test_paths_are_from_the_repository_not_from_a_package_in_it(
    source: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (source.parent / "pyproject.toml").touch()
    assert cli.main(["fold", SOURCE]) == 0
    assert capfdbinary.readouterr().out.decode() == FOLDED.format(SOURCE)


BODY = "".join(f"- `src/part_{number}.py` holds part {number}.\n" for number in range(20))
LONG = (
    f"# Rules\n\n## Data\n<!-- fold: where data lives -->\n{BODY}\n"
    f"## More {'and more ' * 7}\n<!-- fold: more -->\n{BODY}"
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in (".git", "src/ui", ".claude", ".cursor", ".codex"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "src/ui/app.ts").touch()
    (tmp_path / "AGENTS.md").write_text(LONG, encoding="utf-8")
    (tmp_path / "CLAUDE.md").write_text("@AGENTS.md\n[Data](AGENTS.md#data)\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("[Data](AGENTS.md#data)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def texts(folder: Path) -> dict[str, str]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {one.relative_to(folder).as_posix(): one.read_text("utf-8") for one in files}


@pytest.mark.parametrize(
    ("options", "made", "said"),
    [
        (["--to", "src/ui/AGENTS.md"], ["src/ui/AGENTS.md"], "when a file in src/ui is read"),
        (
            ["--to-rule", "ui", "--paths", "src/ui/**"],
            [".claude/rules/ui.md", ".cursor/rules/ui.mdc"],
            "it matches src/ui/**",
        ),
        (
            ["--to-rule", "ui", "--paths", "src/ui/*.ts", "--paths", "*.js", "--client", "copilot"],
            [".github/instructions/ui.instructions.md"],
            "it matches src/ui/*.ts",
        ),
        (
            ["--to-skill", "app"],
            [
                f"{folder}/skills/app-{name}/SKILL.md"
                for folder in (".agents", ".claude")
                for name in ("data", f"more{'-and-more' * 6}-a")
            ],
            "names and descriptions of 2 skills",
        ),
        (
            ["--to-skill", "app", "--section", "data", "--client", "copilot,opencode"],
            [".claude/skills/app/SKILL.md"],
            "names and descriptions of 1 skill",
        ),
        # Its documentation doesn't say how it reads others.
        (
            ["--to-skill", "app", "--section", "data", "--client", "opencode2"],
            [".agents/skills/app/SKILL.md"],
            "names and descriptions of 1 skill",
        ),
    ],
)
def test_sections_move_and_come_back(
    options: list[str],
    made: list[str],
    said: str,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = texts(repository)
    assert cli.main(["fold", "AGENTS.md", *options]) == 0
    assert " on demand" in capsys.readouterr().out
    assert cli.main(["stack", "src/ui/app.ts"]) == 0
    assert said in capsys.readouterr().out
    after = texts(repository)
    assert sorted(after.keys() - before) == sorted(made)
    assert after["README.md"] == f"[Data]({min(made)}#data)\n"
    checked = [one for one in made if one != "src/ui/AGENTS.md"]
    assert cli.main(["check", *checked, "AGENTS.md", "CLAUDE.md"]) == 0, capsys.readouterr().out
    assert cli.main(["fold", "AGENTS.md", "--unfold"]) == 0
    assert texts(repository) == before
    assert not (repository / ".agents").exists()


def test_a_dry_run_shows_the_same_and_writes_nothing(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, before = ["fold", "AGENTS.md", "--to", "docs/more.md"], texts(repository)
    assert cli.main([*words, "--dry-run"]) == 0
    dry = capsys.readouterr().out.splitlines()
    assert texts(repository) == before
    assert cli.main(words) == 0
    assert set(dry) - {"Nothing is written: --dry-run."} < {*capsys.readouterr().out.splitlines()}


def test_the_clients_are_those_that_the_repository_shows_or_names(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (".claude", ".cursor", ".codex"):
        (repository / path).rmdir()
    (repository / "CLAUDE.md").unlink()
    words = ["fold", "AGENTS.md", "--to-rule", "ui", "--paths", "src/**"]
    assert cli.main(words) == 2
    assert "name the client: --client claude-code" in capsys.readouterr().err
    (repository / "foldline.toml").write_text('clients = ["cursor"]\n', encoding="utf-8")
    assert cli.main(words) == 0
    shown = capsys.readouterr().out
    assert "Cursor: " in shown
    assert "opencode" not in shown
    assert (repository / ".cursor/rules/ui.mdc").exists()
    assert not (repository / ".claude").exists()


@pytest.mark.usefixtures("repository")
def test_what_costs_more_is_said(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "`d/` / `e` is never empty.\n"
    text = f"# A\n## Data\n<!-- fold: where data lives and what is in it -->\n{body}"
    (repository / "AGENTS.md").write_text(text, encoding="utf-8")
    assert cli.main(["fold", "AGENTS.md", "--to-skill", "data", "--client", "codex"]) == 0
    shown = capsys.readouterr().out
    assert "tokens in each session, which is no less; " in shown
    assert "a.data costs no less folded: remove its mark." in shown
    assert 'a.data may contain an order ("never empty. …"): a client that' in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["AGENTS.md", "--to", "AGENTS.md"], "--to AGENTS.md: name another file in "),
        (["AGENTS.md", "--to", "../x.md"], "name another file in "),
        (["AGENTS.md", "--to", "src"], ", as DIR/NAME.md"),
        (["AGENTS.md", "--to-rule", "x"], "--to-rule and --paths go together"),
        (["AGENTS.md", "--to", "x.md", "--paths", "*.ts"], "--to-rule and --paths go together"),
        (["AGENTS.md", "--dry-run"], "or --unfold is missing: it says what to do"),
        (["AGENTS.md", "--unfold", "--root", "src"], "that's no folder around AGENTS.md"),
        (["AGENTS.md", "--to-rule", "x", "--paths", "*", "--client", "codex"], "name the client"),
        (["AGENTS.md", "--to-rule", "old", "--paths", "*"], "old.md already exists: choose"),
        (["AGENTS.md", "--to-rule", "../x", "--paths", "*"], "isn't a name"),
        (["AGENTS.md", "--to-rule", "x", "--paths", "scr/**", "b"], "scr/** b: no file that git"),
        (["AGENTS.md", "--to-skill", "Data"], "isn't a name: small letters"),
        (["AGENTS.md", "--to", "x.md", "--section", "rules"], "AGENTS.md:1 has no mark"),
        (["AGENTS.md", "--to", "x.md", "--section", "date"], "has no section 'date'"),
        (["CLAUDE.md", "--to", "x.md"], "CLAUDE.md marks no section"),
        (["CLAUDE.md", "--unfold"], "has no such section"),
        (["src/ui/app.ts"], "isn't Markdown: `fold` takes files such as AGENTS.md"),
        (["AGENTS.md", "--to", ".git/x.md"], "commit of this repository: `.git` of version"),
        (["AGENTS.md", "--to", "sub/x.md"], "commit of this repository: it's in another"),
        (
            ["AGENTS.md", "--to-skill", "x", "--client", "cursor"],
            "repository: `.cursor/skills` of .gitignore hides it; name another file",
        ),
    ],
)
def test_what_cannot_move_stays(
    options: list[str], message: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / ".claude/rules").mkdir()
    (repository / ".claude/rules/old.md").write_text("Old.\n", encoding="utf-8")
    (repository / ".gitignore").write_text(".cursor/skills\n", encoding="utf-8")
    (repository / "sub/.git").mkdir(parents=True)
    before = texts(repository)
    assert cli.main(["fold", *options]) == 2
    assert message in capsys.readouterr().err
    assert texts(repository) == before


def test_skills_go_where_the_team_has_some_and_settings_are_read(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (".claude", ".cursor", ".codex", "CLAUDE.md"):
        (repository / path).rename(repository / f"_{path}")
    (repository / ".github/instructions").mkdir(parents=True)
    (repository / ".agents/skills").mkdir(parents=True)
    # What is a person's own stays so.
    (repository / ".gitignore").write_text("AGENTS.md\n.agents\n", encoding="utf-8")
    options = ["fold", "AGENTS.md", "--to-skill", "app", "--section", "data", "--dry-run"]
    assert cli.main(options) == 0
    assert "(read `.agents/skills/app/SKILL.md`)" in capsys.readouterr().out
    (repository / "foldline.toml").write_text("clients = ['claude']\n", encoding="utf-8")
    assert cli.main(options) == 2
    assert "did you mean 'claude-code'?" in capsys.readouterr().err


def test_nothing_is_written_where_one_file_cannot_be(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = texts(repository)
    (repository / "AGENTS.md").chmod(0o444)
    assert cli.main(["fold", "AGENTS.md", "--to", "docs/x.md"]) == 2
    assert f"{repository / 'AGENTS.md'} is read-only: change it" in capsys.readouterr().err
    assert texts(repository) == before
    (repository / "AGENTS.md").chmod(0o644)
    assert cli.main(["fold", "AGENTS.md", "--to", "src/ui/app.ts/x.md"]) == 2
    assert "app.ts/x.md can't be written: " in capsys.readouterr().err


@pytest.mark.parametrize("path", ["AGENTS.md", "x.md"])
def test_what_another_program_writes_meanwhile_stays(
    path: str, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def costs(*_: object) -> list[str]:
        (repository / path).write_text("Mine.\n", encoding="utf-8")
        return []

    monkeypatch.setattr(folding, "_costs", costs)
    assert cli.main(["fold", "AGENTS.md", "--to", "x.md"]) == 2
    assert "another program has just changed" in capsys.readouterr().err
    assert (repository / path).read_text("utf-8") == "Mine.\n"
