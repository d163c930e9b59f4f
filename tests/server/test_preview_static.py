"""What a preview shows of a prompt that may not be executed, or cannot be yet: its source."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from foldline.ide.errors import RenderError
from foldline.ide.render import execution, jobs
from foldline.ide.render.interpreter import Interpreter
from foldline.ide.render.render import AnswerT
from foldline.ide.render.renderer import Job, Renderer
from foldline.server.app import create_server
from foldline.server.documents import Documents
from foldline.server.features import did_change_trust
from foldline.server.server import FoldlineServer

from .conftest import Connect, Editor

PROMPT = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

@dataclass(frozen=True)
class Who:
    name: str = "Ada"

inner = MarkdownSection[None](
    title="Inner", key="inner", template="Inside.", summary="In.",
    visibility=SectionVisibility.SUMMARY)
folded = MarkdownSection[None](
    title="Folded", key="folded", template="Whole.", summary="Part.", children=[inner],
    visibility=SectionVisibility.SUMMARY)
hello = MarkdownSection[Who](title="Hello", key="hello", template="Hello ${name}.")
both = PromptTemplate(ns="demo", key="both", sections=[hello, folded])
"""


def trust(editor: Editor, *, trusted: bool) -> None:
    editor.client.protocol.notify("foldline/didChangeTrust", {"trusted": trusted})


def texts(state: dict[str, Any]) -> list[str]:
    return [block["text"] for block in state["blocks"]]


async def test_without_trust_the_source_is_shown_and_nothing_executed(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(tmp_path)
    proof = tmp_path / "executed"
    uri = editor.open("both.py", f"open({str(proof)!r}, 'w').close()\n{PROMPT}")
    preview = await editor.command("prompt.preview", uri=uri)
    assert (preview["fidelity"], preview["name"]) == ("static", "both")
    assert preview["stale"]["kind"] == "untrusted"
    assert 'initializationOptions {"trusted": true}' in preview["stale"]["message"]
    assert texts(preview)[0] == "## 1. Hello\n\nHello Ada.\n\n"
    assert preview["blocks"][1]["tokens"]["if_opened"] > 0
    assert preview["tokens"]["total"] == sum(b["tokens"]["self"] for b in preview["blocks"])
    session = preview["sessionId"]
    opened = await editor.command(
        "prompt.openSections", sessionId=session, section_keys=["folded.inner"]
    )
    assert opened["order"] == ["hello", "folded", "folded/inner"]
    assert "Inside." in texts(opened)[2]
    assert [block["opened"] for block in opened["blocks"]] == [False, True, True]
    _, data = await editor.refusal("prompt.openSections", sessionId=session, section_keys=["no"])
    assert data["kind"] == "prompt"
    _, data = await editor.refusal("prompt.setParams", params={"Who": {"name": "Bob"}})
    assert data["kind"] == "untrusted"
    closed = await editor.command("prompt.closeSections", sessionId=session)
    assert closed["order"] == ["hello", "folded"]
    editor.change(uri, PROMPT.replace("Hello $", "Hi $"))
    update = await editor.update(3)
    assert update["blocks"][0]["text"] == "## 1. Hello\n\nHi Ada.\n\n"
    assert not proof.exists()


async def test_trust_turns_the_source_into_what_is_executed_and_back(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(tmp_path)
    computed = PROMPT.replace('"Hello ${name}."', '"Hello ${name}. " + str(6 * 7)')
    uri = editor.open("both.py", computed)
    preview = await editor.command("prompt.preview", uri=uri)
    assert "42" not in texts(preview)[0]
    trust(editor, trusted=True)
    update = await editor.update(1)
    assert (update["fidelity"], update["stale"]) == ("executed", None)
    assert "42" in texts(update)[0]
    trust(editor, trusted=False)
    update = await editor.update(2)
    assert (update["fidelity"], update["stale"]["kind"]) == ("static", "untrusted")
    assert "42" not in texts(update)[0]


async def test_what_runs_when_trust_is_taken_back_is_ended(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(tmp_path, trusted=True, render_deadline=600)
    pids = tmp_path / "pids"
    running = (
        f"import os, time\nwith open({str(pids)!r}, 'a') as f: f.write(f'{{os.getpid()}} ')\n"
        "time.sleep(600)\n"
    )
    uri = editor.open("both.py", PROMPT + running)
    rendering = asyncio.create_task(editor.refusal("prompt.render", uri=uri))
    async with asyncio.timeout(30):
        while not pids.exists() or not pids.read_text():
            await asyncio.sleep(0.01)
    trust(editor, trusted=False)
    _, data = await rendering
    assert data["kind"] == "untrusted"
    (pid,) = pids.read_text().split()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    "broken",
    ["raise ValueError('not yet')", "import missing_package", "def unfinished(:\n"],
)
async def test_a_prompt_that_never_rendered_is_shown_by_its_source(
    connect: Connect, tmp_path: Path, broken: str
) -> None:
    editor = await connect(tmp_path, trusted=True)
    uri = editor.open("both.py", f"{PROMPT}\n{broken}\n")
    preview = await editor.command("prompt.preview", uri=uri)
    assert (preview["fidelity"], preview["stale"]["kind"]) == ("static", "exception")
    assert preview["stale"]["line"] == PROMPT.count("\n") + 2
    editor.change(uri, f"{PROMPT.replace('Hello $', 'Hi $')}\n{broken}\n")
    update = await editor.update(1)
    assert texts(update) == ["## 1. Hello\n\nHi Ada.\n\n"]
    assert update["fidelity"] == "static"
    editor.change(uri, PROMPT, version=3)
    update = await editor.update(2)
    assert (update["fidelity"], update["stale"]) == ("executed", None)
    # What was executed is better than what the source shows of a younger text.
    editor.change(uri, f"{PROMPT.replace('Hello $', 'Hi $')}\n{broken}\n", version=4)
    update = await editor.update(3)
    assert (update["fidelity"], update["blocks"]) == ("executed", [])
    assert update["stale"]["kind"] == "exception"


class SlowRenderer(Renderer):
    """Executes nothing: a job waits until the test lets it go, or until the renderer is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self, interpreter: Interpreter, job: Job, answers: type[AnswerT]) -> AnswerT:
        self.asked.set()
        await asyncio.shield(self.ended)
        raise RenderError({"kind": "exit", "message": f"{interpreter.path}: {job.file.name} ended"})

    def close(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


def slow_server(root: Path) -> tuple[FoldlineServer, SlowRenderer]:
    """A server in this process, with a workspace that is trusted."""
    (root / "both.py").write_text(PROMPT, encoding="utf-8")
    server = create_server()
    server.core.set_roots([root])
    server.protocol._workspace = Documents(root.as_uri())
    server.core.set_trusted(trusted=True)
    renderer = server.core.renderer = SlowRenderer()
    return server, renderer


async def test_trust_taken_back_while_a_preview_opens_is_shown_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, renderer = slow_server(tmp_path)
    told: asyncio.Queue[Any] = asyncio.Queue()
    monkeypatch.setattr(server.protocol, "notify", lambda _, state: told.put_nowait(state))
    opening = asyncio.create_task(server.previews.open((tmp_path / "both.py").as_uri(), "both"))
    async with asyncio.timeout(30):
        await renderer.asked.wait()
        did_change_trust.handle(server, {"trusted": False})
        await opening
        while True:
            state = await told.get()
            if "stale" in state:
                break
    assert (state["fidelity"], state["stale"]["kind"]) == ("static", "untrusted")
    server.close()


async def test_trust_taken_back_before_a_job_starts_executes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, renderer = slow_server(tmp_path)
    loop = asyncio.get_running_loop()
    made = jobs.build_job

    def take_back(*arguments: Any, **options: Any) -> Any:
        done = asyncio.run_coroutine_threadsafe(untrust(), loop)
        done.result(30)
        return made(*arguments, **options)

    async def untrust() -> None:
        did_change_trust.handle(server, {"trusted": False})

    monkeypatch.setattr(execution, "build_job", take_back)
    state = await server.previews.open((tmp_path / "both.py").as_uri(), "both")
    assert state.stale is not None
    assert state.stale.kind == "untrusted"
    assert not renderer.asked.is_set()
    server.close()
