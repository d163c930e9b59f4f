"""The event loop of all servers of this process, in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

    Answer = TypeVar("Answer")

# Then the guards end what is left.
_STOP_SECONDS = 2.0
_lock = threading.Lock()
_loops: dict[int, BackgroundLoop] = {}


class BackgroundLoop:
    """An event loop that runs in a daemon thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._closers: list[Callable[[], Coroutine[object, object, None]]] = []
        self._thread = threading.Thread(target=self._run, name="foldline-lsp", daemon=True)
        self._thread.start()
        atexit.register(self._close)

    def start(self, task: Coroutine[object, object, Answer]) -> Future[Answer]:
        """Start `task` on the loop; other threads may wait for its result."""
        return asyncio.run_coroutine_threadsafe(task, self._loop)

    def at_exit(self, closer: Callable[[], Coroutine[object, object, None]]) -> None:
        """Run `closer` when the process exits normally."""
        self._closers.append(closer)

    def forget(self, closer: Callable[[], Coroutine[object, object, None]]) -> None:
        """Undo `at_exit`."""
        if closer in self._closers:
            self._closers.remove(closer)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def _close(self) -> None:
        if _loops.get(os.getpid()) is not self:
            return

        async def close_all() -> None:
            await asyncio.gather(*(closer() for closer in self._closers), return_exceptions=True)

        future = self.start(close_all())
        try:
            future.result(_STOP_SECONDS)
        except TimeoutError:
            # The guards do what is left once we are gone.
            future.cancel()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1)


def background_loop() -> BackgroundLoop:
    """This process's loop; a forked child has one of its own."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            _loops.clear()
            loop = _loops[os.getpid()] = BackgroundLoop()
        return loop
