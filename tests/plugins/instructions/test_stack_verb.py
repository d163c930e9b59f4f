"""`foldline stack` shows what each client loads for a file, and what that costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from foldline.agent.cli import main

from ...agent.verbs import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.go").touch()
    (tmp_path / "AGENTS.md").write_text("# Rules\nBe brief.\n\n## Tests\nRun them.\n")
    (tmp_path / "src" / "AGENTS.md").write_text("# Source\nBe exact.\n")
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text('{"context": {"fileName": "AGENTS.md"}}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(*arguments: str) -> str:
    status, out, _ = run("stack", *arguments)
    assert status == 0
    return out


def test_the_stack_of_a_file(repository: Path) -> None:
    assert repository
    assert (
        shown("src/app.go", "--client", "gemini", "codex")
        == """\
Gemini CLI  18 tokens: 12 in each session + 6 for this file
       12  AGENTS.md  in each session
        6  src/AGENTS.md  when a file in src is read

Codex  12 tokens  (settings as in a trusted project)
       12  AGENTS.md  in each session
        -  src/AGENTS.md  Codex reads nothing below the folder where it starts

User-level and organization-level files aren't read.
"""
    )


def test_what_is_not_certain_is_explained(repository: Path) -> None:
    (repository / ".cursorrules").write_text("# Rules\nBe brief.\n")
    said = "?: the client's documentation doesn't say clearly that this is loaded."
    assert said in shown("--client", "cursor").splitlines()
    assert "?" not in shown("--client", "claude-code")


def test_a_file_may_be_a_new_one_or_a_folder(repository: Path) -> None:
    assert repository
    known = shown("src/app.go")
    assert shown("src") == known
    assert shown("src/new.go") == known
    assert "src/AGENTS.md  when a file in src is read" in shown("src/new/new.go")


def test_a_git_link_that_the_system_does_not_follow_is_no_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").symlink_to("x" * 300)
    monkeypatch.chdir(tmp_path)
    assert main(["stack"]) == 0
    assert "is taken for the repository" in " ".join(capsys.readouterr().out.split())


def test_without_git_the_working_folder_is_the_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = shown("src/app.go")
    (repository / ".git").rmdir()
    # A client loads files from above a nested project, too.
    (repository / "src" / "pyproject.toml").touch()
    told = f"No .git: {repository} is taken for the repository.\n"
    assert shown("src/app.go") == known + told
    (repository / "other").mkdir()
    monkeypatch.chdir("other")
    assert f"No .git: {repository / 'src'} is taken" in shown("../src/app.go")


def test_clients_without_files_are_one_line(repository: Path) -> None:
    for file in repository.rglob("AGENTS.md"):
        file.unlink()
    (repository / "src/GEMINI.md").write_text("Be brief.\n")
    told = shown()
    assert "GEMINI.md" not in told
    assert "Nothing here for Codex, Claude Code, GitHub Copilot, Cursor, Gemini CLI" in told


@pytest.mark.parametrize(
    "words", [["gemini,codex"], ["gemini,", "codex,gemini"], ["gemini", "--client", "codex"]]
)
def test_clients_are_parted_by_blanks_commas_or_options(words: list[str], repository: Path) -> None:
    assert repository
    assert shown("--client", *words) == shown("--client", "gemini", "codex")


def test_the_clients_of_the_settings_are_shown(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "foldline.toml").write_text('clients = ["gemini", "codex"]\n')
    told = "The clients are those of the settings; --client names others.\n"
    assert told in shown()
    shown_clients = [one["client"] for one in json.loads(shown("--json"))["stacks"]]
    assert shown_clients == ["gemini", "codex"]
    assert told not in shown("--client", "codex")
    (repository / "foldline.toml").write_text('clients = ["vscode"]\n')
    assert main(["stack"]) == 2
    assert (
        "clients[0]: there is no client 'vscode'; did you mean 'copilot'?"
        in capsys.readouterr().err
    )


def test_a_client_may_start_in_another_folder(repository: Path) -> None:
    assert repository
    told = shown("src/app.go", "--client", "codex", "--start", "src")
    assert "src/AGENTS.md  in each session" in told


def test_a_client_starts_where_the_reader_stands_and_an_editor_on_the_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "src")
    told = shown("--client", "codex", "cursor")
    codex, cursor = told.split("Cursor")
    assert "src/AGENTS.md  in each session" in codex
    assert "src/AGENTS.md" not in cursor
    monkeypatch.chdir(repository.parent)
    assert "src/AGENTS.md  in" not in shown(f"{repository}/src/app.go", "--client", "codex")


def test_rules_for_other_files_are_one_line(repository: Path) -> None:
    rules = repository / ".claude" / "rules"
    rules.mkdir(parents=True)
    for name in ("a", "b", "c"):
        (rules / f"{name}.md").write_text(f"---\npaths: '*.{name}'\n---\nText.\n")
    told = shown("x.c", "--client", "claude-code")
    assert "        -  2 rules for other files (--all)\n" in told
    assert ".claude/rules/a.md" not in told
    every = shown("x.c", "--client", "claude-code", "--all")
    assert "        -  .claude/rules/a.md  it's for files that match *.a\n" in every
    assert "--all" not in every


def test_a_limit_that_settings_have_cuts(repository: Path) -> None:
    (repository / ".codex").mkdir()
    (repository / ".codex" / "config.toml").write_text("project_doc_max_bytes = 9")
    told = shown("--client", "codex")
    assert "cut in 'Rules' by the client's limit" in told


def test_sections_have_costs(repository: Path) -> None:
    assert repository
    told = shown("--sections")
    assert "        6      1.1 Tests\n" in told
    assert "Nothing here for" not in told
    assert "for this file" not in told


def test_json_has_sources_and_dates(repository: Path) -> None:
    document = json.loads(shown("src/app.go", "--json", "--client", "opencode2"))
    (stack,) = document["stacks"]
    assert document["file"] == "src/app.go"
    assert (stack["base"], stack["added"]) == (12, 6)
    assert [one["path"] for one in stack["files"]] == ["AGENTS.md", "src/AGENTS.md"]
    assert stack["files"][0]["source"] == "https://opencode.ai/docs/instructions"
    assert stack["files"][0]["read"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--client", "codx"], "there is no client 'codx'; did you mean 'codex'?"),
        (["--client", "codex", "src/app.go"], "'src/app.go'; there are codex, claude-code"),
        (["src/app.go", "--start", "/"], "--start /: not a folder in"),
        (["--start", "src/app.go"], "--start src/app.go: not a folder in"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: list[str],
    message: str,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert repository
    assert main(["stack", *arguments]) != 0
    assert message in capsys.readouterr().err
