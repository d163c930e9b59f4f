"""Serves clients over the standard streams, or over TCP."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING, cast

from foldline.backends.base.headers import LONGEST_LINE, Header
from foldline.ide.lifecycle import end_process, exit_with_parent
from foldline.ide.standard_streams import QueuedWriter, claim_standard_streams

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import AsyncIterator, Callable
    from concurrent.futures import ThreadPoolExecutor
    from typing import BinaryIO

    from pygls.io_ import AsyncWriter, Writer

    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)

LONGEST_MESSAGE = 1 << 30
_END_SECONDS = 3.0
_LOST = "Where a message ends cannot be told any more: %s"


def serve_stdio(create_server: Callable[[], FoldlineServer]) -> int:
    """Serve one client over standard input and output until it leaves.

    A thread may still wait for input afterwards: the caller ends the process.

    Returns:
        The exit status: 0 after `shutdown` and `exit`, 1 when the client left without them.
    """
    stdin, stdout = claim_standard_streams()
    exit_with_parent()
    server = create_server()
    # It stands on the types that have just been loaded.
    from pygls.io_ import StdoutWriter

    with closing(QueuedWriter(stdout)) as writer:
        messages = _messages(stdin, server.thread_pool)
        try:
            asyncio.run(_serve(server, messages, StdoutWriter(cast("BinaryIO", writer)), end=True))
        except (KeyboardInterrupt, SystemExit):
            pass
        except BrokenPipeError as error:
            log.error("The client reads no more answers: %s", error)
        except (OverflowError, ValueError, MemoryError) as error:
            log.error(_LOST, error)
    return _status(server)


def read_message(stream: BinaryIO) -> bytes | None:
    """Wait for the next message, and return it as it came; None at the end of the stream.

    Raises:
        ValueError: Where the message begins and ends can't be told.
    """
    header = Header(LONGEST_MESSAGE, strict=True)
    while line := stream.readline(LONGEST_LINE):
        length = header.add(line)
        if length is not None:
            message = stream.read(length)
            if len(message) < length:
                raise ValueError(f"{length - len(message):,} bytes of a message are missing")
            return message
    return None


async def _messages(stdin: BinaryIO, pool: ThreadPoolExecutor) -> AsyncIterator[bytes]:
    """Yield the client's messages; a thread waits for each."""
    loop = asyncio.get_running_loop()
    while (message := await loop.run_in_executor(pool, read_message, stdin)) is not None:
        yield message


async def _serve(
    server: FoldlineServer,
    messages: AsyncIterator[bytes],
    writer: AsyncWriter | Writer,
    *,
    end: bool = False,
) -> None:
    """Answer one client until it leaves; soon after that, `end` ends the process."""
    server.protocol.set_writer(writer)
    try:
        async for message in messages:
            server.protocol.receive(message)
    finally:
        if end:
            _end_soon(lambda: _status(server))
        # Here, and not later: only a running event loop can close what it has open.
        await server.stop()


def _status(server: FoldlineServer) -> int:
    return 0 if server.protocol.is_shut_down else 1


def _end_soon(status: Callable[[], int]) -> None:
    """End this process a few seconds from now, at the latest.

    By itself it may wait for ever: asyncio awaits the start of a subprocess that is cancelled.
    What was started ends when its standard input does.
    """
    timer = threading.Timer(_END_SECONDS, lambda: end_process(status()))
    timer.daemon = True
    timer.start()


def serve_tcp(create_server: Callable[[], FoldlineServer], host: str, port: int) -> int:
    """Serve any number of clients over TCP, each with a server of its own, until interrupted."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_listen(create_server, host, port))
    return 0


async def _listen(create_server: Callable[[], FoldlineServer], host: str, port: int) -> None:
    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            await _serve(create_server(), _messages_of(reader), writer)
        except (
            SystemExit,
            # At an interrupt; asyncio would log a traceback for each client.
            asyncio.CancelledError,
            asyncio.IncompleteReadError,
            ConnectionError,
            ValueError,
            OverflowError,
        ) as error:
            # `exit` ends this client's server, not those of the others.
            log.info("A client left: %r", error)
        finally:
            writer.close()

    listener = await asyncio.start_server(serve, host, port)
    for socket in listener.sockets:
        print(  # noqa: T201  # With port 0 the user has to learn the port.
            "foldline listens on {}:{}".format(*socket.getsockname()[:2]),
            file=sys.stderr,
            flush=True,
        )
    try:
        async with listener:
            await listener.serve_forever()
    finally:
        _end_soon(lambda: 0)


async def _messages_of(reader: StreamReader) -> AsyncIterator[bytes]:
    """Yield the messages of a client."""
    header = Header(LONGEST_MESSAGE, strict=True)
    while line := await reader.readline():
        length = header.add(line)
        if length is not None:
            yield await reader.readexactly(length)
            header = Header(LONGEST_MESSAGE, strict=True)
