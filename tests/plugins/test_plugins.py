"""Packages of others bring a verb, a command, a check, a hover and a client, by entry point."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from ..server.conftest import Connect, Editor
from .packages import Environment, install

pytestmark = pytest.mark.real

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
CHECK, ENTRY = (
    re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]
    for kind in ("python", "toml")
)
"""The page's check, and its entry point."""
REST = {
    "team_rest/__init__.py": """\
from pathlib import Path

from foldline.ide.analysis.model import Span
from foldline.ide.features.hover import Hover
from foldline.ide.plugins import Plugin


class Rest(Plugin):
    heading = "The team's"
    verbs = {"greet": "team_rest.verb"}
    commands = {"team.greet": "team_rest.command"}
    clients = Path(__file__).with_name("clients.toml")

    def hover(self, document, offset):
        if document.text.startswith("utilize", offset):
            return Hover("The team says *use*.", Span(offset, offset + len("utilize")))
""",
    "team_rest/clients.toml": """\
[team]
title = "Team's own"
source = "https://example.com/rules"
read = "2026-11-24"

[[team.rules]]
files = ["TEAM.md"]
""",
    "team_rest/verb.py": """\
from foldline.agent.refusals import Refused


def register(verbs):
    parser = verbs.add_parser("greet", help="greet somebody", description="Greets somebody.")
    parser.add_argument("name")
    parser.set_defaults(run=run)


def run(options):
    if options.name == "nobody":
        raise Refused("nobody can't be greeted")
    if options.name == "trouble":
        raise ZeroDivisionError("a fault of the team's")
    print(f"hello {options.name}")
    return 0
""",
    "team_rest/command.py": """\
from dataclasses import dataclass


@dataclass
class Arguments:
    name: str = "you"


async def handle(ls, arguments):
    if arguments.name == "trouble":
        raise ZeroDivisionError("a fault of the team's")
    return {"greeting": f"hello {arguments.name}", "roots": len(ls.core.roots)}
""",
}
PROMPT = """\
from foldline.prompts import MarkdownSection, PromptTemplate

T = PromptTemplate(
    ns="a",
    key="b",
    sections=[
        MarkdownSection[None](
            title="Rules",
            key="rules",
            template="Always utilize tools.",
        )
    ],
)
"""
NOTES = "# Notes\n\nThen commence.\n"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the check of the page, and a package with the rest."""
    environment = Environment.made(tmp_path_factory.mktemp("team") / "venv")
    entry = ENTRY.split("\n")[1].replace('"', "")
    install(environment.site, "team_checks", entry, {"team_checks.py": CHECK})
    install(environment.site, "team_rest", "rest = team_rest:Rest", REST)
    return environment


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with a prompt, a file that instructs agents, and the project's options."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "review.py").write_text(PROMPT)
    (folder / "AGENTS.md").write_text(NOTES)
    (folder / "pyproject.toml").write_text("[tool.foldline]\n")
    return folder


def findings(team: Environment, workspace: Path, *words: str) -> list[dict[str, Any]]:
    answer = team.run("check", "--json", *words, cwd=workspace)
    assert answer.stderr == ""
    found: list[dict[str, Any]] = json.loads(answer.stdout)["findings"]
    return found


def test_the_check_of_the_page_has_twenty_lines() -> None:
    assert len(CHECK.splitlines()) <= 20


def test_a_verb_of_a_package_is_one_of_the_command_line(team: Environment, tmp_path: Path) -> None:
    assert team.run("greet", "you", cwd=tmp_path).stdout == "hello you\n"
    assert "The team's:\n  greet" in team.run("--help", cwd=tmp_path).stdout
    refused = team.run("greet", "nobody", cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (2, "foldline greet: nobody can't be greeted\n")
    failed = team.run("greet", "trouble", cwd=tmp_path)
    assert "the plugin rest of team_rest 1.0 failed: ZeroDivisionError: a fault" in failed.stderr


def test_a_client_of_a_package_is_one_of_the_stack(team: Environment, workspace: Path) -> None:
    (workspace / "TEAM.md").write_text(NOTES)
    answer = team.run("stack", "--client", "team", "--json", cwd=workspace)
    assert answer.stderr == ""
    (client,) = json.loads(answer.stdout)["stacks"]
    assert [one["path"] for one in client["files"]] == ["TEAM.md"]


def test_a_check_of_a_package_is_one_of_the_command_line(
    team: Environment, workspace: Path
) -> None:
    notes, prompt = findings(team, workspace)[::-1]
    start = NOTES.splitlines()[2].index("commence") + 1
    assert notes == {
        "file": "AGENTS.md",
        "range": {
            "start": {"line": 3, "column": start},
            "end": {"line": 3, "column": start + len("commence")},
        },
        "code": "team-word",
        "severity": "warning",
        "message": "Write `begin`.",
        "fixes": ["Write `begin`"],
    }
    assert (prompt["file"], prompt["code"]) == ("review.py", "team-word")
    text = team.run("check", cwd=workspace)
    assert text.returncode == 1
    assert "review.py:10:30: warning: Write `use`. [team-word]" in text.stdout
    github = team.run("check", "--format", "github", cwd=workspace).stdout
    assert "title=foldline team-word::Write `use`." in github
    (run,) = json.loads(team.run("check", "--format", "sarif", cwd=workspace).stdout)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert {rules[one["ruleIndex"]]["id"] for one in run["results"]} == {"team-word"}
    assert rules[-1]["shortDescription"]["text"] == "A longer word than it takes."


def test_a_project_sets_the_severity_of_a_packages_code(team: Environment, workspace: Path) -> None:
    options = workspace / "pyproject.toml"
    options.write_text('[tool.foldline.severity]\nteam-word = "hint"\n')
    assert {one["severity"] for one in findings(team, workspace)} == {"hint"}
    options.write_text('[tool.foldline.severity]\nteam-word = "off"\n')
    assert findings(team, workspace) == []


def test_a_comment_silences_a_packages_code(team: Environment, workspace: Path) -> None:
    (workspace / "AGENTS.md").unlink()
    line = 'template="Always utilize tools.",'
    comment = f"{line}  # foldline: ignore[team-word]"
    (workspace / "review.py").write_text(PROMPT.replace(line, comment))
    assert findings(team, workspace) == []
    # What it silences may be reported elsewhere, and a misspelt code is told.
    (workspace / "review.py").write_text(PROMPT.replace(line, comment).replace("utilize", "use"))
    assert findings(team, workspace) == []
    (workspace / "review.py").write_text(PROMPT.replace(line, comment.replace("team", "teem")))
    _, misspelt = findings(team, workspace)
    assert "There is no diagnostic `teem-word`. Did you mean `team-word`?" in misspelt["message"]


def test_a_packages_code_is_explained_by_its_package(team: Environment, tmp_path: Path) -> None:
    answer = team.run("check", "--explain", "team-word", cwd=tmp_path)
    assert answer.stdout == (
        "team-word: A longer word than it takes.\n\n"
        "the plugin team of team_checks 1.0 reports it.\n"
    )
    assert answer.returncode == 0


def test_doctor_lists_packages(team: Environment, tmp_path: Path) -> None:
    report = team.run("doctor", cwd=tmp_path).stdout
    assert "rest of team_rest 1.0; team of team_checks 1.0" in report


async def serve(connect: Connect, team: Environment, root: Path, **options: Any) -> Editor:
    serve = (*team.script, "serve", "--stdio")
    return await connect(root, serve=serve, **options)


@pytest.mark.asyncio(loop_scope="module")
async def test_an_editor_has_what_packages_bring(
    connect: Connect, team: Environment, workspace: Path
) -> None:
    editor = await serve(connect, team, workspace)
    for path, line, fixed in (
        ("review.py", 9, "use"),
        ("AGENTS.md", 2, "begin"),
    ):
        uri = editor.open(path)
        document = types.TextDocumentIdentifier(uri)
        report = await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(document)
        )
        (item,) = [one for one in report.items if one.code == "team-word"]  # type: ignore[union-attr]
        assert item.range.start.line == line
        assert item.code_description is None
        place = item.range.start
        context = types.CodeActionContext([], only=[types.CodeActionKind.QuickFix])
        actions = await editor.client.text_document_code_action_async(
            types.CodeActionParams(document, types.Range(place, place), context)
        )
        (fix,) = [one for one in actions or () if one.title == f"Write `{fixed}`"]
        assert isinstance(fix, types.CodeAction)
        assert fix.edit is not None
        assert fix.edit.changes == {uri: (types.TextEdit(item.range, fixed),)}
    uri, place = editor.uri("review.py"), types.Position(9, 29)
    hover = await editor.client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), place)
    )
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.value == "The team says *use*."


@pytest.mark.asyncio(loop_scope="module")
async def test_a_command_of_a_package_is_one_of_the_server(
    connect: Connect, team: Environment, workspace: Path
) -> None:
    editor = await serve(connect, team, workspace)
    provider = editor.initialized.capabilities.execute_command_provider
    assert provider is not None
    assert "team.greet" in provider.commands

    async def greet(name: str) -> Any:
        params = types.ExecuteCommandParams("team.greet", [{"name": name}])
        return await editor.client.workspace_execute_command_async(params)

    assert await greet("Ada") == {"greeting": "hello Ada", "roots": 1}
    with pytest.raises(Exception, match=r"rest of team_rest 1\.0 failed: ZeroDivisionError"):
        await greet("trouble")
    assert await greet("Bob") == {"greeting": "hello Bob", "roots": 1}


@pytest.mark.asyncio(loop_scope="module")
async def test_a_client_that_pulls_nothing_is_told_of_packages_findings(
    connect: Connect, team: Environment, workspace: Path
) -> None:
    def pushed(_: Editor, capabilities: types.ClientCapabilities) -> None:
        assert capabilities.text_document is not None
        capabilities.text_document.diagnostic = None

    editor = await serve(connect, team, workspace, prepare=pushed)
    codes = {item.code for item in await editor.diagnostics(editor.open("review.py"))}
    assert codes == {"team-word"}
