"""How the server is reached: over its standard streams, or over TCP."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import queue
import sys
import threading
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pygls.io_ import run_async

from foldline.server.lifecycle import exit_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import ReadableBuffer

    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)


def serve_stdio(create_server: Callable[[], FoldlineServer]) -> int:
    """Serve one client over standard input and output until it leaves.

    Returns:
        The exit status: 0 after `shutdown` and `exit`, 1 when the client left without them.
    """
    stdin, stdout = claim_standard_streams()
    server = create_server()
    writer = QueuedWriter(stdout)
    exit_with_parent()
    try:
        server.start_io(stdin, writer)
    except (OverflowError, ValueError, MemoryError) as error:
        log.error("Where a message ends cannot be told any more: %s", error)
    finally:
        server.close()
        writer.close()
    return 0 if server.protocol.is_shut_down else 1


def serve_tcp(create_server: Callable[[], FoldlineServer], host: str, port: int) -> int:
    """Serve any number of clients over TCP, each with a server of its own, until interrupted."""
    try:
        asyncio.run(_listen(create_server, host, port))
    except KeyboardInterrupt:
        return 0
    return 0


def claim_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """The streams to the client, which from now on nothing else in this process can reach.

    Whatever prints later, a library or a child, prints to standard error, and whoever reads
    standard input finds it empty: the protocol's bytes stay its own.
    """
    sys.stdout.flush()
    stdin = os.fdopen(os.dup(0), "rb")
    stdout = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return stdin, stdout


class QueuedWriter(io.BytesIO):
    """A stream that never makes the event loop wait for a client that does not read."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._drain, name="lsp-writer", daemon=True)
        self._thread.start()

    def write(self, data: ReadableBuffer) -> int:
        self._queue.put(bytes(data))
        return memoryview(data).nbytes

    def close(self) -> None:
        """Write what is waiting, for two seconds at the most, and close the stream."""
        if not self.closed:
            self._queue.put(None)
            self._thread.join(timeout=2)
            super().close()

    def _drain(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                self._stream.write(data)
                self._stream.flush()
        except OSError as error:
            log.warning("The client stopped reading: %s", error)


async def _listen(create_server: Callable[[], FoldlineServer], host: str, port: int) -> None:
    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        server = create_server()
        server.protocol.set_writer(writer)
        try:
            await run_async(
                stop_event=threading.Event(),
                reader=reader,
                protocol=server.protocol,
                error_handler=server.report_server_error,
            )
        except (
            SystemExit,
            IncompleteReadError,
            ConnectionError,
            ValueError,
            OverflowError,
        ) as error:
            # `exit` ends this client's server, not those of the others.
            log.info("A client left: %r", error)
        finally:
            server.close()
            writer.close()

    listener = await asyncio.start_server(serve, host, port)
    for socket in listener.sockets:
        print(  # noqa: T201  # Whoever asked for port 0 has to learn the port.
            "foldline listens on {}:{}".format(*socket.getsockname()[:2]),
            file=sys.stderr,
            flush=True,
        )
    async with listener:
        await listener.serve_forever()
