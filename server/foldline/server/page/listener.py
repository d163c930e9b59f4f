"""The HTTP server inside this process: one socket on the loopback, at a port that is free."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
MAX_CONNECTIONS = 64
MAX_HEADER_BYTES = 1 << 14
CLOSE_SECONDS = 1


class Listener:
    """Serves what `create_app` makes for this listener's host and port, until it is closed."""

    def __init__(self, create_app: Callable[[str], ASGIApp]) -> None:
        listening = socket.create_server((LOOPBACK, 0))
        self.authority = f"{LOOPBACK}:{listening.getsockname()[1]}"
        self._server = _Server(
            uvicorn.Config(
                create_app(self.authority),
                http="h11",
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
        """Stop listening soon; answers that have begun get a second to end."""
        self._server.should_exit = True

    async def stop(self) -> None:
        """Stop listening, and wait until all answers have ended."""
        self.close()
        await asyncio.wait({self._task})


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process that this server is only a part of."""
        yield


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("The preview's page is not served any more", exc_info=error)
