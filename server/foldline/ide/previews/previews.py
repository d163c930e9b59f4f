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
from typing import TYPE_CHECKING

from foldline.ide import render as rendering
from foldline.ide.errors import REFUSALS, IdeError, NoPreview, NoPrompt, Untrusted
from foldline.ide.previews.pace import SHORTEST_REST
from foldline.ide.previews.session import Preview, RenderTicket, Watcher
from foldline.ide.previews.state import PreviewState, Stale
from foldline.ide.prompts.request import PromptRef, RenderMode, View
from foldline.ide.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldline.ide.render.provenance import Provenance
    from foldline.ide.render.render import Block, Render
    from foldline.ide.sources.source import PromptSource
    from foldline.ide.workspace import Result, Workspace

log = logging.getLogger(__name__)

TOLERANT = RenderMode(tolerant=True)


class Previews:
    """The previews of a workspace.

    Attributes:
        on_update: Called with the state of a preview that changed, and with None when one was
            opened or closed; `all` then has what is open.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.on_update: Callable[[PreviewState | None], None] = lambda _: None
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
        chosen = session_id or next(reversed(self._previews), None)
        if chosen not in self._previews:
            raise NoPreview(f"There is no preview {chosen or ''!r}: open one with prompt.preview")
        return self._previews[chosen]

    async def open(self, uri: str | None, name: str | None) -> PreviewState:
        """Start a preview and return its first state.

        A prompt whose code fails, or may not be executed, is shown as far as its source tells, and
        the state says why; where that shows nothing, without blocks.

        Raises:
            IdeError: There is no such prompt, or it may not or can't be executed, and the
                source alone doesn't show it.
        """
        changes = self._changes
        source = await resolve(self.workspace, PromptRef(uri=uri, name=name, mode=TOLERANT))
        preview = Preview(f"preview-{next(self._ids)}", source.document.uri, source.name)
        ticket = preview.ticket()
        try:
            render, stale = await self._render(preview, ticket.options, source)
            preview.show(render, ticket, stale)
        except IdeError as error:
            if preview.name is None or not error.mendable:
                raise
            preview.document_version = source.document.version
            preview.blame(ticket, Stale.of(error))
        self._previews[preview.session_id] = preview
        if self._changes != changes:
            # The change came before this preview was registered.
            preview.changed.set()
        self._tasks[preview.session_id] = asyncio.create_task(self._follow(preview))
        self.on_update(None)
        return preview.state()

    async def open_sections(
        self, preview: Preview, section_keys: Sequence[str], reason: str
    ) -> PreviewState:
        """Open sections as a model would, by the prompt's own tool, and return the new state."""
        async with preview.turn:
            ticket = preview.ticket()
            old = ticket.options
            source = await resolve(self.workspace, preview.ref(TOLERANT))
            began = time.monotonic()
            try:
                answer = await source.open_sections(old, section_keys or None, reason)
                preview.milliseconds = _milliseconds_since(began)
            except IdeError as error:
                if not self._may_be_static(preview, error):
                    raise
                opened = preview.folded_around(section_keys)
                new = old.opening(opened, section_keys, reason)
                return await self._move(preview, [*preview.steps, new])
            new = replace(
                old.opening(answer.requested_overrides, answer.section_keys, reason),
                instructions=answer.expansion_instructions,
            )
            return await self._move(preview, [*preview.steps, new], ticket, answer.render)

    async def move(self, preview: Preview, change: Callable[[], list[View]]) -> PreviewState:
        """Let what `change` returns be the steps of a preview, and return the new state."""
        async with preview.turn:
            steps = change()
            return preview.state() if steps is preview.steps else await self._move(preview, steps)

    async def provenance(self, preview: Preview, query: Callable[[Provenance], Result]) -> Result:
        """The result of a query on where the characters come from that a preview shows."""
        provenance_in = partial(rendering.Provenance, self.workspace, preview.render)
        answer = await self.workspace.query(preview.uri, lambda one: query(provenance_in(one)))
        if answer is None:
            raise NoPrompt(f"{preview.uri} can't be read")
        return answer

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
            self._end(session_id)
            self.on_update(None)

    def close_all(self) -> None:
        """End every preview."""
        for session_id in tuple(self._previews):
            self._end(session_id)

    def _end(self, session_id: str) -> None:
        if preview := self._previews.pop(session_id, None):
            preview.notify(None)
        if task := self._tasks.pop(session_id, None):
            task.cancel()

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
        steps: list[View],
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
        self, preview: Preview, options: View, source: PromptSource | None = None
    ) -> tuple[Render, Stale | None]:
        """A render, and where it isn't an executed one, why."""
        if source is None:
            source = await resolve(self.workspace, preview.ref(TOLERANT))
        began = time.monotonic()
        try:
            render = await source.render(options, preview.render.blocks)
            # Trust may have been taken back meanwhile.
            source.require_trust()
        except IdeError as error:
            if not self._may_be_static(preview, error):
                raise
            try:
                static = await source.render_source(options)
            except IdeError as unknown:
                raise (error if isinstance(unknown, NoPrompt) else unknown) from None
            self.workspace.focus.prompt(source.document.uri, static.name)
            return static, Stale.of(error)
        preview.pace.finished(time.monotonic() - began)
        preview.milliseconds = _milliseconds_since(began)
        return render, None

    def _may_be_static(self, preview: Preview, error: IdeError) -> bool:
        """Return True if a static render replaces an execution that failed.

        An executed one that is shown is better, unless nothing may be executed any more.
        """
        if isinstance(error, Untrusted):
            return True
        return error.mendable and not preview.is_executed

    def _publish(self, preview: Preview, changed: Sequence[Block]) -> None:
        if preview.session_id in self._previews:
            state = preview.state(changed)
            preview.notify(state)
            self.on_update(state)


def _milliseconds_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
