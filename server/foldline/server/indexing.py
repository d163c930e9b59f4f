"""Shows the client that the index of a folder is being built, where that takes long."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foldline.server.server import FoldlineServer

SHOWN_AFTER_SECONDS = 1.0
REPORT_SECONDS = 0.25


def index_progress(
    ls: FoldlineServer, loop: asyncio.AbstractEventLoop
) -> Callable[[Path], Callable[[int, int], None]]:
    """Return a factory of index-progress callbacks `(done, total)`, one for each folder."""

    def progress(root: Path) -> Callable[[int, int], None]:
        return _Building(ls, loop, root.name).tell

    return progress


class _Building:
    """Reports the builds of one index, from the thread that builds."""

    def __init__(self, ls: FoldlineServer, loop: asyncio.AbstractEventLoop, name: str) -> None:
        self._ls = ls
        self._loop = loop
        self._name = name
        self._began: float | None = None
        self._told = 0.0
        self._shown: _Shown | None = None

    def tell(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._began is None:
            self._began = now
        is_over = done >= total
        if self._shown is None and not is_over and now - self._began >= SHOWN_AFTER_SECONDS:
            self._shown = _Shown(self._ls, self._name)
            self._later(self._shown.start)
        if self._shown is not None and (is_over or now - self._told >= REPORT_SECONDS):
            self._told = now
            self._later(self._shown.report, done, total)
        if is_over:
            self._began = self._shown = None

    def _later(self, callback: Callable[..., None], *arguments: int) -> None:
        # A loop that has ended has no client either.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, *arguments)


class _Shown:
    """One progress in the client, on the event loop."""

    def __init__(self, ls: FoldlineServer, name: str) -> None:
        self._ls = ls
        self._name = name
        self._counts = (0, 0)
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._show())

    def report(self, done: int, total: int) -> None:
        self._counts = done, total
        self._changed.set()

    async def _show(self) -> None:
        progress, token = self._ls.work_done_progress, str(uuid4())
        try:
            await progress.create_async(token)
        except JsonRpcException:
            return  # The client refuses progress.
        title = f"foldline: indexing {self._name}"
        progress.begin(token, types.WorkDoneProgressBegin(title, percentage=0))
        while True:
            await self._changed.wait()
            self._changed.clear()
            done, total = self._counts
            message = f"{done:,} of {total:,} files"
            if done >= total:
                break
            percentage = 100 * done // total
            progress.report(
                token, types.WorkDoneProgressReport(message=message, percentage=percentage)
            )
        progress.end(token, types.WorkDoneProgressEnd(message=message))
        progress.tokens.pop(token, None)
