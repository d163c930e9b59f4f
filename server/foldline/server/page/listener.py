"""The embedded HTTP server: one socket on the loopback, at a free port."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
MAX_CONNECTIONS = 64
# Of these, the ones that may be idle; only an admitted browser can keep one open for longer.
MAX_WAITING = 16
HEAD_SECONDS = 5.0
MAX_HEADER_BYTES = 1 << 14
CLOSE_SECONDS = 1


class Listener:
    """Serves the app that `create_app` returns for this host and port, until closed."""

    def __init__(self, create_app: Callable[[str], ASGIApp]) -> None:
        listening = socket.create_server((LOOPBACK, 0))
        self.authority = f"{LOOPBACK}:{listening.getsockname()[1]}"
        self._server = _Server(
            uvicorn.Config(
                create_app(self.authority),
                http=_Connection,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=MAX_CONNECTIONS,
                h11_max_incomplete_event_size=MAX_HEADER_BYTES,
                timeout_graceful_shutdown=CLOSE_SECONDS,
            )
        )
        self._task = asyncio.create_task(self._server.serve(sockets=[listening]))
        self._task.add_done_callback(_log_failure)

    def close(self) -> None:
        """Stop listening soon; responses in progress get a second to finish."""
        self._server.should_exit = True

    async def stop(self) -> None:
        """Stop listening, and wait until all responses have finished."""
        self.close()
        await asyncio.wait({self._task})


class _Connection(H11Protocol):
    """A connection that is closed if a request's head takes too long.

    If too many connections are idle, the oldest is closed: other programs on this machine can't
    keep a browser out, however many connections they open.
    """

    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # As in the base.
        super().connection_made(transport)
        self._watch_head()
        waiting = {
            connection: connection.deadline.when()
            for connection in self.connections
            if isinstance(connection, _Connection) and connection.deadline is not None
        }
        if len(waiting) > MAX_WAITING:
            min(waiting, key=lambda connection: waiting[connection]).give_up()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def _watch_head(self) -> None:
        """Start the timer for the next head, or stop it once the head has arrived."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._stop_waiting()
        elif self.deadline is None and not self.transport.is_closing():
            self.deadline = self.loop.call_later(HEAD_SECONDS, self.give_up)

    def _stop_waiting(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process that embeds this server."""
        yield


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("The server of preview pages has failed", exc_info=error)
