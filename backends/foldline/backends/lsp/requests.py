"""Requests to language servers on an event loop of their own; waiting holds no thread."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.base.waiting import result_of
from foldline.backends.engine import Engine
from foldline.backends.errors import LSPError, LSPTimeoutError, LSPUnavailableError
from foldline.backends.jedi.engine import JediEngine
from foldline.backends.lsp.discovery import ServerCatalog
from foldline.backends.lsp.lifecycle import Limits
from foldline.backends.lsp.pool import Answered, Query, ServerPool
from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from concurrent.futures import Future

    from foldline.backends.files.base import FileBackend
    from foldline.backends.lsp.servers import ServerSpec

    Value = TypeVar("Value")

# Servers that still run then are ended by their guards, processes that outlive this one.
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

    def start(self, task: Coroutine[object, object, Value]) -> Future[Value]:
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
        # A forked child has the object, but not the thread.
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


DEFAULT_SECONDS = 5.0


class ServerRequests(Engine):
    """The servers of one workspace, and the way to ask them."""

    def __init__(
        self,
        files: FileBackend,
        *,
        trusted: bool = False,
        seconds: float = DEFAULT_SECONDS,
        limits: Limits | None = None,
        servers: Iterable[ServerSpec] | None = None,
        jedi: bool = True,
    ) -> None:
        self._files = files
        self._seconds = seconds
        self._catalog = ServerCatalog(files.root, trusted=trusted, servers=servers)
        self._limits = limits or Limits()
        self._pool = ServerPool(files, self._catalog, self._limits)
        self._jedi = JediEngine(files, self._limits) if jedi else None
        self._loop = background_loop()
        self._loop.at_exit(self._close_all)
        self._closed = False
        self._closing: asyncio.Future[list[BaseException | None]] | None = None

    async def _close_all(self) -> None:
        """Stop everything; all callers wait for the same end."""
        if self._closing is None:
            closing = [self._pool.close()]
            if self._jedi is not None:
                closing.append(self._jedi.close())
            self._closing = asyncio.gather(*closing, return_exceptions=True)
        await asyncio.shield(self._closing)

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run `work` on the background loop, unless the servers have been closed."""
        if self._closed:
            work.close()
        else:
            self._loop.start(work)

    async def _ask(self, query: Query, seconds: float | None) -> Answered:
        patience = self._seconds if seconds is None else seconds
        return await self.wait(self._pool.ask(query, patience=patience), seconds)

    async def wait(self, work: Coroutine[object, object, Value], seconds: float | None) -> Value:
        """The result of `work` on the background loop; after the deadline it goes on there."""
        if self._closed:
            work.close()
            raise LSPUnavailableError("the language servers have been closed")
        limit = self._seconds if seconds is None else seconds
        started = time.monotonic()
        future = self._loop.start(work)
        try:
            return await result_of(future, max(limit, 0))
        except CancelledError:
            raise LSPUnavailableError("the language servers have been closed") from None
        except TimeoutError as error:
            # LSPTimeoutError is a TimeoutError, too.
            if isinstance(error, LSPError):
                raise
            passed = time.monotonic() - started
            raise LSPTimeoutError(f"timed out after {passed:.3g} s; ask again") from None


def coverage_of(answered: Answered) -> str:
    """The completeness of the answer, by its server's own account."""
    name = answered.session.spec.name
    if answered.overdue:
        return f"partial: {name} never said that it has read the whole project"
    if answered.unopened:
        return f"partial: {name} was not shown {answered.unopened} files that hold the name"
    return COMPLETE
