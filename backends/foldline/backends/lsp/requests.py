"""Requests to language servers, answered within a deadline; waiting holds no thread."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.base.waiting import result_of
from foldline.backends.engine import Engine
from foldline.backends.errors import LSPError, LSPTimeoutError, LSPUnavailableError
from foldline.backends.jedi.engine import JediEngine
from foldline.backends.lsp.discovery import ServerCatalog
from foldline.backends.lsp.lifecycle import Limits
from foldline.backends.lsp.loop import background_loop
from foldline.backends.lsp.pool import Answered, Question, ServerPool
from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from foldline.backends.files.base import FileBackend
    from foldline.backends.lsp.servers import ServerSpec

    Value = TypeVar("Value")

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

    async def _ask(self, question: Question, seconds: float | None) -> Answered:
        return await self.wait(self._pool.ask(question), seconds)

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
