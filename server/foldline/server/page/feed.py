"""What one browser has yet to see of a preview."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Feed:
    """The news of one preview for one reader, who may be slow: what is younger replaces the older.

    It starts with all of `state`; later news hold the blocks that changed since the last.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._news: dict[str, Any] | None = {**state, "whole": True}
        self._over = False
        self._arrived = asyncio.Event()
        self._arrived.set()

    def tell(self, state: Mapping[str, Any] | None) -> None:
        """Take the next state, or None where the preview is over."""
        if state is None:
            self._over = True
        else:
            before = self._news or {"blocks": [], "whole": False}
            blocks = {block["id"]: block for block in [*before["blocks"], *state["blocks"]]}
            self._news = {
                **state,
                "blocks": [blocks[id_] for id_ in state["order"] if id_ in blocks],
                "whole": before["whole"],
            }
        self._arrived.set()

    async def next(self) -> dict[str, Any] | None:
        """Wait for news; None once there will be no more."""
        await self._arrived.wait()
        self._arrived.clear()
        news, self._news = self._news, None
        if self._over:
            self._arrived.set()
        return news
