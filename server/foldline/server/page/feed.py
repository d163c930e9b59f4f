"""The updates of a preview that one browser hasn't seen yet."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from foldline.ide.previews.state import PreviewState
from foldline.records import record


@record
class Update:
    """A state, whose blocks are all of them where it's `whole`."""

    state: PreviewState
    whole: bool


class Feed:
    """The pending update of one preview for one browser; for a slow browser, updates are merged.

    The first has all of `state`; later ones have the blocks that changed since.
    """

    def __init__(self, state: PreviewState) -> None:
        self._update: Update | None = Update(state, whole=True)
        self._over = False
        self._arrived = asyncio.Event()
        self._arrived.set()

    def push(self, state: PreviewState | None) -> None:
        """Merge the next state into the pending update; None if the preview is closed."""
        if state is None:
            self._over = True
        else:
            before = self._update
            pending = before.state.blocks if before is not None else ()
            blocks = {block.id: block for block in (*pending, *state.blocks)}
            ordered = tuple(blocks[id_] for id_ in state.order if id_ in blocks)
            whole = before is not None and before.whole
            self._update = Update(replace(state, blocks=ordered), whole=whole)
        self._arrived.set()

    async def next(self) -> Update | None:
        """Wait for an update; None once the preview is closed."""
        await self._arrived.wait()
        self._arrived.clear()
        update, self._update = self._update, None
        if self._over:
            self._arrived.set()
        return update
