"""JSON-RPC with a server that may break every rule of it.

Results stay as they came: forced into types, one odd field in one of a thousand locations would
cost all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import time
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any

from foldline.backends.base.headers import Header
from foldline.backends.base.waiting import in_thread
from foldline.backends.errors import LSPError, LSPProtocolError, LSPResponseError

log = logging.getLogger(__name__)

# A server that does not read its input is as good as dead.
MAX_UNSENT_BYTES = 64 << 20
_METHOD_NOT_FOUND = -32601
_INTERNAL_ERROR = -32603


class JsonRpcClient:
    """Sends requests and notifications to one server, and answers its own."""

    def __init__(self, name: str, stream: asyncio.StreamWriter) -> None:
        self.name = name
        self._stream = stream
        self._numbers = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._last_answer = 0.0
        self._sent = 0
        self.strays = 0
        """The number of answers to requests that were never sent."""
        # Abandoned requests; cleared when the server next answers.
        self._given_up: set[int] = set()
        self._handlers: dict[str, Callable[[Any], object]] = {}

    @property
    def pending(self) -> int:
        """The number of requests that wait for their answer."""
        return len(self._pending)

    @property
    def silence(self) -> float:
        """The seconds since the last answer, or since it owes one; 0 where it owes none."""
        owes = self._pending or self._given_up
        return time.monotonic() - self._last_answer if owes else 0.0

    def on(self, method: str, handler: Callable[[Any], object]) -> None:
        """Call `handler` with the params of each message of `method`; it returns the result."""
        self._handlers[method] = handler

    def send(self, method: str, params: object) -> tuple[int, asyncio.Future[Any]]:
        """Send a request; the caller drops its number when it stops waiting.

        Raises:
            BrokenPipeError: The server's input is closed, or the server doesn't read it.
        """
        number = self._sent = next(self._numbers)
        self._write({"id": number, "method": method, **_params(params)})
        if not (self._pending or self._given_up):
            self._last_answer = time.monotonic()
        future = self._pending[number] = asyncio.get_running_loop().create_future()
        return number, future

    def notify(self, method: str, params: object) -> None:
        """Send a notification; a server that is going down misses it."""
        with contextlib.suppress(BrokenPipeError):
            self._write({"method": method, **_params(params)})

    def drop(self, number: int) -> bool:
        """Forget a request, and return whether it was still pending."""
        future = self._pending.pop(number, None)
        if future is None:
            return False
        future.cancel()
        self._given_up.add(number)
        return True

    def fail_all(self, error: LSPError) -> None:
        """Fail every pending request at once."""
        pending, self._pending = self._pending, {}
        for future in pending.values():
            if not future.done():
                # Each waiter raises its own: they run in several threads.
                future.set_exception(copy(error))

    def receive(self, message: Mapping[str, object]) -> None:
        """Handle one message of the server; one that isn't JSON-RPC is dropped with a log line."""
        method = message.get("method")
        if isinstance(method, str):
            outcome = self._handle(method, message.get("params"))
            if "id" in message:
                with contextlib.suppress(BrokenPipeError):
                    self._write({"id": message["id"], **outcome})
        elif "id" in message:
            self._settle(message["id"], message)
        else:
            log.debug("%s: a message is neither a request nor a response", self.name)

    def _handle(self, method: str, params: object) -> dict[str, object]:
        """Run the handler of `method`; returns the result or the error to reply with."""
        handler = self._handlers.get(method)
        if handler is None:
            return _error(_METHOD_NOT_FOUND, f"method not found: {method}")
        try:
            return {"result": handler(params)}
        except Exception as error:
            log.debug("%s: %s failed", self.name, method, exc_info=True)
            return _error(_INTERNAL_ERROR, f"{type(error).__name__}: {error}")

    def _settle(self, number: object, message: Mapping[str, object]) -> None:
        """Give a pending request its result or error."""
        # `True` and `1.0` equal 1 as keys, and aren't its number.
        ours = number if type(number) is int else 0
        future = self._pending.pop(ours, None)
        if future is not None or ours in self._given_up:
            self._last_answer = time.monotonic()
            self._given_up.clear()
        error = message.get("error")
        if future is None or future.done():
            self.strays += not 0 < ours <= self._sent
            log.debug("%s: a response to %r, which isn't pending", self.name, number)
            return
        if error is None:
            future.set_result(message.get("result"))
        else:
            fields = error if isinstance(error, dict) else {}
            code = fields.get("code")
            text = str(fields.get("message", error))
            future.set_exception(LSPResponseError(text, code=code if isinstance(code, int) else 0))

    def _write(self, message: Mapping[str, object]) -> None:
        if self._stream.is_closing():
            raise BrokenPipeError("the server's input is closed")
        if self._stream.transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            raise BrokenPipeError("the server does not read its input")
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


def _params(params: object) -> dict[str, object]:
    return {} if params is None else {"params": params}


def _error(code: int, message: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message}}


MAX_MESSAGE_BYTES = 64 << 20
_BIG = 1 << 20


async def read_message(reader: asyncio.StreamReader) -> Mapping[str, object] | None:
    """The next message, or None where the stream ends between two.

    A few lines that aren't headers are skipped.

    Raises:
        LSPProtocolError: The stream holds no messages, or one that is too large.
    """
    length = await _read_length(reader)
    if length is None:
        return None
    try:
        body = await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise LSPProtocolError(
            f"the output ended {length - len(error.partial):,} bytes before the end of a message"
        ) from None
    try:
        # A large message is parsed elsewhere, so that the answers of other servers go on.
        message = json.loads(body) if length < _BIG else await in_thread(partial(json.loads, body))
    except (ValueError, RecursionError) as error:
        raise LSPProtocolError(f"a message is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise LSPProtocolError("a message is not a JSON object")
    return message


async def _read_length(reader: asyncio.StreamReader) -> int | None:
    header = Header(MAX_MESSAGE_BYTES)
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise LSPProtocolError("a line of a header has no end") from None
        except asyncio.IncompleteReadError as error:
            if header.length is None and not error.partial:
                return None
            raise LSPProtocolError("the output ended within a header") from None
        try:
            length = header.add(line)
        except ValueError as error:
            raise LSPProtocolError(str(error)) from None
        if length is not None:
            return length
