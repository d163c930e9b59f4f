"""How the server is reached: over its standard streams, or over TCP."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING

from foldline.ide.lifecycle import exit_with_parent
from foldline.ide.standard_streams import QueuedWriter, claim_standard_streams
from foldline.server.handshake import greet

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable

    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)


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
        try:
            server.start_io(greeting.stream, writer)
        except (OverflowError, ValueError, MemoryError) as error:
            log.error("Where a message ends cannot be told any more: %s", error)
        finally:
            server.close()
    return 0 if server.protocol.is_shut_down else 1


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

    from pygls.io_ import run_async

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
            asyncio.IncompleteReadError,
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
