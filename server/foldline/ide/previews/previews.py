"""The open previews: each is rendered again when something changes.

A `RenderTicket` says which renders are shown. One that fails keeps the last good blocks and
says why they are stale; options that can't be rendered are refused and change nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from foldline.backends.base.waiting import in_thread
from foldline.ide.errors import (
    REFUSALS,
    IdeError,
    NoPreview,
    NoPrompt,
    ToolRefused,
    Untrusted,
)
from foldline.ide.previews.pace import SHORTEST_REST
from foldline.ide.previews.session import Preview
from foldline.ide.previews.state import Stale, Steps
from foldline.ide.render import execution
from foldline.ide.render.diff import compare
from foldline.ide.render.jobs import TOLERANT, open_sections
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.render.revisions import parse_range, revision_side
from foldline.ide.render.static import static_render
from foldline.ide.resolve import find_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foldline.ide.previews.session import RenderTicket, Watcher
    from foldline.ide.previews.state import PreviewState
    from foldline.ide.render.diff import Comparison, Side
    from foldline.ide.render.jobs import Action
    from foldline.ide.render.render import AnswerT, Block, Render
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.workspace import Workspace

log = logging.getLogger(__name__)


class Previews:
    """The previews of a workspace.

    `on_update` is called with the state of a preview that changed, and with None when one was
    opened or closed; `all` then has what is open.
    """

    def __init__(
        self,
        workspace: Workspace,
        on_update: Callable[[PreviewState | None], None] = lambda _: None,
    ) -> None:
        self._workspace = workspace
        self._on_update = on_update
        self._previews: dict[str, Preview] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ids = count(1)
        # How often something changed that any preview may show.
        self._changes = 0
        workspace.subscribe(self._document_changed)

    @property
    def all(self) -> tuple[Preview, ...]:
        """The open previews, the oldest first."""
        return tuple(self._previews.values())

    def find(self, session_id: str | None) -> Preview:
        """The preview of that id, or the last one opened."""
        known = session_id or next(reversed(self._previews), None)
        if known not in self._previews:
            raise NoPreview(f"There is no preview {known or ''!r}: open one with prompt.preview")
        return self._previews[known]

    async def open(self, uri: str | None, name: str | None) -> PreviewState:
        """Start a preview and return its first state.

        A prompt whose code fails, or may not be executed, is shown as far as its source tells, and
        the state says why; where that shows nothing, without blocks.

        Raises:
            IdeError: There is no such prompt, or it may not or can't be executed, and the
                source alone doesn't show it.
        """
        changes = self._changes
        target = await find_prompt(self._workspace, uri, name)
        preview = Preview(f"preview-{next(self._ids)}", target.document.uri, target.name)
        ticket = preview.ticket()
        try:
            render, stale = await self._render(preview, ticket.options, target)
            preview.show(render, ticket, stale)
        except IdeError as error:
            if preview.name is None or not error.mendable:
                raise
            preview.document_version = target.document.version
            preview.blame(ticket, Stale.of(error))
        self._previews[preview.session_id] = preview
        if self._changes != changes:
            # It wasn't among the previews that heard of the change.
            preview.changed.set()
        self._tasks[preview.session_id] = asyncio.create_task(self._follow(preview))
        self._on_update(None)
        return preview.state()

    async def open_sections(
        self, session_id: str | None, section_keys: Sequence[str], reason: str
    ) -> PreviewState:
        """Open sections as a model would, by the prompt's own tool, and return the new state."""
        preview = self.find(session_id)
        async with preview.turn:
            ticket = preview.ticket()
            old = ticket.options
            target = await find_prompt(self._workspace, preview.uri, preview.name)
            began = time.monotonic()
            try:
                action = open_sections(section_keys or None, reason)
                answer = await execution.open_sections(
                    self._workspace, target, action, old, TOLERANT
                )
                preview.milliseconds = _milliseconds_since(began)
            except IdeError as error:
                if not self._may_be_static(preview, error):
                    raise
                opened = preview.folded_around(section_keys)
                new = old.opening(opened, section_keys=tuple(section_keys), reason=reason)
                return await self._move(preview, [*preview.steps, new])
            new = replace(
                old.opening(
                    answer.requested_overrides, section_keys=answer.section_keys, reason=reason
                ),
                instructions=answer.expansion_instructions,
            )
            return await self._move(preview, [*preview.steps, new], ticket, answer.render)

    async def open_chapters(
        self, session_id: str | None, chapters: Sequence[str], reason: str
    ) -> PreviewState:
        """Open chapters, as far as the prompt lets them, and return the new state.

        Raises:
            IdeError: There is no such preview or chapter, or it may not open.
        """
        preview = self.find(session_id)
        # The prompt's code decides whether a chapter may open.
        self._workspace.require_trust()
        known = {chapter.key: chapter for chapter in preview.render.chapters}
        for key in chapters:
            if key not in known:
                message = f"There is no chapter {key!r}; there is {', '.join(known) or 'none'}"
                raise ToolRefused(message, near=list(known))
            if not known[key].may_open:
                why = "; ".join(known[key].reasons)
                raise ToolRefused(f"The chapter {key!r} stays closed: {why}")
        return await self.choose(session_id, lambda old: old.with_chapters(chapters, reason))

    async def close_sections(
        self,
        session_id: str | None,
        section_keys: Sequence[str] | None,
        chapters: Sequence[str] | None = None,
    ) -> PreviewState:
        """Close sections that this preview opened, or all of them, and chapters; the new state."""
        preview = self.find(session_id)
        return await self.choose(
            preview.session_id,
            lambda options: options.closing(section_keys, chapters, preview.render.chapters),
        )

    async def choose(
        self,
        session_id: str | None,
        change: Callable[[RenderOptions], RenderOptions],
    ) -> PreviewState:
        """Show the prompt with what `change` makes of the options, and return the new state."""
        preview = self.find(session_id)
        async with preview.turn:
            return await self._move(preview, [*preview.steps, change(preview.options)])

    async def set_values(
        self,
        session_id: str | None,
        params: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        parameter_set: str | None = None,
        budget: int | None = None,
        budget_unit: str | None = None,
    ) -> PreviewState:
        """Show other values, or another budget; without any, take back the values that were set.

        Raises:
            Untrusted: Without executing the prompt, values would change nothing of what is shown.
        """
        if (params, parameter_set, budget, budget_unit) == (None, None, None, None):
            params = {}
        if (params, parameter_set) != (None, None):
            self._workspace.require_trust()
        return await self.choose(
            session_id,
            lambda options: options.with_values(
                params, parameter_set=parameter_set, budget=budget, budget_unit=budget_unit
            ),
        )

    async def reset(self, session_id: str | None) -> PreviewState:
        """Take back all that was chosen, as a step that can be undone."""
        return await self.choose(session_id, lambda _: RenderOptions(action="reset"))

    async def undo(self, session_id: str | None) -> PreviewState:
        """Take back the last step, if there is one, and return the new state."""
        preview = self.find(session_id)
        async with preview.turn:
            if len(preview.steps) == 1:
                return preview.state()
            return await self._move(preview, preview.steps[:-1])

    def history(self, session_id: str | None) -> Steps:
        """The steps of a preview."""
        preview = self.find(session_id)
        return Steps(preview.session_id, preview.undo_steps(), preview.history.numbers)

    def diff(
        self, session_id: str | None, before: int | None = None, after: int | None = None
    ) -> Comparison:
        """Compare two versions of a preview; the last two where none are named.

        Raises:
            IdeError: There is no such preview, or a version is not kept any more.
        """
        preview = self.find(session_id)
        after = preview.version if after is None else after
        before = max(1, after - 1) if before is None else before
        return compare(preview.version_side(before), preview.version_side(after))

    async def compare(self, session_id: str | None, revisions: str) -> Comparison:
        """Compare what git has of a preview's prompt at `REV` with it now, or at `REV..REV`.

        Both have the preview's sections and values.

        Raises:
            IdeError: There is no such preview or revision, or one can't be rendered.
        """
        preview = self.find(session_id)
        before, after = parse_range(revisions)
        one, other = await self._side(preview, before), await self._side(preview, after)
        return await in_thread(partial(compare, one, other))

    async def text_at(
        self, session_id: str, *, version: int | None = None, revision: str | None = None
    ) -> str:
        """A preview's text: now, in an earlier version, or as git has its prompt at a revision.

        Raises:
            IdeError: There is no such preview, version or revision, or it can't be rendered.
        """
        preview = self.find(session_id)
        if revision is not None:
            return (await self._side(preview, revision)).text
        if version is not None:
            return preview.version_side(version).text
        return "".join(block.text for block in preview.render.blocks)

    async def _side(self, preview: Preview, revision: str | None) -> Side:
        self._workspace.require_trust()
        target = await find_prompt(self._workspace, preview.uri, preview.name)
        return await revision_side(self._workspace, target, revision, preview.options)

    async def execute(self, session_id: str | None, action: Action[AnswerT]) -> AnswerT:
        """The answer to `action` on a preview's prompt, with its values; the preview stays."""
        preview = self.find(session_id)
        target = await find_prompt(self._workspace, preview.uri, preview.name)
        return await execution.execute(self._workspace, target, action, preview.options)

    async def render_once(
        self,
        session_id: str | None,
        params: Mapping[str, Mapping[str, Any]],
        parameter_set: str | None = None,
    ) -> Render:
        """A preview's prompt with other values; the preview stays as it is."""
        preview = self.find(session_id)
        options = preview.options.with_values(
            params, parameter_set=parameter_set, budget=None, budget_unit=None
        )
        target = await find_prompt(self._workspace, preview.uri, preview.name)
        return await execution.render(self._workspace, target, options)

    def state(self, session_id: str | None) -> PreviewState:
        """The state of a preview now."""
        return self.find(session_id).state()

    def watch(self, session_id: str, watcher: Watcher) -> Callable[[], None]:
        """Subscribe `watcher` to the states of a preview, with None at its end.

        Returns the function that unsubscribes it.
        """
        watchers = self.find(session_id).watchers
        watchers.append(watcher)
        return lambda: watchers.remove(watcher)

    def close(self, session_id: str | None) -> None:
        """End a preview, or the last one. Ending one that is gone does nothing."""
        session_id = session_id or next(reversed(self._previews), None)
        if session_id is not None:
            if preview := self._previews.pop(session_id, None):
                preview.notify(None)
            if task := self._tasks.pop(session_id, None):
                task.cancel()
            self._on_update(None)

    def close_all(self) -> None:
        """End every preview."""
        for task in self._tasks.values():
            task.cancel()
        for preview in self._previews.values():
            preview.notify(None)
        self._previews.clear()
        self._tasks.clear()

    def _document_changed(self) -> None:
        """Render all again: any document may be one that a prompt imports."""
        self._changes += 1
        for preview in self._previews.values():
            preview.changed.set()

    async def _follow(self, preview: Preview) -> None:
        """Render `preview` after each change until it's closed, at its `Pace`."""
        rested = 0.0
        while True:
            await preview.changed.wait()
            await asyncio.sleep(max(SHORTEST_REST, rested - time.monotonic()))
            preview.changed.clear()
            began = time.monotonic()
            refresh = asyncio.create_task(self._refresh(preview))
            changed = asyncio.create_task(preview.changed.wait())
            try:
                await asyncio.wait({refresh, changed}, return_when=asyncio.FIRST_COMPLETED)
                left = began + preview.pace.patience - time.monotonic()
                await asyncio.wait({refresh}, timeout=max(0, left))
            finally:
                changed.cancel()
                if refresh.cancel():
                    preview.pace.ended(time.monotonic() - began)
                await asyncio.gather(refresh, changed, return_exceptions=True)
            rested = time.monotonic() + preview.pace.rest
            if not refresh.cancelled() and (error := refresh.exception()) is not None:
                # The preview goes on: the next change may be rendered.
                log.error("The preview of %s was not rendered", preview.uri, exc_info=error)

    async def _refresh(self, preview: Preview) -> None:
        """Render `preview` again, or say why the blocks that are shown are stale."""
        while True:
            ticket = preview.ticket()
            render: Render | None = None
            stale: Stale | None = None
            try:
                render, stale = await self._render(preview, ticket.options)
            except REFUSALS as error:
                stale = Stale.of(error)
            if ticket.is_outdated(preview):
                return
            if ticket.is_current(preview):
                break
        if render is None:
            preview.blame(ticket, stale)
            self._publish(preview, ())
        else:
            self._publish(preview, preview.show(render, ticket, stale))

    async def _move(
        self,
        preview: Preview,
        steps: list[RenderOptions],
        ticket: RenderTicket | None = None,
        render: Render | None = None,
    ) -> PreviewState:
        """Let `steps` be those of `preview` once their options are rendered; the new state.

        `render` has that ticket and is of the last step; without, it is made here.
        """
        stale: Stale | None = None
        while render is None or ticket is None or ticket.is_outdated(preview):
            ticket = preview.ticket(steps[-1])
            render, stale = await self._render(preview, steps[-1])
        preview.steps = steps
        changed = preview.show(render, ticket, stale)
        preview.versions = [*preview.versions, preview.version][: len(steps)]
        self._publish(preview, changed)
        return preview.state()

    async def _render(
        self,
        preview: Preview,
        options: RenderOptions,
        target: PromptTarget | None = None,
    ) -> tuple[Render, Stale | None]:
        """A render, and where it isn't an executed one, why."""
        if target is None:
            target = await find_prompt(self._workspace, preview.uri, preview.name)
        began = time.monotonic()
        try:
            render = await execution.render(
                self._workspace, target, options, TOLERANT, preview.render.blocks
            )
            # It may have been taken back meanwhile.
            self._workspace.require_trust()
        except IdeError as error:
            if not self._may_be_static(preview, error):
                raise
            try:
                static = await static_render(self._workspace, target, options)
            except IdeError as unknown:
                raise (error if isinstance(unknown, NoPrompt) else unknown) from None
            self._workspace.focus.prompt(target.document.uri, static.name)
            return static, Stale.of(error)
        preview.pace.finished(time.monotonic() - began)
        preview.milliseconds = _milliseconds_since(began)
        return render, None

    def _may_be_static(self, preview: Preview, error: IdeError) -> bool:
        """Whether a static render replaces an execution that failed.

        An executed one that is shown is better, unless nothing may be executed any more.
        """
        if isinstance(error, Untrusted):
            return True
        return error.mendable and not preview.is_executed

    def _publish(self, preview: Preview, changed: Sequence[Block]) -> None:
        if preview.session_id in self._previews:
            state = preview.state(changed)
            preview.notify(state)
            self._on_update(state)


def _milliseconds_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
