"""An HTTP server inside this process, whose connections can't be held open without a request."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from starlette.types import ASGIApp
    from uvicorn.config import LifespanType
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

MAX_HEADER_BYTES = 1 << 14


class EmbeddedServer(uvicorn.Server):
    """Serves an app until its attribute `should_exit` is set.

    Beyond the `most` connections, more get status 503. Responses in progress may take
    `close_seconds` then. With a lifespan, the app has a start and an end of its own.
    """

    def __init__(
        self,
        app: ASGIApp,
        connection: type[BoundedConnection],
        *,
        most: int,
        close_seconds: int,
        lifespan: LifespanType = "off",
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=connection,
                ws="none",
                lifespan=lifespan,
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=most,
                h11_max_incomplete_event_size=MAX_HEADER_BYTES,
                timeout_keep_alive=int(connection.head_seconds),
                timeout_graceful_shutdown=close_seconds,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process that embeds this server."""
        yield


class BoundedConnection(H11Protocol):
    """A connection that is closed if a request's head takes too long.

    If too many connections are idle, the oldest is closed: other programs on this machine can't
    keep a browser out, however many connections they open.

    Attributes:
        head_seconds: How long a head may take, from the connection or the last response on.
        max_waiting: The connections that may be idle; only an admitted client can keep one open
            for longer.
    """

    head_seconds: ClassVar[float] = 5.0
    max_waiting: ClassVar[int] = 16
    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # As in the base.
        super().connection_made(transport)
        # asyncio does it for sockets that name their protocol, which `create_server` leaves open;
        # without it the body of an answer waits 40 ms for the client to confirm the head.
        connected: socket.socket = transport.get_extra_info("socket")
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch_head()
        waiting = {
            connection: connection.deadline.when()
            for connection in self.connections
            if isinstance(connection, BoundedConnection) and connection.deadline is not None
        }
        if len(waiting) > self.max_waiting:
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
            self.deadline = self.loop.call_later(self.head_seconds, self.give_up)

    def _stop_waiting(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()
