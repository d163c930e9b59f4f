"""Plugins that fail are named and left out, in each shell, and answers go on without them."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import mcp_types
import pytest
from lsprotocol import types
from mcp import Client, StdioServerParameters

from foldline.agent import check
from foldline.agent.cli import main
from foldline.ide import plugins as seam
from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.checks import Diagnostic, Severity
from foldline.ide.entry_points import Entry
from foldline.ide.errors import IdeError
from foldline.ide.features.hover import Hover
from foldline.ide.plugins import Link, Plugin, Plugins, Target
from foldline.ide.snapshot import Snapshot
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.server.app import _execute_part

from ..server.conftest import Connect
from .packages import Environment, install

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

SECONDS = 60

HEAD = "from foldline.ide.plugins import Plugin\n"
CHECK = """
class Team(Plugin):
    codes = {{"{name}-code": "A code."}}

    def check(self, document):
        {body}

    hover = links = actions = completions = lambda self, *_: self.check(None)
"""
FAULTS = {
    "unparsable": "class Team(Plugin:\n",
    "unimportable": "import there_is_no_such_module\n",
    "exiting": "import sys\nsys.exit(3)\n",
    "hanging": "import time\ntime.sleep(3600)\n",
    "odd": "class Team:\n    pass\n",
    "wordless": "class Team(Plugin):\n    verbs = 5\n",
    "taken": 'class Team(Plugin):\n    verbs = {"check": "taken"}\n',
    "operating": 'class Team(Plugin):\n    verbs = {"refs": "operating"}\n',
    "adopting": 'class Team(Plugin):\n    verbs = {"adopt": "adopting"}\n',
    "knowing": 'class Team(Plugin):\n    codes = {"syntax-error": "Ours."}\n',
    "raising": CHECK.format(name="raising", body="raise ValueError('a\\x1b[31m fault')"),
    "leaving": CHECK.format(name="leaving", body="raise SystemExit"),
    "sleeping": CHECK.format(name="sleeping", body="import time; time.sleep(3600)"),
    "counting": CHECK.format(
        name="counting", body="import itertools; yield from itertools.count()"
    ),
    "answering": CHECK.format(name="answering", body="print('an answer'); return 5"),
}
"""A module for each plugin of that name."""
PROMPT = """\
from foldline.prompts import MarkdownSection, PromptTemplate

T = PromptTemplate(
    ns="a",
    key="b",
    sections=[MarkdownSection[None](title="Rules", key="rules", template="Use ${tools}.")],
)
"""
CODE = "unknown-placeholder"


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with every faulty plugin, none of which is waited for long."""
    patch = "import foldline.ide.plugins as one; one.SECONDS = 2"
    environment = Environment.made(tmp_path_factory.mktemp("faulty") / "venv", patch=patch)
    for name, text in FAULTS.items():
        install(environment.site, name, f"{name} = {name}:Team", {f"{name}.py": HEAD + text})
    install(environment.site, "namesake", "adopt = odd:Team", {})
    install(environment.site, "malformed", "malformed = odd", {})
    return environment


NAMES = {*FAULTS, "namesake", "malformed"}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "review.py").write_text(PROMPT)
    return folder


def named(lines: list[str]) -> list[str]:
    """The distributions that lines say are left out."""
    said = " is left out: "
    return sorted(
        line.split(said)[0].split(" of ")[-1].split()[0] for line in lines if said in line
    )


@pytest.mark.real
def test_the_command_line_goes_on_without_faulty_plugins(
    faulty: Environment, workspace: Path
) -> None:
    answer = faulty.run("check", "--json", cwd=workspace)
    assert answer.returncode == 1
    (finding,) = json.loads(answer.stdout)["findings"]
    assert finding["code"] == CODE
    lines = answer.stderr.splitlines()
    assert named(lines) == sorted(NAMES)
    assert "\x1b" not in answer.stderr
    assert "Traceback" not in answer.stderr
    # What it prints is no part of the answer.
    assert "an answer" in lines


@pytest.mark.real
def test_doctor_lists_faulty_plugins_once(faulty: Environment, workspace: Path) -> None:
    answer = faulty.run("doctor", "--json", cwd=workspace)
    report = json.loads(answer.stdout)
    at_load = NAMES - {"raising", "leaving", "sleeping", "counting", "answering"}
    left_out = {one["distribution"] for one in report["plugins"] if not one["used"]}
    assert left_out == at_load
    assert named(report["problems"]) == sorted(at_load)
    assert named(answer.stderr.splitlines()) == []


@pytest.mark.real
@pytest.mark.asyncio(loop_scope="module")
async def test_an_editor_goes_on_without_faulty_plugins(
    connect: Connect, faulty: Environment, workspace: Path
) -> None:
    editor = await connect(workspace, serve=(*faulty.script, "serve", "--stdio"))
    document = types.TextDocumentIdentifier(editor.open("review.py"))
    params = types.DocumentDiagnosticParams(document)
    for _ in range(2):
        report = await editor.client.text_document_diagnostic_async(params)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert [item.code for item in report.items] == [CODE]
    place = types.Position(0, 0)
    asked = types.HoverParams(document, place)
    assert await editor.client.text_document_hover_async(asked) is None
    async with asyncio.timeout(SECONDS):
        while len(messages := [one.message for one in editor.client.messages]) < len(NAMES):
            await editor.client.wait_for_notification("window/showMessage")
    assert named(messages) == sorted(NAMES)


@pytest.mark.real
async def test_an_agent_goes_on_without_faulty_plugins(
    faulty: Environment, workspace: Path, tmp_path: Path
) -> None:
    program, *rest = faulty.script
    parameters = StdioServerParameters(command=program, args=[*rest, "mcp"], cwd=workspace)
    log = tmp_path / "log"
    with log.open("w") as stream:
        from mcp.client.stdio import stdio_client

        async with Client(
            stdio_client(parameters, errlog=stream), mode="legacy", read_timeout_seconds=SECONDS
        ) as client:
            answer = await client.call_tool("get_file_outline", {"path": "review.py"})
    (block,) = answer.content
    assert isinstance(block, mcp_types.TextContent)
    assert "PromptTemplate" in block.text
    at_load = NAMES - {"raising", "leaving", "sleeping", "counting", "answering"}
    assert named(log.read_text().splitlines()) == sorted(at_load)


@pytest.mark.real
def test_a_verb_that_is_no_verb_is_named(tmp_path: Path) -> None:
    environment = Environment.made(tmp_path / "venv")
    text = (
        HEAD
        + 'class Team(Plugin):\n    verbs = {"greet": "team"}\n\ndef register(verbs):\n    1 / 0\n'
    )
    install(environment.site, "team", "team = team:Team", {"team.py": text})
    answer = environment.run("greet", cwd=tmp_path)
    assert answer.returncode == 2
    assert "left out: ZeroDivisionError: division by zero" in answer.stderr
    assert "there is no command 'greet'" in answer.stderr


# In this process


Put = Callable[..., Plugins]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Put:
    """Puts plugins in place of those that are installed."""

    def put(*kinds: type[Plugin], seconds: float = SECONDS) -> Plugins:
        module = ModuleType("team_of_tests")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(seam, "SECONDS", seconds)
        for kind in kinds:
            setattr(module, kind.__name__, kind)
        loaded = Plugins(
            [Entry(kind.__name__, f"team_of_tests:{kind.__name__}", "team", "1") for kind in kinds]
        )
        monkeypatch.setattr(seam, "_plugins", cache(lambda: loaded))
        return loaded

    return put


def ask(workspace: Path, query: Callable[[Snapshot], Any]) -> Any:
    opened = Workspace.at(workspace)
    try:
        return opened.with_snapshot(uri_of(workspace / "review.py"), query)
    finally:
        opened.close()


def codes(snapshot: Snapshot) -> list[str]:
    return [one.code for one in snapshot.source.diagnostics(snapshot)]


def test_a_hang_is_waited_for_once(put: Put, workspace: Path) -> None:
    asked, end = [], threading.Event()

    class Team(Plugin):
        def check(self, document: Snapshot) -> Any:
            asked.append(document)
            end.wait(SECONDS)

    loaded = put(Team, seconds=0.05)
    for _ in range(3):
        assert ask(workspace, codes) == [CODE]
    end.set()
    assert len(asked) == 1
    (problem,) = loaded.problems
    assert problem == "the plugin Team of team 1 is left out: it took more than 0.05 seconds"


def test_all_that_wait_for_a_plugin_go_on_when_it_is_left_out(put: Put, workspace: Path) -> None:
    asked, end = threading.Event(), threading.Event()

    class Team(Plugin):
        def check(self, document: Snapshot) -> Any:
            asked.set()
            end.wait(2 * SECONDS)

    loaded = put(Team, seconds=2 * SECONDS)
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(ask(workspace, codes)))
    thread.start()
    assert asked.wait(SECONDS)
    loaded.leave_out(loaded.entries[0], "another thread saw it")
    thread.join(SECONDS)
    end.set()
    assert answers == [[CODE]]


def test_a_plugin_reads_what_the_query_around_it_has_locked(put: Put, workspace: Path) -> None:
    (workspace / "texts.py").write_text('RULES = "Use care."\n')
    text = PROMPT.replace('"Use ${tools}."', "RULES").replace(
        "\n\nT", "\nfrom texts import RULES\n\nT"
    )
    (workspace / "review.py").write_text(text)
    seen: list[Any] = []

    class Team(Plugin):
        def check(self, document: Snapshot) -> Any:
            (prompt,) = document.analysis.module.prompts
            other = document.project.text(str(workspace / "texts.py"))
            seen.append((prompt.key, other, document.options.tokens))
            return ()

    loaded = put(Team)
    assert ask(workspace, codes) == []
    assert loaded.problems == []
    assert seen == [("b", 'RULES = "Use care."\n', "o200k")]


def test_plugins_that_answer_at_once_keep_standard_output_as_it_is(
    put: Put, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded, begun, ends = put(Plugin), threading.Barrier(3), [threading.Event() for _ in "ab"]

    def work(number: int) -> None:
        begun.wait(SECONDS)
        ends[number].wait(SECONDS)
        print("a plugin")

    threads = [
        threading.Thread(
            target=loaded.guarded, args=(loaded.entries[0], partial(work, one), SECONDS)
        )
        for one in (0, 1)
    ]
    for thread in threads:
        thread.start()
    begun.wait(SECONDS)
    print("the house")
    for thread, end in zip(threads, ends, strict=True):
        end.set()
        thread.join(SECONDS)
    print("an answer")
    assert capsys.readouterr() == ("the house\nan answer\n", "a plugin\na plugin\n")


def test_a_plugin_that_is_left_alone_prints_nothing_into_an_answer(
    put: Put, capsys: pytest.CaptureFixture[str]
) -> None:
    left_alone, printed = threading.Event(), threading.Event()

    def work() -> None:
        left_alone.wait(SECONDS)
        print("late")
        printed.set()

    loaded = put(Plugin)
    assert loaded.guarded(loaded.entries[0], work, 0.01) is None
    left_alone.set()
    assert printed.wait(SECONDS)
    assert capsys.readouterr().out == ""


def test_a_check_that_lacks_a_plugin_says_so(
    put: Put, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Team(Plugin):
        def check(self, document: Snapshot) -> Any:
            raise ValueError

    (workspace / "review.py").write_text(PROMPT.replace("${tools}", "tools"))
    put()
    assert main(["check", str(workspace)]) == 0
    assert capsys.readouterr() == ("1 file: no diagnostics\n", "")
    put(Team)
    assert main(["check", str(workspace)]) == 2
    out, err = capsys.readouterr()
    assert out == "1 file: no diagnostics, but a plugin is left out\n"
    assert named(err.splitlines()) == ["team"]


def test_a_plugin_that_is_asked_late_has_its_own_time(
    put: Put, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    class Team(Plugin):
        def check_repository(self, document: Snapshot, seconds: float, since: float) -> Any:
            asked.append(seconds)
            return ()

    (workspace / "AGENTS.md").write_text("# Notes\n")
    monkeypatch.setattr(check, "_SECONDS", -2 * SECONDS)
    loaded = put(Team)
    main(["check", str(workspace / "AGENTS.md")])
    assert (asked, loaded.problems) == ([0], [])


@pytest.mark.parametrize("kind", ["verbs", "commands", "transports", "codes"])
def test_parts_that_are_pairs_are_a_fault(put: Put, kind: str) -> None:
    (problem,) = put(type("Team", (Plugin,), {kind: [("a", "b")]})).problems
    assert problem.endswith(f"left out: TypeError: `{kind}` isn't a mapping")


@dataclass
class Arguments:
    """A command's arguments, none."""


async def test_a_command_that_exits_is_an_error(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    async def handle(ls: object, arguments: object) -> None:
        sys.exit(3)

    module = ModuleType("command_of_tests")
    module.Arguments, module.handle = Arguments, handle  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    loaded = put(type("Team", (Plugin,), {"commands": {"team.exit": module.__name__}}))
    (part,) = loaded.parts(lambda plugin: plugin.commands)
    with pytest.raises(IdeError, match="the plugin Team of team 1 failed: SystemExit: 3"):
        await _execute_part(part, cast("FoldlineServer", None), {})


def test_a_problem_is_told_to_who_subscribes_early_or_late(put: Put, workspace: Path) -> None:
    class Team(Plugin):
        def check(self, document: Snapshot) -> Any:
            raise ValueError("first\nsecond")

    loaded = put(Team)
    early: list[str] = []
    forget = loaded.subscribe(early.append)
    ask(workspace, codes)
    late: list[str] = []
    loaded.subscribe(late.append)
    assert early == late == ["the plugin Team of team 1 is left out: ValueError: first"]
    forget()
    forget()


class Text(str):
    """A text whose methods are a plugin's code."""


HERE = "the document"


def diagnostic(file: str = HERE, start: Any = 0, end: int = 1, **fields: Any) -> Diagnostic:
    known = {"code": "team-code", "severity": Severity.ERROR, "message": "Wrong."}
    return Diagnostic(**{**known, "place": SourceSpan(file, start, end), **fields})


WRONG: dict[str, Any] = {
    "a number": 5,
    "a text for diagnostics": "no",
    "no diagnostic": [None],
    "a negative place": [diagnostic(start=-1)],
    "an end before the start": [diagnostic(start=2)],
    "an end outside of the text": [diagnostic(end=len(PROMPT) + 1)],
    "a place in another file": [diagnostic(file="/etc/passwd")],
    "a place of another kind": [diagnostic(place=Span(0, 1))],
    "half an offset": [diagnostic(start=0.5)],
    "a code that isn't told": [diagnostic(code="other-code")],
    "a code of the house": [diagnostic(code=CODE)],
    "a severity in words": [diagnostic(severity="loud")],
    "a message with code": [diagnostic(message=Text("Wrong."))],
    "half a character": [diagnostic(message="\ud800")],
    "a huge message": [diagnostic(message="a" * 1_000_001)],
    "a list of fixes": [diagnostic(fixes=[])],
    "a fix of another kind": [diagnostic(fixes=("mend it",))],
    "too many": [diagnostic()] * 10_001,
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_answer_is_a_fault(put: Put, workspace: Path, what: str) -> None:
    class Team(Plugin):
        codes = {"team-code": "A code."}  # noqa: RUF012

        def check(self, document: Snapshot) -> Any:
            return _of(WRONG[what], document.analysis.file)

    loaded = put(Team)
    assert ask(workspace, codes) == [CODE]
    assert len(loaded.problems) == 1


def _of(answer: Any, file: str) -> Any:
    """An answer about a file."""
    if not isinstance(answer, list):
        return answer
    for item in answer:
        if isinstance(item, Diagnostic) and item.place[0] == HERE:
            place = SourceSpan(file, item.place.start, item.place.end)
            object.__setattr__(item, "place", place)
    return answer


def test_a_right_answer_is_none(put: Put, workspace: Path) -> None:
    class Team(Plugin):
        codes = {"team-code": "A code."}  # noqa: RUF012

        def check(self, document: Snapshot) -> Any:
            yield diagnostic(document.analysis.file, 0, len(document.text))

    loaded = put(Team)
    assert sorted(ask(workspace, codes)) == ["team-code", CODE]
    assert loaded.problems == []


NOWHERE: Any = None


@pytest.mark.parametrize(
    "hover",
    [
        5,
        Hover("outside", Span(0, len(PROMPT) + 1)),
        Hover(Text("code"), Span(0, 1)),
        Hover("nowhere", NOWHERE),
    ],
)
def test_a_wrong_hover_is_a_fault(put: Put, workspace: Path, hover: Any) -> None:
    class Team(Plugin):
        def hover(self, document: Snapshot, offset: int) -> Any:
            return hover

    loaded = put(Team)
    assert ask(workspace, lambda one: loaded.ask(Plugin.hover, one, 0)) == []
    assert len(loaded.problems) == 1


@pytest.mark.parametrize("target", [None, 5, Target("a.py", 1, "about")])
def test_what_a_link_means_is_judged_when_it_is_looked_for(
    put: Put, workspace: Path, target: Any
) -> None:
    class Team(Plugin):
        def links(self, document: Snapshot) -> Any:
            yield Link(Span(0, 1), lambda: target)

    loaded = put(Team)
    ((link,),) = ask(workspace, lambda one: loaded.ask(Plugin.links, one))
    assert link.resolve() == (None if target == 5 else target)
    assert len(loaded.problems) == (target == 5)


@pytest.mark.parametrize("kind", ["verbs", "commands", "transports", "codes"])
def test_of_two_plugins_with_one_name_for_a_part_the_first_has_it(put: Put, kind: str) -> None:
    one = type("One", (Plugin,), {kind: {"same": "first"}})
    two = type("Two", (Plugin,), {kind: {"same": "second", "other": "second"}})
    loaded = put(one, two)
    (problem,) = loaded.problems
    assert problem.endswith(f"left out: ValueError: `same` of its {kind} is taken")
