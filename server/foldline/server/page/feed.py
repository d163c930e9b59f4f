"""What one browser has yet to see of a preview."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.ide.previews.state import PreviewState


@dataclass(frozen=True, slots=True)
class News:
    """A state, whose blocks are all of them where it's `whole`."""

    state: PreviewState
    whole: bool


class Feed:
    """The news of one preview for one reader, who may be slow: what is younger replaces the older.

    It starts with all of `state`; later news hold the blocks that changed since the last.
    """

    def __init__(self, state: PreviewState) -> None:
        self._news: News | None = News(state, whole=True)
        self._over = False
        self._arrived = asyncio.Event()
        self._arrived.set()

    def publish(self, state: PreviewState | None) -> None:
        """Replace the event that wasn't read yet; None where the preview is over."""
        if state is None:
            self._over = True
        else:
            before = self._news
            unread = before.state.blocks if before is not None else ()
            blocks = {block.id: block for block in (*unread, *state.blocks)}
            unread = tuple(blocks[id_] for id_ in state.order if id_ in blocks)
            whole = before is not None and before.whole
            self._news = News(replace(state, blocks=unread), whole=whole)
        self._arrived.set()

    async def next(self) -> News | None:
        """Wait for news; None once there will be no more."""
        await self._arrived.wait()
        self._arrived.clear()
        news, self._news = self._news, None
        if self._over:
            self._arrived.set()
        return news
