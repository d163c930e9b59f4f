"""An action on prompts is written once, and every shell has it: arguments, help and errors."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from lsprotocol.types import ClientCapabilities
from pygls.exceptions import JsonRpcException

from foldline.agent import preview
from foldline.agent.folders import open_folders
from foldline.agent.mcp.prompt_tools import PromptTools
from foldline.backends.base.reading import Between
from foldline.backends.base.waiting import Threads
from foldline.ide import Change, PreviewPrompt, PromptRef, Settings, View, Workspace, perform
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.operation import Doc, Role, parameters_of
from foldline.ide.prompts.action import PREVIEW
from foldline.ide.prompts.actions import ACTIONS, CloseSections, OpenSections
from foldline.ide.prompts.controls import Controls
from foldline.server.app import COMMANDS, create_server
from foldline.server.commands.prompt_command import PromptCommand
from foldline.server.page.app import OWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.prompts.action import Action
    from foldline.ide.render.render import Render
    from foldline.server.server import FoldlineServer

ROOT = Path(__file__).parents[2]

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

rules = MarkdownSection[None](
    title="Rules", key="rules", template="Be polite.", summary="How to be.",
    visibility=SectionVisibility.SUMMARY)
prompt = PromptTemplate(ns="demo", key="triage", sections=[rules])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinSection(
    Change, takes=PREVIEW, event=True, description="Pins a section of a prompt.", option=True
):
    """Pins a section of a preview."""

    section_key: Annotated[str, Doc("pin this section"), Role.KEY]
    times: Annotated[int, Doc("how many pins", "how many"), Between(1, 3)] = 1

    def changed(self, view: View, shown: Render) -> View:
        overrides = {**view.overrides, self.section_key: "FULL"}
        return view.step("pin" * self.times, (self.section_key,), overrides=overrides)


WITH_PIN = (*ACTIONS, PinSection)
BOUND = "times: must be from 1 to 3, not 9"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "work"
    folder.mkdir()
    file = folder / "triage.py"
    file.write_text(PROMPT, encoding="utf-8")
    return file


@pytest.fixture
def workspace(file: Path) -> Iterator[Workspace]:
    workspace = Workspace.at(file.parent, settings=Settings(trusted=True))
    yield workspace
    workspace.close_files()


async def started(workspace: Workspace, file: Path) -> str:
    workspace.open_document(file.as_uri(), PROMPT, 1)
    return (await perform(workspace, PromptRef(uri=file.as_uri()), PreviewPrompt())).sessionId


async def stop(workspace: Workspace) -> None:
    workspace.previews.close_all()
    await workspace.stop(5.0)


def test_a_new_action_is_a_call_in_python(workspace: Workspace, file: Path) -> None:
    async def run() -> None:
        rendered = await perform(workspace, PromptRef(file=file), PinSection(section_key="rules"))
        assert "Be polite." in rendered.text
        state = await perform(
            workspace, await started(workspace, file), PinSection(section_key="rules", times=2)
        )
        assert (state.blocks[0].text, state.steps) == ("## 1. Rules\n\nBe polite.", 2)
        preview = workspace.previews.find(state.sessionId)
        assert [step.action for step in preview.undo_steps()] == ["start", "pinpin"]
        await stop(workspace)

    asyncio.run(run())


def server_of(file: Path) -> FoldlineServer:
    """A server that has no client to tell anything."""
    server = create_server(actions=[PinSection])
    server.protocol.notify = lambda *_: None  # type: ignore[method-assign]
    server.protocol.client_capabilities = ClientCapabilities()
    server.core.set_settings(Settings(trusted=True))
    server.core.set_roots([file.parent])
    server.core.locate = lambda *_: None
    server.core._subscribers.clear()
    return server


def test_a_new_action_is_a_server_command(file: Path) -> None:
    about = "`foldline.server.prompt.pinSection`: pins a section of a preview."
    assert PromptCommand(PinSection).__doc__ == about
    server = server_of(file)
    execute = server.protocol.fm.commands["foldline.server.prompt.pinSection"]

    async def run() -> None:
        await started(server.core, file)
        state = await execute({"section_key": "rules", "times": 3})
        assert "Be polite." in state["blocks"][0]["text"]
        for wrong, problem in (
            ({"section_key": "rules", "times": 9}, BOUND),
            ({"section_key": "rules", "time": 1}, "time: unknown argument; did you mean 'times'"),
            ({"times": 1}, "section_key: is required"),
        ):
            with pytest.raises(JsonRpcException, match=problem) as caught:
                await execute(wrong)
            assert isinstance(caught.value.data, dict)
            assert caught.value.data["kind"] == "arguments"
        await server.stop()

    asyncio.run(run())


def test_a_request_to_open_a_section_waits_for_four_threads_at_most(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = server_of(file)
    execute = server.protocol.fm.commands["foldline.server.prompt.openSections"]
    submit = Threads.submit
    submitted: list[object] = []

    def count(self: Threads, work: Any, /, *given: Any, **named: Any) -> Any:
        submitted.append(work)
        return submit(self, work, *given, **named)

    async def run() -> None:
        server.core.open_document(file.as_uri(), PROMPT, 1)
        monkeypatch.setattr(Threads, "submit", count)
        answer = await execute({})
        assert answer["section_keys"] == ["rules"]
        assert len(submitted) <= 4
        await server.stop()

    asyncio.run(run())


def test_a_new_action_is_an_mcp_tool(workspace: Workspace, file: Path) -> None:
    tools = PromptTools(workspace, WITH_PIN)
    listed = next(tool for tool in tools.listed if tool.name == "pin_section")
    assert listed.description == "Pins a section of a prompt."
    assert listed.input_schema["properties"]["times"] == {
        "type": "integer",
        "description": "how many",
    }
    assert listed.input_schema["required"] == ["prompt", "section_key"]

    async def run() -> None:
        folders = open_folders(workspace, [file.parent])

        async def call(**arguments: object) -> Any:
            values = {"prompt": "demo/triage", "section_key": "rules", **arguments}
            return await tools.call("pin_section", folders, values)

        assert "Be polite." in (await call(times="2")).content[0].text
        for wrong, problem in (({"times": 9}, BOUND), ({"time": 1}, "did you mean 'times'?")):
            refused = await call(**wrong)
            assert refused.is_error
            assert problem in refused.content[0].text
        await stop(workspace)

    asyncio.run(run())


def test_a_new_action_is_an_event_of_the_page(workspace: Workspace, file: Path) -> None:
    async def run() -> None:
        session = await started(workspace, file)
        controls = Controls(workspace, session, "Opened in the browser", WITH_PIN)
        event = {"action": "pinSection", "key": "rules", "times": 2}
        assert controls.read(event) == PinSection(section_key="rules", times=2)
        assert await controls.perform(controls.read(event)) is None
        assert "Be polite." in workspace.previews.find(session).state().blocks[0].text
        for wrong, problem in (
            ({**event, "times": 9}, BOUND),
            ({**event, "time": 1}, "time: unknown argument; did you mean 'times'"),
            ({"action": "pim"}, "expected one of .*pinSection"),
        ):
            with pytest.raises(ArgumentsError, match=problem):
                controls.read(wrong)
        await stop(workspace)

    asyncio.run(run())


def test_an_event_opens_chapters_without_a_section(workspace: Workspace) -> None:
    controls = Controls(workspace, "", "Opened in the browser")
    opening = OpenSections(chapters=("a",), reason="Opened in the browser")
    assert controls.read({"action": "openSections", "chapters": ["a"]}) == opening
    closing = CloseSections(chapters=("a",))
    assert controls.read({"action": "closeSections", "chapters": ["a"]}) == closing


def test_a_browser_can_send_a_new_action(file: Path) -> None:
    server = server_of(file)

    async def run() -> None:
        session = await started(server.core, file)
        url = server.pages.serve(session)
        browser = build_opener(HTTPCookieProcessor())

        async def send(**event: object) -> int:
            headers = {"Origin": urljoin(url, "/")[:-1], "Content-Type": "application/json"}
            request = Request(urljoin(url, "actions"), json.dumps(event).encode(), headers)
            with await asyncio.to_thread(browser.open, request) as answer:
                return int(answer.status)

        (await asyncio.to_thread(browser.open, url)).close()
        assert await send(action="pinSection", key="rules", times=2) == 204
        assert "Be polite." in server.previews.find(session).state().blocks[0].text
        with pytest.raises(HTTPError) as refused:
            await send(action="pinSection", key="rules", times=9)
        with refused.value as answer:
            assert answer.read().decode().strip() == BOUND
        await server.pages.stop()
        await server.stop()

    asyncio.run(run())


def test_a_new_action_is_an_option_of_the_command_line(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    preview.register(parser.add_subparsers(), WITH_PIN)
    with pytest.raises(SystemExit):
        parser.parse_args(["preview", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--pin-section KEY pin this section" in shown
    assert "--pin-section-times VALUE how many pins" in shown
    options = parser.parse_args(["preview", str(file), "--text", "--pin-section", "rules"])
    assert options.run(options) == 0
    assert "Be polite." in capsys.readouterr().out
    times = ["--pin-section", "rules", "--pin-section-times", "9"]
    options = parser.parse_args(["preview", str(file), *times])
    with pytest.raises(ArgumentsError, match=BOUND):
        options.run(options)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)
def test_every_argument_is_documented(action: type[Action[Any]]) -> None:
    assert action.__doc__
    offered = action.names.takes or action.names.event or action.names.description
    assert all(one.doc.documentation or not offered for one in parameters_of(action))


SHORTER = {"PreviewPrompt": "Preview", "RenderPrompt": "Render"}
"""Names that leave out what the command's `prompt.` says."""
NO_ACTIONS = {"adopt": "makes prompts", "list": "is of all prompts", "serve": "is of a page"}
"""Commands on prompts that are no actions on one."""
OPTIONS = {"compare_sets", "diff", "open_sections", "text"}
"""Options of `foldline preview` that are actions; the others say with which values, and how."""


def spellings(action: type[Action[Any]]) -> tuple[str, str]:
    """Return the name of an action's class as on the wire, and as for models."""
    name = SHORTER.get(action.__name__, action.__name__)
    return name[0].lower() + name[1:], re.sub("(?<!^)([A-Z])", r"_\1", name).lower()


def test_an_action_has_the_name_of_its_class_in_every_shell(workspace: Workspace) -> None:
    actions = (*ACTIONS, *OWN)
    camel, snake = map(set, zip(*map(spellings, actions), strict=True))
    assert command_names("foldline.server.prompt.") - NO_ACTIONS.keys() < camel
    assert Controls(workspace, "", "", actions)._actions.keys() < camel
    assert PromptTools(workspace)._actions.keys() < snake
    parser = argparse.ArgumentParser()
    preview.register(parser.add_subparsers())
    assert vars(parser.parse_args(["preview", "FILE"])).keys() & snake >= OPTIONS
    worker = (ROOT / "server/foldline/ide/render/worker/_foldline_actions.py").read_text("utf-8")
    answered = re.findall(r'^    "(\w+)": _\w+,$', worker, re.MULTILINE)
    assert "read_section" in answered
    assert set(answered) < snake


@pytest.mark.parametrize("client", ["emacs", "neovim/lua", "vscode/src"])
def test_a_client_knows_an_action_by_the_same_name(client: str) -> None:
    sources = [file.read_text("utf-8") for file in (ROOT / "editors" / client).rglob("*.*")]
    named = re.findall(r"""['"](?:foldline\.server\.)?prompt\.(\w+)""", "".join(sources))
    named += re.findall(r"""(?:this|\?)\.(?:ask|change)(?:<\w+>)?\('(\w+)'""", "".join(sources))
    assert {"openSections", "preview"} <= {*named}
    assert set(named) <= command_names("foldline.server.prompt.") | NO_ACTIONS.keys()


def command_names(prefix: str) -> set[str]:
    names = [str(command.COMMAND) for command in COMMANDS]
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
