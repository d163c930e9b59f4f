"""A preview keeps up with typing: renders are let finish, unless they may never end."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from foldline.ide.render.renderer import Renderer

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.render.interpreter import Interpreter
    from foldline.ide.render.render import AnswerT
    from foldline.ide.render.renderer import Job

    from .viewer import View, Viewer

pytestmark = pytest.mark.real

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate

both = PromptTemplate(ns="demo", key="both", sections=[
    MarkdownSection[None](title="First", key="first", template="One."),
    MarkdownSection[None](title="Second", key="second", template="Two."),
])
"""


class GatedRenderer(Renderer):
    """Runs jobs, each after `wait` has let it pass.

    Attributes:
        started: The texts of the jobs, as they came.
        ended: Those that were taken back before they were done.
    """

    def __init__(self) -> None:
        super().__init__()
        self.started: list[str] = []
        self.ended: list[str] = []
        self._open = asyncio.Event()
        self._open.set()
        self._came = asyncio.Event()

    def shut(self) -> None:
        self._open = asyncio.Event()

    def let_pass(self) -> None:
        """Let those pass that wait, and those that come."""
        self._open.set()

    async def wait(self) -> None:
        await self._open.wait()

    async def job(self, text: str) -> None:
        """Return once there is a job with that in its text."""
        async with asyncio.timeout(30):
            while not any(text in started for started in self.started):
                self._came.clear()
                await self._came.wait()

    async def run(
        self, interpreter: Interpreter, job: Job, answers: type[AnswerT], finish: Any = None
    ) -> AnswerT:
        text = job.overlays[str(job.file)]
        self.started.append(text)
        self._came.set()
        try:
            await self.wait()
            return await super().run(interpreter, job, answers, finish)
        except asyncio.CancelledError:
            self.ended.append(text)
            raise


async def previewed(view: View, root: Path) -> tuple[Viewer, str, GatedRenderer]:
    editor = view(root, trusted=True)
    renderer = editor.core.renderer = GatedRenderer()
    uri = editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    return editor, uri, renderer


async def test_a_change_lets_the_render_finish_that_goes_on(view: View, tmp_path: Path) -> None:
    editor, uri, renderer = await previewed(view, tmp_path)
    # As if it always took long.
    editor.previews.find(None).pace.finished(600)
    renderer.shut()
    editor.change(uri, PROMPT.replace("Two.", "Older."), 2)
    await renderer.job("Older.")
    editor.change(uri, PROMPT.replace("Two.", "Newer."), 3)
    renderer.let_pass()
    first, second = await editor.update(1), await editor.update(2)
    assert [first["documentVersion"], second["documentVersion"]] == [2, 3]
    assert first["blocks"][0]["text"] == "## 2. Second\n\nOlder."
    assert second["blocks"][0]["text"] == "## 2. Second\n\nNewer."
    assert renderer.ended == []


async def test_a_render_that_may_never_end_is_ended_for_a_newer_text(
    view: View, tmp_path: Path
) -> None:
    editor, uri, renderer = await previewed(view, tmp_path)
    renderer.shut()
    for version, word in enumerate(("Never.", "Nor this."), 2):
        editor.change(uri, PROMPT.replace("Two.", word), version)
        await renderer.job(word)
    assert renderer.ended == renderer.started[1:2]
    renderer.let_pass()
    editor.change(uri, PROMPT.replace("Two.", "Mended."), 4)
    while (update := await editor.update(len(editor.updates) + 1))["documentVersion"] != 4:
        pass
    assert update["blocks"][0]["text"] == "## 2. Second\n\nMended."


async def test_a_render_that_never_ends_is_ended_at_its_deadline(
    view: View, tmp_path: Path
) -> None:
    # On a busy machine a fresh interpreter needs seconds to come to the module.
    editor = view(tmp_path, trusted=True, render_deadline=4)
    uri = editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    editor.change(uri, f"{PROMPT}\nwhile True: pass\n")
    update = await editor.update(1)
    assert (update["stale"]["kind"], update["stale"]["line"]) == ("deadline", 9)
    editor.change(uri, PROMPT, 3)
    assert (await editor.update(2))["stale"] is None


async def test_no_older_text_is_shown_after_a_newer_one(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, uri, renderer = await previewed(view, tmp_path)
    chance = random.Random(4)

    async def wait() -> None:
        await asyncio.sleep(chance.choice([0, 0.01, 0.05, 0.4]))

    monkeypatch.setattr(renderer, "wait", wait)
    for version in range(2, 60):
        editor.change(uri, PROMPT.replace("Two.", f"{version}."), version)
        await asyncio.sleep(chance.choice([0, 0.01, 0.05]))
    while not editor.updates or editor.updates[-1]["documentVersion"] != 59:
        await editor.update(len(editor.updates) + 1)
    versions = [update["documentVersion"] for update in editor.updates]
    assert versions == sorted(versions)
    assert editor.updates[-1]["blocks"][0]["text"] == "## 2. Second\n\n59."


async def test_what_was_executed_is_not_shown_once_trust_is_taken_back(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, uri, renderer = await previewed(view, tmp_path)
    run = renderer.run

    async def late(
        interpreter: Interpreter, job: Job, answers: type[AnswerT], finish: Any
    ) -> AnswerT:
        answer = await run(interpreter, job, answers, finish)
        editor.trust(trusted=False)
        return answer

    monkeypatch.setattr(renderer, "run", late)
    editor.change(uri, PROMPT.replace("Two.", "Newer."), 2)
    update = await editor.update(1)
    assert (update["fidelity"], update["stale"]["kind"]) == ("static", "untrusted")
