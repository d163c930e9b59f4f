"""The previews that somebody looks at: each is rendered again when something changes.

Documents and choices may change while a render goes on. Each render carries a number and the
choices that it was asked for; its outcome is shown only while no younger one is and those choices
hold. A render that fails keeps the last good blocks and says why they are stale; choices that
cannot be rendered are refused and change nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from foldline.ide.errors import (
    REFUSALS,
    IdeError,
    NoPreview,
    NoPrompt,
    ToolRefused,
    Untrusted,
    data_of,
)
from foldline.ide.previews.session import Preview
from foldline.ide.render.diff import compare
from foldline.ide.render.render_options import Choices
from foldline.server import execute as prompts
from foldline.server.preview_diagnostics import Problems, problems_in
from foldline.server.resolve import find_prompt
from foldline.server.static_prompts import static_preview

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foldline.backends.errors import BackendError
    from foldline.ide.previews.session import Watcher
    from foldline.server.resolve import PromptTarget
    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)

DID_UPDATE = "foldline/preview/didUpdate"


class PreviewHub:
    def __init__(self) -> None:
        self._previews: dict[str, Preview] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ids = count(1)
        # How often something changed that any preview may show.
        self._changes = 0
        self.problems = Problems()

    @property
    def count(self) -> int:
        return len(self._previews)

    def find(self, session_id: str | None) -> Preview:
        """The preview of that id, or the last one opened."""
        known = session_id or next(reversed(self._previews), None)
        if known not in self._previews:
            raise NoPreview(f"There is no preview {known or ''!r}: open one with prompt.preview")
        return self._previews[known]

    async def open(self, ls: FoldlineServer, uri: str | None, name: str | None) -> dict[str, Any]:
        """Start a preview and return its first state.

        A prompt whose code fails, or may not be executed, is shown as far as its source tells, and
        the state says why; where that shows nothing, without blocks.

        Raises:
            IdeError: There is no such prompt, or it may not or cannot be executed, and the
                source alone does not show it.
        """
        changes = self._changes
        target = await find_prompt(ls, uri, name)
        preview = Preview(f"preview-{next(self._ids)}", target.document.uri, target.name)
        number = next(preview.numbers)
        try:
            preview.take(*await self._render(ls, preview, preview.choices, target))
        except IdeError as error:
            if preview.name is None or not error.mendable:
                raise
            preview.document_version = target.document.version
            self._blame(preview, error)
        preview.shown = number
        self._previews[preview.session_id] = preview
        if self._changes != changes:
            # It was not among those that were told.
            preview.changed.set()
        self._tasks[preview.session_id] = asyncio.create_task(self._follow(ls, preview))
        self._gather_problems(ls)
        return preview.state()

    async def open_sections(
        self, ls: FoldlineServer, session_id: str | None, section_keys: Sequence[str], reason: str
    ) -> dict[str, Any]:
        """Open sections as a model would, by the prompt's own tool, and return the new state."""
        preview = self.find(session_id)
        async with preview.turn:
            number, old = next(preview.numbers), preview.choices
            target = await find_prompt(ls, preview.uri, preview.name)
            try:
                answer = await prompts.open_sections(
                    ls, target, old, section_keys=section_keys, reason=reason, tolerant=True
                )
            except IdeError as error:
                if not self._may_be_static(preview, error):
                    raise
                opened = preview.folded_around(section_keys)
                new = old.opening(opened, section_keys=tuple(section_keys), reason=reason)
                return await self._move(ls, preview, [*preview.steps, new])
            keys = tuple(answer["section_keys"])
            new = replace(
                old.opening(answer["requested_overrides"], section_keys=keys, reason=reason),
                instructions=answer["expansion_instructions"],
            )
            render = {**answer["render"], "effects": answer["effects"]}
            return await self._move(ls, preview, [*preview.steps, new], number, render)

    async def open_chapters(
        self, ls: FoldlineServer, session_id: str | None, chapters: Sequence[str], reason: str
    ) -> dict[str, Any]:
        """Open chapters, as far as the prompt lets them, and return the new state.

        Raises:
            IdeError: There is no such preview or chapter, or it may not open.
        """
        preview = self.find(session_id)
        if not ls.settings.trusted:
            # Whether a chapter may open is for its code to say.
            raise Untrusted(prompts.UNTRUSTED)
        async with preview.turn:
            number = next(preview.numbers)
            new = preview.choices.with_chapters(chapters, reason)
            render, _ = await self._render(ls, preview, new)
            known = {each["key"]: each for each in render["chapters"]}
            for key in chapters:
                if key not in known:
                    message = f"There is no chapter {key!r}; there is {', '.join(known) or 'none'}"
                    raise ToolRefused(message, near=list(known))
                if not known[key]["open"]:
                    why = "; ".join(known[key]["reasons"])
                    raise ToolRefused(f"The chapter {key!r} stays closed: {why}")
            return await self._move(ls, preview, [*preview.steps, new], number, render)

    async def close_sections(
        self,
        ls: FoldlineServer,
        session_id: str | None,
        section_keys: Sequence[str] | None,
        chapters: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Close what this preview opened, or all of it, and return the new state."""
        return await self.choose(
            ls, session_id, lambda choices: choices.closing(section_keys, chapters)
        )

    async def choose(
        self, ls: FoldlineServer, session_id: str | None, change: Callable[[Choices], Choices]
    ) -> dict[str, Any]:
        """Show the prompt with what `change` makes of the choices, and return the new state."""
        preview = self.find(session_id)
        async with preview.turn:
            return await self._move(ls, preview, [*preview.steps, change(preview.choices)])

    async def reset(self, ls: FoldlineServer, session_id: str | None) -> dict[str, Any]:
        """Take back all that was chosen, as a step that can be undone."""
        return await self.choose(ls, session_id, lambda _: Choices(action="reset"))

    async def undo(self, ls: FoldlineServer, session_id: str | None) -> dict[str, Any]:
        """Take back the last step, if there is one, and return the new state."""
        preview = self.find(session_id)
        async with preview.turn:
            if len(preview.steps) == 1:
                return preview.state()
            return await self._move(ls, preview, preview.steps[:-1])

    def history(self, session_id: str | None) -> dict[str, Any]:
        """What was done in a preview, step by step."""
        preview = self.find(session_id)
        return {
            "sessionId": preview.session_id,
            "steps": preview.history(),
            "versions": preview.past.numbers,
        }

    def diff(
        self, session_id: str | None, before: int | None = None, after: int | None = None
    ) -> dict[str, Any]:
        """What differs between two versions of a preview; the last two where none are named.

        Raises:
            IdeError: There is no such preview, or a version is not kept any more.
        """
        preview = self.find(session_id)
        after = preview.version if after is None else after
        wanted = (max(1, after - 1) if before is None else before, after)
        sides = []
        for number in wanted:
            side = preview.past.get(number)
            if side is None:
                kept = preview.past.numbers
                raise NoPreview(
                    f"{preview.session_id} has no version {number} any more, or not yet; "
                    f"kept are {kept[0]} to {kept[-1]}",
                )
            sides.append(side)
        return {"sessionId": preview.session_id, **compare(*sides)}

    def state(self, session_id: str | None) -> dict[str, Any]:
        """What is shown in a preview now."""
        return self.find(session_id).state()

    def watch(self, session_id: str, watcher: Watcher) -> Callable[[], None]:
        """Tell `watcher` what the client is told of a preview, until what is returned is called.

        The end of the preview is told as None.
        """
        watchers = self.find(session_id).watchers
        watchers.append(watcher)
        return lambda: watchers.remove(watcher)

    def close(self, ls: FoldlineServer, session_id: str | None) -> None:
        """End a preview, or the last one. Ending one that is gone does nothing."""
        session_id = session_id or next(reversed(self._previews), None)
        if session_id is not None:
            if preview := self._previews.pop(session_id, None):
                preview.tell(None)
            if task := self._tasks.pop(session_id, None):
                task.cancel()
            self._gather_problems(ls)

    def close_all(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        for preview in self._previews.values():
            preview.tell(None)
        self._previews.clear()
        self._tasks.clear()

    def document_changed(self) -> None:
        """Render what is looked at again: any document may be one that a prompt imports."""
        self._changes += 1
        for preview in self._previews.values():
            preview.changed.set()

    async def _follow(self, ls: FoldlineServer, preview: Preview) -> None:
        """Render `preview` after each change until the preview is closed.

        A change that comes while a render goes on ends that render: nobody needs its answer.
        """
        while True:
            await preview.changed.wait()
            await asyncio.sleep(preview.pace.seconds)
            preview.changed.clear()
            refresh = asyncio.create_task(self._refresh(ls, preview))
            changed = asyncio.create_task(preview.changed.wait())
            try:
                await asyncio.wait({refresh, changed}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
                refresh.cancel()
                await asyncio.gather(refresh, changed, return_exceptions=True)

    async def _refresh(self, ls: FoldlineServer, preview: Preview) -> None:
        """Render `preview` again, or tell the client why what it has is stale."""
        while True:
            number, choices = next(preview.numbers), preview.choices
            error: IdeError | BackendError | None = None
            render: dict[str, Any] = {}
            stale: Mapping[str, Any] | None = None
            try:
                render, stale = await self._render(ls, preview, choices)
            except REFUSALS as failure:
                error = failure
            except Exception:
                # The preview goes on: the next change may be rendered.
                log.exception("The preview of %s was not rendered", preview.uri)
                return
            if number < preview.shown:
                return
            if choices is preview.choices:
                break
        preview.shown = number
        if error is not None:
            self._blame(preview, error)
            self._tell(ls, preview, [])
        else:
            self._tell(ls, preview, preview.take(render, stale))

    async def _move(
        self,
        ls: FoldlineServer,
        preview: Preview,
        steps: list[Choices],
        number: int = 0,
        render: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Let `steps` be those of `preview` once their choices are rendered; the new state.

        `render` is of those choices and has that number; without, it is made here.
        """
        stale: Mapping[str, Any] | None = None
        while render is None or number < preview.shown:
            # A younger text is shown already: this render must be at least as young.
            number = next(preview.numbers)
            render, stale = await self._render(ls, preview, steps[-1])
        preview.shown = number
        preview.steps = steps
        changed = preview.take(render, stale)
        preview.versions = [*preview.versions, preview.version][: len(steps)]
        self._tell(ls, preview, changed)
        return preview.state()

    async def _render(
        self,
        ls: FoldlineServer,
        preview: Preview,
        choices: Choices,
        target: PromptTarget | None = None,
    ) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
        """A render, and where it is not an executed one, why."""
        if target is None:
            target = await find_prompt(ls, preview.uri, preview.name)
        began = time.monotonic()
        try:
            render = await prompts.render(ls, target, choices, tolerant=True)
        except IdeError as error:
            if not self._may_be_static(preview, error):
                raise
            try:
                static = await static_preview(ls, target, choices.overrides)
            except IdeError as unknown:
                raise (error if isinstance(unknown, NoPrompt) else unknown) from None
            ls.focus.prompt(target.document.uri, static["name"])
            return static, _reason(error)
        preview.pace.took(time.monotonic() - began)
        return render, None

    def _may_be_static(self, preview: Preview, error: IdeError) -> bool:
        """Whether what the source shows stands in for an execution that failed.

        What was executed before is better, unless nothing may be any more.
        """
        if isinstance(error, Untrusted):
            return True
        return error.mendable and preview.fidelity != "executed"

    def _blame(self, preview: Preview, error: IdeError | BackendError) -> None:
        """Keep the blocks of `preview`, and say by `error` why they are stale."""
        preview.advance(_reason(error))

    def _tell(
        self, ls: FoldlineServer, preview: Preview, changed: Sequence[Mapping[str, Any]]
    ) -> None:
        if preview.session_id in self._previews:
            state = preview.state(changed)
            ls.protocol.notify(DID_UPDATE, state)
            preview.tell(state)
            self._gather_problems(ls)

    def _gather_problems(self, ls: FoldlineServer) -> None:
        """Have the failures of all previews shown in the source, if they have changed."""
        previews = self._previews.values()
        if self.problems.set(p for each in previews for p in problems_in(each.stale, each.blocks)):
            ls.diagnostics.schedule()


def _reason(error: IdeError | BackendError) -> dict[str, Any]:
    """Why blocks are stale, as clients are told it."""
    data = data_of(error)
    return {
        "kind": data["kind"],
        "message": str(error),
        "file": data.get("file"),
        "line": data.get("line"),
    }
