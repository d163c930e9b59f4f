"""The embedded HTTP server: one socket on the loopback, at a free port."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING

from foldline.server.http_server import BoundedConnection, EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
MAX_CONNECTIONS = 64
CLOSE_SECONDS = 1


class Listener:
    """Serves the app that `create_app` returns for this host and port, until closed."""

    def __init__(self, create_app: Callable[[str], ASGIApp]) -> None:
        listening = socket.create_server((LOOPBACK, 0))
        self.authority = f"{LOOPBACK}:{listening.getsockname()[1]}"
        self._server = EmbeddedServer(
            create_app(self.authority),
            BoundedConnection,
            most=MAX_CONNECTIONS,
            close_seconds=CLOSE_SECONDS,
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


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("The server of preview pages has failed", exc_info=error)
