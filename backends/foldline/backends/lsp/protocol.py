"""JSON-RPC as a client of servers that may break every rule of it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from copy import copy
from typing import TYPE_CHECKING, Any

from lsprotocol.types import METHOD_TO_TYPES, ResponseError, ResponseErrorMessage
from pygls.client import JsonRPCClient
from pygls.protocol import JsonRPCProtocol
from pygls.protocol.json_rpc import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
)

from foldline.backends.errors import LSPError, LSPProtocolError, LSPResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger(__name__)

# A server that does not read its input is as good as dead.
MAX_UNSENT_BYTES = 64 << 20
# pygls logs every message in full.
logging.getLogger("pygls.protocol.json_rpc").setLevel(logging.ERROR)


class _Writer:
    """Hands pygls' messages to the transport, and refuses when the server reads none of them."""

    def __init__(self, name: str, stream: asyncio.StreamWriter) -> None:
        self._name = name
        self._stream = stream

    def write(self, data: bytes) -> None:
        if self._stream.is_closing():
            raise BrokenPipeError("the server's input is closed")
        if self._stream.transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            raise BrokenPipeError("the server does not read its input")
        self._stream.write(data)

    def close(self) -> None:
        self._stream.close()


class _Protocol(JsonRPCProtocol):
    """pygls' protocol, which takes results as they come and keeps track of our requests itself.

    What a server answers is not forced into lsprotocol's types: one odd field in one of a thousand
    locations would cost all of them.
    """

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        self._ids = itertools.count(1)
        self.pending: dict[int, asyncio.Future[Any]] = {}

    def get_message_type(self, method: str) -> Any:
        return METHOD_TO_TYPES.get(method, (None,))[0]

    def structure_message(self, data: dict[str, Any]) -> Any:
        version = str(data.get("jsonrpc"))
        if isinstance(method := data.get("method"), str):
            params = data.get("params")
            if "id" in data:
                return JsonRPCRequestMessage(data["id"], method, version, params)
            return JsonRPCNotification(method, version, params)
        if "id" not in data:
            raise LSPProtocolError("a message is neither a request nor a response")
        error = data.get("error")
        if error is None:
            return JsonRPCResponseMessage(data["id"], version, data.get("result"))
        known = error if isinstance(error, dict) else {}
        code = known.get("code")
        return ResponseErrorMessage(
            error=ResponseError(
                code=code if isinstance(code, int) else 0,
                message=str(known.get("message", error)),
                data=known.get("data"),
            ),
            id=data["id"],
        )

    def ask(self, method: str, params: object) -> tuple[int, asyncio.Future[Any]]:
        """Send a request; the caller drops the pending entry when it stops waiting."""
        number = next(self._ids)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.pending[number] = future
        kind = None if isinstance(params, dict) else self.get_message_type(method)
        kind = kind or JsonRPCRequestMessage
        try:
            self._send_data(kind(id=number, method=method, params=params, jsonrpc=self.VERSION))
        except BaseException:
            self.drop(number)
            raise
        return number, future

    def drop(self, number: int) -> None:
        """Forget a request: an answer that still comes is not waited for."""
        if (future := self.pending.pop(number, None)) is not None:
            future.cancel()

    def fail_all(self, error: LSPError) -> None:
        """Fail every pending request at once."""
        pending, self.pending = self.pending, {}
        for future in pending.values():
            if not future.done():
                # Each waiter raises its own: they run in several threads.
                future.set_exception(copy(error))

    def _handle_response(
        self, msg_id: str | int, result: Any | None = None, error: ResponseError | None = None
    ) -> None:
        future = self.pending.pop(msg_id, None) if isinstance(msg_id, int) else None
        if future is None or future.done():
            # Late, doubled or invented: nobody waits for it.
            log.debug("an answer to %r, which is not pending", msg_id)
        elif error is not None:
            future.set_exception(LSPResponseError(error.message, code=error.code))
        else:
            future.set_result(result)


class LanguageClient(JsonRPCClient):
    """pygls' client over streams that somebody else opened."""

    protocol: _Protocol

    def __init__(self, name: str, stream: asyncio.StreamWriter) -> None:
        from pygls.protocol import default_converter

        super().__init__(_Protocol, default_converter)
        self._name = name
        self.protocol.set_writer(_Writer(name, stream))

    def receive(self, message: Mapping[str, object]) -> None:
        """Take one message of the server; what cannot be understood is dropped with a log line."""
        try:
            self.protocol.handle_message(self.protocol.structure_message(dict(message)))
        except LSPError as error:
            log.debug("%s: %s", self._name, error)

    def send(self, method: str, params: object) -> None:
        """Send a notification; a server that is going down misses it."""
        with contextlib.suppress(BrokenPipeError):
            self.protocol.notify(method, params)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log what went wrong with a request of the server; it has been answered with an error."""
        log.debug("%s: %s", self._name, error)
