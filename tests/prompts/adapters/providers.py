"""A provider on loopback: answers from a list, keeps the requests, misbehaves on demand."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeVar

from tests.loopback import LoopbackServer

Json = dict[str, Any]


@dataclass
class Reply:
    """One answer: a whole body, or the pieces of a stream."""

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: list[str] | None = None
    cut: bool = False
    """Break the connection after the body or the pieces, before the end that was announced."""
    drip: bool = False
    """Go on sending spaces for as long as somebody reads."""
    hang: bool = False
    """Say nothing until the test is over."""


class Provider:
    """The server and what it was asked."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[Json] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.over = threading.Event()
        self.lingers = threading.Event()
        """Set once an answer hangs or drips."""
        self.readers_gone = threading.Event()
        handler = type("Handler", (_Handler,), {"provider": self})
        self.server = LoopbackServer(handler)
        self.url = self.server.url

    def will(self, *replies: Reply) -> None:
        self.replies.extend(replies)

    def next_reply(self) -> Reply:
        """The answer to the last of the requests."""
        if not self.replies:
            return Reply({"error": {"message": "nothing left", "type": "test"}}, 418)
        return self.replies.pop(0)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers["content-length"])
        self.requests.append(json.loads(handler.rfile.read(length)))
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        self.paths.append(handler.path)
        reply = self.next_reply()
        if reply.hang:
            self.lingers.set()
            self.over.wait(30)
            handler.close_connection = True
            return
        try:
            _send(handler, reply, self._dripping(handler) if reply.drip else None)
        except OSError:
            # Before all that was to come, too.
            self.readers_gone.set()

    def _dripping(self, handler: BaseHTTPRequestHandler) -> Callable[[], None]:
        def drip() -> None:
            try:
                while not self.over.wait(0.01):
                    handler.wfile.write(b"1\r\n \r\n")
                    handler.wfile.flush()
                    self.lingers.set()
            except OSError:
                self.readers_gone.set()

        return drip


ProviderT = TypeVar("ProviderT", bound=Provider)


@contextlib.contextmanager
def serving(made: ProviderT) -> Iterator[ProviderT]:
    """The provider, which answers until the end of the context."""
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.over.set()
        made.server.shutdown()
        thread.join()
        made.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Provider

    def do_POST(self) -> None:
        self.provider.answer(self)

    def log_message(self, *_: object) -> None:
        pass


def _send(
    handler: BaseHTTPRequestHandler, reply: Reply, drip: Callable[[], None] | None = None
) -> None:
    streamed = reply.pieces is not None or drip is not None
    body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
    data = body.encode()
    handler.send_response(reply.status)
    kind = "text/event-stream" if reply.pieces is not None else "application/json"
    for name, value in {
        "content-type": kind,
        "x-request-id": "req_1",
        "request-id": "req_1",
    }.items():
        if name not in reply.headers:
            handler.send_header(name, value)
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    if streamed:
        handler.send_header("transfer-encoding", "chunked")
    else:
        handler.send_header("content-length", str(len(data) + (100 if reply.cut else 0)))
    handler.end_headers()
    if not streamed:
        handler.wfile.write(data)
    for piece in reply.pieces or ():
        encoded = piece.encode()
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(encoded), encoded))
        handler.wfile.flush()
    if drip is not None:
        drip()
    elif streamed and not reply.cut:
        handler.wfile.write(b"0\r\n\r\n")
    if reply.cut or drip is not None:
        handler.close_connection = True
        with contextlib.suppress(OSError):
            handler.connection.shutdown(socket.SHUT_RDWR)
