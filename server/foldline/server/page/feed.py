"""The updates of a preview that one browser hasn't seen yet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Feed:
    """The pending update of one preview for one browser; for a slow browser, updates are merged.

    The first has all of `state`; later ones have the blocks that changed since.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._event: dict[str, Any] | None = {**state, "whole": True}
        self._over = False
        self._arrived = asyncio.Event()
        self._arrived.set()

    def push(self, state: Mapping[str, Any] | None) -> None:
        """Merge the next state into the pending update; None if the preview is closed."""
        if state is None:
            self._over = True
        else:
            before = self._event or {"blocks": [], "whole": False}
            blocks = {block["id"]: block for block in [*before["blocks"], *state["blocks"]]}
            self._event = {
                **state,
                "blocks": [blocks[id_] for id_ in state["order"] if id_ in blocks],
                "whole": before["whole"],
            }
        self._arrived.set()

    async def next(self) -> dict[str, Any] | None:
        """Wait for an update; None once the preview is closed."""
        await self._arrived.wait()
        self._arrived.clear()
        event, self._event = self._event, None
        if self._over:
            self._arrived.set()
        return event
