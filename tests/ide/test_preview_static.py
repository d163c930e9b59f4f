"""What a preview shows of a prompt that may not be executed, or cannot be yet: its source."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import until

from foldline.ide.errors import RenderError
from foldline.ide.render.interpreter import Interpreter
from foldline.ide.render.render import AnswerT
from foldline.ide.render.renderer import Job, Renderer
from foldline.ide.sources import python

from .viewer import View, Viewer

pytestmark = pytest.mark.real

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


def texts(state: dict[str, Any]) -> list[str]:
    return [block["text"] for block in state["blocks"]]


async def test_without_trust_the_source_is_shown_and_nothing_executed(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path)
    proof = tmp_path / "executed"
    uri = editor.open("both.py", f"open({str(proof)!r}, 'w').close()\n{PROMPT}")
    preview = await editor.command("prompt.preview", uri=uri)
    assert (preview["fidelity"], preview["name"]) == ("static", "both")
    assert preview["fits"] == ["only running the prompt decides"]
    assert preview["stale"]["kind"] == "untrusted"
    assert 'initializationOptions {"trusted": true}' in preview["stale"]["message"]
    assert texts(preview)[0] == "## 1. Hello\n\nHello Ada.\n\n"
    assert preview["blocks"][1]["tokens"]["if_opened"]["text"] > 0
    assert preview["tokens"]["text"] == sum(b["tokens"]["self"] for b in preview["blocks"])
    assert preview["tokens"]["tools"] == sum(tool["tokens"] for tool in preview["tools"])
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
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path)
    computed = PROMPT.replace('"Hello ${name}."', '"Hello ${name}. " + str(6 * 7)')
    uri = editor.open("both.py", computed)
    preview = await editor.command("prompt.preview", uri=uri)
    assert "42" not in texts(preview)[0]
    editor.trust(trusted=True)
    update = await editor.update(1)
    assert (update["fidelity"], update["stale"]) == ("executed", None)
    assert "42" in texts(update)[0]
    editor.trust(trusted=False)
    update = await editor.update(2)
    assert (update["fidelity"], update["stale"]["kind"]) == ("static", "untrusted")
    assert "42" not in texts(update)[0]


async def test_what_runs_when_trust_is_taken_back_is_ended(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=True, render_deadline=600)
    pids = tmp_path / "pids"
    running = (
        f"import os, time\nwith open({str(pids)!r}, 'a') as f: f.write(f'{{os.getpid()}} ')\n"
        "time.sleep(600)\n"
    )
    uri = editor.open("both.py", PROMPT + running)
    rendering = asyncio.create_task(editor.refusal("prompt.render", uri=uri))
    await until(lambda: pids.exists() and pids.read_text())
    editor.trust(trusted=False)
    _, data = await rendering
    assert data["kind"] == "untrusted"
    (pid,) = pids.read_text().split()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    "broken",
    ["raise ValueError('not yet')", "import missing_package", "def unfinished(:\n"],
)
async def test_a_prompt_that_never_rendered_is_shown_by_its_source(
    view: View, tmp_path: Path, broken: str
) -> None:
    editor = view(tmp_path, trusted=True)
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

    async def run(
        self, interpreter: Interpreter, job: Job, answers: type[AnswerT], finish: Any = None
    ) -> AnswerT:
        self.asked.set()
        await asyncio.shield(self.ended)
        raise RenderError({"kind": "exit", "message": f"{interpreter.path}: {job.file.name} ended"})

    def close(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


def slow(view: View, root: Path) -> tuple[Viewer, SlowRenderer]:
    """A workspace that is trusted, and executes slowly."""
    (root / "both.py").write_text(PROMPT, encoding="utf-8")
    editor = view(root, trusted=True)
    renderer = editor.core.renderer = SlowRenderer()
    return editor, renderer


async def test_trust_taken_back_while_a_preview_opens_is_shown_by_it(
    view: View, tmp_path: Path
) -> None:
    editor, renderer = slow(view, tmp_path)
    opening = asyncio.create_task(editor.previews.open(editor.uri("both.py"), "both"))
    async with asyncio.timeout(30):
        await renderer.asked.wait()
        editor.trust(trusted=False)
        await opening
    state = await editor.update(1)
    assert (state["fidelity"], state["stale"]["kind"]) == ("static", "untrusted")


async def test_trust_taken_back_before_a_job_starts_executes_nothing(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, renderer = slow(view, tmp_path)
    loop = asyncio.get_running_loop()
    build = python.build_job

    def take_back(*arguments: Any) -> Any:
        asyncio.run_coroutine_threadsafe(untrust(), loop).result(30)
        return build(*arguments)

    async def untrust() -> None:
        editor.trust(trusted=False)

    monkeypatch.setattr(python, "build_job", take_back)
    state = await editor.previews.open(editor.uri("both.py"), "both")
    assert state.stale is not None
    assert state.stale.kind == "untrusted"
    assert not renderer.asked.is_set()


async def test_an_error_of_ours_is_logged_and_the_preview_goes_on(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "both.py").write_text(PROMPT, encoding="utf-8")
    editor = view(tmp_path, trusted=True)
    uri = editor.open("both.py")
    preview = editor.previews.find((await editor.previews.open(uri, "both")).sessionId)
    failed = asyncio.Event()

    def fail(*_: object) -> None:
        failed.set()
        raise ZeroDivisionError("of ours")

    preview.watchers.append(fail)
    editor.change(uri, PROMPT.replace("Hello $", "Hi $"))
    async with asyncio.timeout(30):
        await failed.wait()
    preview.watchers.clear()
    editor.change(uri, PROMPT, version=3)
    assert texts(await editor.update(1))[0] == "## 1. Hello\n\nHello Ada.\n\n"
    assert "of ours" in caplog.text


async def test_forms_of_fields_show_in_the_source_and_when_executed(
    view: View, tmp_path: Path
) -> None:
    prompt = """
from dataclasses import dataclass
from typing import Annotated
from foldline.prompts import MarkdownSection, PromptTemplate, bullets, or_else, xml

@dataclass(frozen=True)
class P:
    rules: Annotated[tuple[str, ...], bullets] = ("a", "b")
    branch: Annotated[str | None, xml("b"), or_else("main")] = None
    plain: tuple[int, ...] = (1, 2)

forms = PromptTemplate(ns="demo", key="forms", sections=[MarkdownSection[P](
    title="T", key="t", template="On ${branch}:\\n    ${rules} ${plain}")])
"""
    expected = "## 1. T\n\nOn main:\n    - a\n    - b "
    editor = view(tmp_path)
    uri = editor.open("forms.py", prompt)
    preview = await editor.command("prompt.preview", uri=uri)
    assert (preview["fidelity"], texts(preview)) == ("static", [expected + "${plain}"])
    editor.trust(trusted=True)
    update = await editor.update(1)
    assert (update["fidelity"], texts(update)) == ("executed", [expected + "(1, 2)"])
    segments = {one["field"]: one["text"] for one in update["blocks"][0]["segments"]}
    assert segments["rules"] == "- a\n    - b"
    params = {"P": {"rules": ["c"], "branch": "dev"}}
    session = preview["sessionId"]
    changed = await editor.command("prompt.setParams", sessionId=session, params=params)
    assert texts(changed) == ["## 1. T\n\nOn <b>\ndev\n</b>:\n    - c (1, 2)"]


async def test_sections_with_the_same_key_are_all_shown_and_counted(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path)
    text = PROMPT.replace('key="folded"', 'key="hello"')
    preview = await editor.command("prompt.preview", uri=editor.open("both.py", text))
    assert preview["order"] == ["hello", "hello~2"]
    assert [shown.split("\n")[0] for shown in texts(preview)] == ["## 1. Hello", "## 2. Folded"]
    costs = [block["tokens"]["self"] for block in preview["blocks"]]
    assert min(costs) > 0
    assert preview["tokens"]["text"] == sum(costs)


@pytest.mark.parametrize("between", [" ", "\n        "])
async def test_a_missing_comma_between_two_texts_leaves_both(
    view: View, tmp_path: Path, between: str
) -> None:
    editor = view(tmp_path)
    text = PROMPT.replace('title="Hello", key', f'title="Hello"{between}key')
    preview = await editor.command("prompt.preview", uri=editor.open("both.py", text))
    assert preview["fidelity"] == "static"
    assert preview["order"] == ["hello", "folded"]
    assert texts(preview)[0].startswith("## 1. Hello\n")
