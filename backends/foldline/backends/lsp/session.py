"""One server for one root: started on demand, restarted when it dies, stopped when idle."""

from __future__ import annotations

import asyncio
import logging
import math
import statistics
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from foldline.backends import errors
from foldline.backends.base.waiting import STATUS, in_thread
from foldline.backends.lsp.initialized_server import start_server
from foldline.backends.lsp.lifecycle import (
    CLOSING_GRACE,
    Backoff,
    Change,
    ServerState,
    ServerStatus,
    tree_memory,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterator
    from pathlib import Path

    from foldline.backends.lsp.documents import Snapshot
    from foldline.backends.lsp.initialized_server import InitializedServer
    from foldline.backends.lsp.lifecycle import Limits
    from foldline.backends.lsp.servers import ServerSpec

log = logging.getLogger(__name__)

# After so many answers in a row that can't be right, a server is left alone until files change.
_MOST_WRONG_ANSWERS = 3


# A server is stopped, starting (`_starting`), up (`_running`) or ending (a task in `_ending`; its
# process may outlive the start of the next one). Only `_started` brings it up, and only `_end`
# takes it down. The reader, a late request and the watch may all notice one crash: `_end` does
# nothing unless its server is still the one that is up. Callers share a start, and await it
# shielded.
class ServerSession:
    """The lifecycle of one server for one root, on one event loop.

    Attributes:
        generation: Grows with every notified change and every restart: answers of an earlier
            generation are stale.
        has_failed: Whether its failure was told, and it hasn't answered since.
    """

    def __init__(
        self,
        spec: ServerSpec,
        command: tuple[str, ...],
        workspace: Path,
        root: Path,
        limits: Limits,
        *,
        restarts: int = 0,
    ) -> None:
        self.spec = spec
        self.command = command
        self.root = root
        self.generation = 0
        self.memory = 0
        self.has_failed = False
        self._wrong_answers = Counter[int]()
        """By generation, since the last one that can be right."""
        self._workspace = workspace
        self._limits = limits
        self._running: InitializedServer | None = None
        self._starting: asyncio.Task[InitializedServer] | None = None
        self._watching: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._restarts = restarts
        self._starts = 0
        self._requests = 0
        self._backoff = Backoff(spec.name, limits)
        self.used = time.monotonic()
        self._busy = 0
        self._closed = False

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the server from being stopped for another folder's while a query needs it."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            self.used = time.monotonic()

    @property
    def is_up(self) -> bool:
        """Return whether it has a process, or will soon."""
        return self.running is not None or self._starting is not None

    @property
    def is_idle(self) -> bool:
        """Return whether it is neither starting nor answering."""
        return not self._busy and self._starting is None

    def rest(self) -> None:
        """Stop the server in the background until it's asked again."""
        if self._running is not None:
            self._begin_end(self._running, "", crashed=False)

    @property
    def state(self) -> ServerState:
        if self.running is not None and not self.is_trusted:
            return ServerState.FAILING
        if self.running is not None:
            ready = self.running.ready.is_ready
            return ServerState.READY if ready else ServerState.INDEXING
        if self._starting is not None:
            return ServerState.STARTING
        if not self._backoff.is_over:
            return ServerState.DOWN if self._backoff.is_down else ServerState.RESTARTING
        return ServerState.STOPPED

    @property
    def running(self) -> InitializedServer | None:
        """The server if it is up, notified of changes up to the last call of `up`."""
        running = self._running
        return running if running is not None and running.connection.failure is None else None

    @property
    def is_usable(self) -> bool:
        """Return whether it runs or may be started now."""
        return not self._closed and self._backoff.is_over

    def check(self) -> None:
        """Return where the server runs or may be started now.

        Raises:
            LSPUnavailableError: It failed lately, and the wait isn't over.
        """
        if not self.is_usable:
            raise errors.LSPUnavailableError(
                f"{self.state}: {self._backoff.problem}", self.spec.name
            )

    @property
    def is_trusted(self) -> bool:
        """Return whether its answers can be right, or files have changed since they couldn't."""
        return self._wrong_answers[self.generation] < _MOST_WRONG_ANSWERS

    def judge(self, problem: str) -> None:
        """Return where an answer has no problem.

        Raises:
            LSPAnswerError: It has one, which is counted.
        """
        self._backoff.problem = problem
        if problem:
            self._wrong_answers[self.generation] += 1
            raise errors.LSPAnswerError(problem, self.spec.name)
        self._wrong_answers.clear()

    def briefly(self, error: errors.LSPError) -> errors.LSPError:
        """The failure as it is told: in full once, and briefly until the server answers."""
        if isinstance(error, errors.LSPTimeoutError | errors.LSPResponseError):
            return error
        if self.has_failed:
            return errors.LSPUnavailableError(
                "still failing" if self.is_usable else f"still {self.state}", self.spec.name
            )
        self.has_failed = True
        return error

    def status(self) -> ServerStatus:
        running = self._running
        latencies = running.connection.latencies if running else ()
        return ServerStatus(
            self.spec.name,
            str(self.root),
            self.command,
            self.state.value,
            running.connection.process.pid if running else None,
            self.memory,
            statistics.median(latencies) if latencies else None,
            self._requests,
            self._restarts + max(self._starts - 1, 0),
            running.connection.pending if running else 0,
            running.documents.count if running else 0,
            self._backoff.problem,
        )

    async def up(self, snapshot: Snapshot, read: Callable[[str], str | None]) -> InitializedServer:
        """The running server, started if necessary and notified of every change up to `snapshot`.

        Raises:
            LSPUnavailableError: It failed lately, and the wait isn't over.
            LSPStartError: It does not start.
        """
        begun: asyncio.Future[Snapshot] = asyncio.get_running_loop().create_future()
        begun.set_result(snapshot)
        running = await self.begin(begun, read)
        change = running.follower.follow(snapshot, read)
        if change is not Change.NONE:
            self.generation += 1
            if self.spec.restarts_on_change:
                await self._end(running, "", crashed=False)
                return await self.up(snapshot, read)
        if change is Change.FILES:
            running.ready.expect_rescan()
        return running

    async def begin(
        self, begun: asyncio.Future[Snapshot], read: Callable[[str], str | None]
    ) -> InitializedServer:
        """The running server, started if necessary, while the files are still looked at.

        It may know of earlier changes only.

        Raises:
            LSPUnavailableError: It failed lately, and the wait isn't over.
            LSPStartError: It does not start.
        """
        self.used = time.monotonic()
        if self.running is not None:
            return self.running
        if self._closed:
            raise errors.LSPUnavailableError(
                "the language servers have been closed", self.spec.name
            )
        if self._starting is None:
            self._backoff.check()
            self._starts += 1
            start = start_server(
                self.spec,
                self.command,
                self._workspace,
                self.root,
                self._limits,
                begun=begun,
                read=read,
            )
            self._starting = asyncio.create_task(start)
            self._starting.add_done_callback(self._started)
        return await asyncio.shield(self._starting)

    async def read(self, running: InitializedServer, uris: Collection[str]) -> None:
        """Return when the server has published diagnostics of these documents, or is late."""
        try:
            async with asyncio.timeout(self._limits.reading):
                while not running.documents.unread.isdisjoint(uris):
                    if running.connection.failure is not None:
                        return
                    await running.diagnosed.wait()
        except TimeoutError:
            log.debug("%s published no diagnostics for some documents", self.spec.name)

    async def request(self, running: InitializedServer, method: str, params: object) -> Any:
        """The answer of `running` to one request; a server that went silent is ended."""
        connection = running.connection
        before, strays = connection.received, connection.strays
        self._requests += 1
        try:
            with self.in_use():
                return await connection.request(method, params, seconds=self._limits.request)
        except errors.LSPTimeoutError:
            if connection.received == before or connection.strays > strays:
                self._begin_end(running, "it stopped answering", crashed=True)
            raise

    async def close(self) -> None:
        """Stop the server; it is not started again."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._running is not None:
            grace = 0 if self.spec.saves_nothing else CLOSING_GRACE
            await self._end(self._running, "", crashed=False, grace=grace)
        for task in self._watching:
            task.cancel()
        # Wait for ends in progress: cancelled, they would leave the process behind.
        await asyncio.gather(*self._watching, *self._ending, return_exceptions=True)

    # Starting and ending

    def _started(self, task: asyncio.Task[InitializedServer]) -> None:
        self._starting = None
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._backoff.failed(str(error))
            return
        self._running = task.result()
        self._backoff.problem = ""
        self.generation += 1
        self._spawn(self._watch(self._running), self._watching)
        self._spawn(self._await_end(self._running), self._watching)

    async def _await_end(self, running: InitializedServer) -> None:
        await running.connection.ended()
        if self._running is running:
            failure = running.connection.failure
            crashed = isinstance(failure, errors.LSPDiedError | errors.LSPProtocolError)
            self._begin_end(running, str(failure), crashed=crashed)

    def _begin_end(self, running: InitializedServer, problem: str, *, crashed: bool) -> None:
        self._spawn(self._end(running, problem, crashed=crashed), self._ending)

    async def _end(
        self, running: InitializedServer, problem: str, *, crashed: bool, grace: float = math.inf
    ) -> None:
        if self._running is not running:
            return
        self._running = None
        self.memory = 0
        self.generation += 1
        running.ready.stop()
        running.diagnosed.set()
        if crashed:
            if time.monotonic() - running.started > self._limits.healthy:
                self._backoff.forget()
            self._backoff.failed(problem)
        else:
            self._backoff.problem = problem
        await running.connection.close(min(self._limits.grace, grace), problem)

    async def _watch(self, running: InitializedServer) -> None:
        """End the server when it is idle, or holds too much memory."""
        while self._running is running:
            await asyncio.sleep(self._limits.watch)
            pid = running.connection.process.pid
            if pid is not None:
                self.memory = await in_thread(partial(tree_memory, pid), STATUS)
            if self.memory > self._limits.memory:
                problem = f"it held {self.memory >> 20:,} MiB and was restarted"
                self._begin_end(running, problem, crashed=True)
                return
            is_heavy = self.memory > self._limits.heavy
            idle = self._limits.heavy_idle if is_heavy else self._limits.idle
            if not self._busy and time.monotonic() - self.used > idle:
                self.rest()
                return

    def _spawn(self, work: Coroutine[object, object, None], group: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        group.add(task)
        task.add_done_callback(group.discard)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, errors.LSPError):
            log.error("%s: internal failure", self.spec.name, exc_info=error)
