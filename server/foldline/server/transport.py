"""How the server is reached: over its standard streams, or over TCP."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING, cast

from foldline.ide.lifecycle import end_process, exit_with_parent
from foldline.ide.standard_streams import QueuedWriter, claim_standard_streams
from foldline.server.handshake import greet

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable
    from typing import BinaryIO

    from pygls.io_ import AsyncReader, AsyncWriter, Writer

    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)

_END_SECONDS = 3.0


def serve_stdio(create_server: Callable[[], FoldlineServer]) -> int:
    """Serve one client over standard input and output until it leaves.

    Its `initialize` is answered before `create_server` is called, which may load what it needs.

    Returns:
        The exit status: 0 after `shutdown` and `exit`, 1 when the client left without them.
    """
    stdin, stdout = claim_standard_streams()
    exit_with_parent()
    with closing(QueuedWriter(stdout)) as writer:
        greeting = greet(stdin, writer)
        server = create_server()
        server.protocol.expect(greeting)

        import asyncio

        from pygls.io_ import StdinAsyncReader, StdoutWriter

        stream = _Watched(greeting.stream, lambda: _status(server))
        reader = StdinAsyncReader(cast("BinaryIO", stream), server.thread_pool)
        try:
            asyncio.run(_serve(server, reader, StdoutWriter(cast("BinaryIO", writer))))
        except (KeyboardInterrupt, SystemExit):
            pass
        except BrokenPipeError as error:
            log.error("The client reads no more answers: %s", error)
        except (OverflowError, ValueError, MemoryError) as error:
            log.error("Where a message ends cannot be told any more: %s", error)
        finally:
            server.shutdown()  # type: ignore[no-untyped-call]  # Untyped in pygls.
    return _status(server)


async def _serve(server: FoldlineServer, reader: AsyncReader, writer: AsyncWriter | Writer) -> None:
    """Answer one client until it leaves."""
    from pygls.io_ import run_async

    server.protocol.set_writer(writer)
    try:
        await run_async(
            stop_event=threading.Event(),
            reader=reader,
            protocol=server.protocol,
            error_handler=server.report_server_error,
        )
    finally:
        # Here, and not later: only a running event loop can close what it has open.
        await server.stop()


def _status(server: FoldlineServer) -> int:
    return 0 if server.protocol.is_shut_down else 1


class _Watched:
    """A client's bytes; once they have ended, so has this process a few seconds later.

    By itself it may wait for ever: asyncio awaits the start of a subprocess that is cancelled.
    What was started ends when its standard input does.
    """

    def __init__(self, stream: BinaryIO, status: Callable[[], int]) -> None:
        self._stream = stream
        self._status = status

    def readline(self) -> bytes:
        """Return the next line; nothing at the end."""
        return self._seen(self._stream.readline())

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; nothing at the end."""
        data = self._stream.read(size)
        return self._seen(data) if size else data

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def _seen(self, data: bytes) -> bytes:
        if not data:
            timer = threading.Timer(_END_SECONDS, lambda: end_process(self._status()))
            timer.daemon = True
            timer.start()
        return data


def serve_tcp(create_server: Callable[[], FoldlineServer], host: str, port: int) -> int:
    """Serve any number of clients over TCP, each with a server of its own, until interrupted."""
    import asyncio

    try:
        asyncio.run(_listen(create_server, host, port))
    except KeyboardInterrupt:
        return 0
    return 0


async def _listen(create_server: Callable[[], FoldlineServer], host: str, port: int) -> None:
    import asyncio

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            await _serve(create_server(), reader, writer)
        except (
            SystemExit,
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
        print(  # noqa: T201  # Whoever asked for port 0 has to learn the port.
            "foldline listens on {}:{}".format(*socket.getsockname()[:2]),
            file=sys.stderr,
            flush=True,
        )
    async with listener:
        await listener.serve_forever()
