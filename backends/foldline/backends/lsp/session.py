"""One server for one root: started when asked, restarted when it dies, and let go when idle."""

from __future__ import annotations

import asyncio
import logging
import statistics
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from foldline.backends.errors import (
    LSPDiedError,
    LSPError,
    LSPProtocolError,
    LSPStartError,
    LSPTimeoutError,
    LSPUnavailableError,
)
from foldline.backends.lsp.changes import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine
    from pathlib import Path

    from foldline.backends.lsp.connection import Connection
    from foldline.backends.lsp.documents import Follower, OpenDocuments, Snapshot
    from foldline.backends.lsp.limits import Limits
    from foldline.backends.lsp.readiness import ReadyWatch
    from foldline.backends.lsp.servers import ServerSpec

log = logging.getLogger(__name__)


class ServerState(StrEnum):
    """Where a server is in its life."""

    STOPPED = "stopped"
    STARTING = "starting"
    INDEXING = "indexing"
    READY = "ready"
    RESTARTING = "restarting"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server as `foldline.server.status` shows it.

    `latency` is the median of the last answers in seconds; `memory` is that of the server and all
    its children in bytes, when it was last looked at; `problem` is why it is not up.
    """

    name: str
    root: str
    command: tuple[str, ...]
    state: str
    pid: int | None = None
    memory: int = 0
    latency: float | None = None
    requests: int = 0
    restarts: int = 0
    pending: int = 0
    open_documents: int = 0
    problem: str = ""


class Running:
    """A server that has answered `initialize`, with everything that lasts as long as it does."""

    def __init__(
        self,
        connection: Connection,
        ready: ReadyWatch,
        documents: OpenDocuments,
        follower: Follower,
        *,
        initialized: dict[str, Any],
        encoding: str,
    ) -> None:
        self.connection = connection
        self.ready = ready
        self.documents = documents
        self.follower = follower
        self.encoding = encoding
        self.started = time.monotonic()
        capabilities = initialized.get("capabilities")
        self.capabilities: dict[str, Any] = capabilities if isinstance(capabilities, dict) else {}
        self.diagnostics: dict[str, list[Any]] = {}
        self.diagnosed = asyncio.Event()


class ServerSession:
    """The life of one server for one root, on one event loop.

    Attributes:
        generation: Grows with every change the server is told of, and with every restart: answers
            of an earlier generation are stale.
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
        self._workspace = workspace
        self._limits = limits
        self._running: Running | None = None
        self._starting: asyncio.Task[Running] | None = None
        self._watching: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._crashes = 0
        self._restarts = restarts
        self._starts = 0
        self._requests = 0
        self._retry_at = 0.0
        self._problem = ""
        self._is_down = False
        self._used = time.monotonic()
        self._busy = 0
        self._closed = False

    @property
    def state(self) -> ServerState:
        if self.running is not None:
            ready = self.running.ready.is_ready
            return ServerState.READY if ready else ServerState.INDEXING
        if self._starting is not None:
            return ServerState.STARTING
        if time.monotonic() < self._retry_at:
            return ServerState.DOWN if self._is_down else ServerState.RESTARTING
        return ServerState.STOPPED

    @property
    def running(self) -> Running | None:
        """The server where it is up, told of changes up to when `up` was last called."""
        running = self._running
        return running if running is not None and running.connection.failure is None else None

    @property
    def is_usable(self) -> bool:
        """Whether it makes sense to ask: it runs, or may be started now."""
        return not self._closed and time.monotonic() >= self._retry_at

    @property
    def problem(self) -> str:
        """Why the server is not up, or was not lately."""
        return self._problem

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
            self._problem,
        )

    async def up(self, snapshot: Snapshot, read: Callable[[str], str | None]) -> Running:
        """The running server, started if need be and told of every change up to `snapshot`.

        Raises:
            LSPUnavailableError: It is to be left alone for a while.
            LSPStartError: It does not start.
        """
        self._used = time.monotonic()
        running = self.running
        if running is None:
            if self._closed:
                raise LSPUnavailableError("the language servers have been closed", self.spec.name)
            if self._starting is None:
                self._check_backoff()
                self._starting = asyncio.create_task(self._start(snapshot, read))
                self._starting.add_done_callback(self._started)
            running = await asyncio.shield(self._starting)
        change = running.follower.follow(snapshot, read)
        if change is not Change.NONE:
            self.generation += 1
            if self.spec.restarts_on_change:
                await self._end(running, "", crashed=False)
                return await self.up(snapshot, read)
        if change is Change.FILES:
            running.ready.expect_rescan()
        return running

    async def read(self, running: Running, uris: Collection[str]) -> None:
        """Return when the server has read these documents, as its diagnostics tell, or is late."""
        try:
            async with asyncio.timeout(self._limits.reading):
                while not running.documents.unread.isdisjoint(uris):
                    if running.connection.failure is not None:
                        return
                    await running.diagnosed.wait()
        except TimeoutError:
            log.debug("%s published no diagnostics for some documents", self.spec.name)

    async def request(
        self, running: Running, method: str, params: object, *, seconds: float | None = None
    ) -> Any:
        """The answer of `running` to one request; a server that has gone silent is ended."""
        connection = running.connection
        before = connection.received
        self._requests += 1
        self._busy += 1
        limit = self._limits.request if seconds is None else min(seconds, self._limits.request)
        try:
            return await connection.request(method, params, seconds=limit)
        except LSPTimeoutError:
            if connection.received == before and limit >= self._limits.request:
                self._begin_end(running, "it stopped answering", crashed=True)
            raise
        finally:
            self._busy -= 1
            self._used = time.monotonic()

    async def close(self) -> None:
        """Stop the server; it is not started again."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._running is not None:
            await self._end(self._running, "", crashed=False)
        for task in self._watching:
            task.cancel()
        # An end that has begun is waited for: cut short, it would leave the process behind.
        await asyncio.gather(*self._watching, *self._ending, return_exceptions=True)

    # Starting

    async def _start(self, snapshot: Snapshot, read: Callable[[str], str | None]) -> Running:
        from foldline.backends.lsp.process import ServerProcess

        name = self.spec.name
        self._starts += 1
        process = await ServerProcess.start(name, self.command, cwd=self.root)
        # These imports take half a second where nothing else of LSP is used: the server starts
        # meanwhile.
        from lsprotocol import types

        from foldline.backends.lsp.connection import Connection
        from foldline.backends.lsp.documents import Follower, OpenDocuments
        from foldline.backends.lsp.handshake import (
            answer_requests,
            initialize_params,
            position_encoding,
        )
        from foldline.backends.lsp.readiness import ReadyWatch

        connection = Connection(name, process)
        try:
            ready = ReadyWatch(self.spec, connection, self._limits)
            answer_requests(connection, self.spec, self.root)
            answer = await connection.request(
                types.INITIALIZE,
                initialize_params(self.spec, self.root),
                seconds=self._limits.start,
            )
            if not isinstance(answer, dict):
                raise LSPStartError("its answer to initialize is no object", name)
            documents = OpenDocuments(
                self._workspace, connection.notify, self._limits.open_documents
            )
            follower = Follower(self.spec, documents, connection.notify)
            running = Running(
                connection,
                ready,
                documents,
                follower,
                initialized=answer,
                encoding=position_encoding(answer),
            )
            self._collect_diagnostics(running)
            connection.notify(types.INITIALIZED, types.InitializedParams())
            follower.begin(snapshot, read)
            ready.begin()
        except BaseException:
            await asyncio.shield(connection.close(self._limits.grace))
            raise
        return running

    def _started(self, task: asyncio.Task[Running]) -> None:
        self._starting = None
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._crashed(str(error))
            return
        self._running = task.result()
        self._problem = ""
        self.generation += 1
        self._spawn(self._watch(self._running), self._watching)
        self._spawn(self._await_end(self._running), self._watching)

    def _check_backoff(self) -> None:
        left = self._retry_at - time.monotonic()
        if left > 0:
            raise LSPUnavailableError(
                f"is left alone for {left:.0f} s more: {self._problem}", self.spec.name
            )

    def _collect_diagnostics(self, running: Running) -> None:
        def take(params: Any) -> None:
            uri, found = params.get("uri"), params.get("diagnostics")
            if isinstance(uri, str) and isinstance(found, list):
                running.diagnostics[uri] = found
                running.documents.unread.discard(uri)
                running.diagnosed.set()
                running.diagnosed = asyncio.Event()

        running.connection.on("textDocument/publishDiagnostics", take)

    # Ending

    async def _await_end(self, running: Running) -> None:
        await running.connection.ended()
        if self._running is running:
            failure = running.connection.failure
            crashed = isinstance(failure, LSPDiedError | LSPProtocolError)
            self._begin_end(running, str(failure), crashed=crashed)

    def _begin_end(self, running: Running, problem: str, *, crashed: bool) -> None:
        self._spawn(self._end(running, problem, crashed=crashed), self._ending)

    async def _end(self, running: Running, problem: str, *, crashed: bool) -> None:
        if self._running is not running:
            return
        self._running = None
        self.memory = 0
        self.generation += 1
        running.ready.stop()
        running.diagnosed.set()
        if crashed:
            if time.monotonic() - running.started > self._limits.healthy:
                self._crashes = 0
            self._crashed(problem)
        else:
            self._problem = problem
        await running.connection.close(self._limits.grace, problem)

    def _crashed(self, problem: str) -> None:
        limits = self._limits
        self._problem = problem
        self._crashes += 1
        now = time.monotonic()
        self._is_down = self._crashes >= limits.crashes
        if self._is_down:
            self._crashes = 0
            self._retry_at = now + limits.down
            log.warning(
                "%s failed %s times and is left alone for %.0f s; answers come from syntax trees "
                "alone: %s",
                self.spec.name,
                limits.crashes,
                limits.down,
                problem,
            )
            return
        step = min(self._crashes, len(limits.backoff)) - 1
        self._retry_at = now + (limits.backoff[step] if limits.backoff else 0.0)
        log.info("%s failed: %s", self.spec.name, problem)

    async def _watch(self, running: Running) -> None:
        """End the server when nobody needs it, or it holds too much memory."""
        from foldline.backends.lsp.memory import tree_memory

        while self._running is running:
            await asyncio.sleep(self._limits.watch)
            pid = running.connection.process.pid
            if pid is not None:
                self.memory = await asyncio.to_thread(tree_memory, pid)
            if self.memory > self._limits.memory:
                problem = f"it held {self.memory >> 20:,} MiB and was restarted"
                self._begin_end(running, problem, crashed=True)
                return
            if not self._busy and time.monotonic() - self._used > self._limits.idle:
                self._begin_end(running, "", crashed=False)
                return

    def _spawn(self, work: Coroutine[object, object, None], group: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        group.add(task)
        task.add_done_callback(group.discard)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, LSPError):
            log.error("%s: internal failure", self.spec.name, exc_info=error)
