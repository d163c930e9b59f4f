"""Messages over standard input and output; every request is answered exactly once.

The SDK's own reader drops what it can't parse, without an answer: a string with half a surrogate
pair, deep nesting, an id of the wrong type, a batch, text that isn't JSON. A client would wait for
its own time limit.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from foldline.agent.mcp.handshake import END_BYTES, MAX_LINE_BYTES, Line, refuse_constant
from foldline.backends.base.waiting import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from foldline.agent.mcp.handshake import Opening
    from foldline.ide.standard_streams import QueuedWriter

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# A message's members other than its params are short, so the id is near one end.
_ID = r'"id"\s*:\s*(-?[0-9]{1,100}|"(?:[^"\\]|\\.)*")\s*'
_SHORT = r'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*'
_HEAD_ID = re.compile(rf"\s*\{{\s*(?:{_SHORT},\s*)*{_ID}[,}}]")
_TAIL_ID = re.compile(rf"[{{,]\s*{_ID}(?:,\s*{_SHORT})*\}}\s*\Z")


class Refusal(NamedTuple):
    """The error response to a message; one per id of a batch."""

    code: int
    message: str
    ids: tuple[object, ...] = (None,)

    def answers(self) -> list[dict[str, object]]:
        """Return the error as JSON-RPC responses."""
        error = {"code": self.code, "message": self.message}
        return [{"jsonrpc": "2.0", "id": id_, "error": error} for id_ in self.ids]


@asynccontextmanager
async def streams_of(
    opening: Opening, writer: QueuedWriter
) -> AsyncIterator[
    tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]
]:
    """Open the streams of messages from and to the client, for an SDK session."""
    arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage]()
    lines, read = anyio.create_memory_object_stream[Line]()
    receiving = anyio.CancelScope()

    async def receive() -> None:
        with receiving:
            async with arrived, read:
                async for line in read:
                    message = parse(line)
                    if isinstance(message, Refusal):
                        for answer in message.answers():
                            writer.write(json.dumps(answer).encode() + b"\n")
                    elif message is not None:
                        with suppress(anyio.BrokenResourceError):  # The session has ended.
                            await arrived.send(SessionMessage(message))

    async def send() -> None:
        answered = opening.answered
        async with leaving:
            async for message in leaving:
                if answered is not None and getattr(message.message, "id", None) == answered:
                    # The session's own answer to `initialize`, which the client has.
                    answered = None
                    continue
                writer.write(serialize(message.message) + b"\n")

    # A daemon: a read that never returns must not delay the exit of the process.
    reader = threading.Thread(
        target=_pass_on, args=(opening, lines, asyncio.get_running_loop()), daemon=True
    )
    reader.start()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            tasks.start_soon(send)
            yield incoming, outgoing
            receiving.cancel()
            outgoing.close()
    finally:
        await in_thread(writer.close)


def parse(line: Line) -> types.JSONRPCMessage | Refusal | None:
    """Return the message of a line; None if it needs no answer."""
    # Bytes that aren't UTF-8 become U+FFFD. Some shells begin what they write with a BOM.
    text = line.text.decode("utf-8-sig", "replace").strip()
    if line.cut:
        message = f"The message is longer than {MAX_LINE_BYTES} bytes"
        return Refusal(types.INVALID_REQUEST, message, (_find_id(text),))
    if not text:
        return None
    if (request := _validate(text)) and isinstance(request, types.JSONRPCRequest):
        return request
    try:
        return _read(json.loads(text, parse_constant=refuse_constant))
    except RecursionError:
        message = "The message is nested too deep"
        return Refusal(types.INVALID_REQUEST, message, (_find_id(text),))
    except ValueError as error:
        message = f"The message is not JSON: {error}"
        return Refusal(types.PARSE_ERROR, message, (_find_id(text),))


def serialize(message: types.JSONRPCMessage) -> bytes:
    """The message as a line without its end."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        # Half a surrogate pair, as in a file's name. Escaped, a strict client would refuse it.
        plain = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return _LONE_SURROGATE.sub("\ufffd", json.dumps(plain, ensure_ascii=False)).encode()


def _read(data: Any) -> types.JSONRPCMessage | Refusal | None:
    """The message in JSON that the SDK did not read as a request."""
    if isinstance(data, list):
        ids = [item["id"] for item in data if isinstance(item, dict) and "id" in item]
        refused = "The message is a batch, which MCP doesn't have: send one message on each line"
        return Refusal(types.INVALID_REQUEST, refused, tuple(map(_echo, ids)) or (None,))
    if not isinstance(data, dict):
        return Refusal(types.INVALID_REQUEST, "The message is not an object")
    message = _validate(_LONE_SURROGATE.sub("\ufffd", json.dumps(data, ensure_ascii=False)))
    if "method" not in data:
        if "result" in data or "error" in data:
            return message  # A response isn't answered, whatever it is.
        refused = 'The message has no "method"'
    elif "id" not in data:
        return message  # Nor is a notification.
    elif not _is_id(data["id"]):
        refused = "id: is neither a string of whole characters nor an integer"
    elif isinstance(message, types.JSONRPCRequest):
        return message
    else:
        refused = (
            'The message is not a request: "jsonrpc" is "2.0", "method" a string, and "params" an '
            "object, not nested too deep"
        )
    return Refusal(types.INVALID_REQUEST, refused, (_echo(data.get("id")),))


def _validate(text: str) -> types.JSONRPCMessage | None:
    with suppress(ValidationError):
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    return None


def _is_id(id_: object) -> bool:
    return (isinstance(id_, int) and not isinstance(id_, bool)) or (
        isinstance(id_, str) and _LONE_SURROGATE.search(id_) is None
    )


def _echo(id_: object) -> object:
    """Return the id for an error; JSON-RPC has strings, numbers and null."""
    if isinstance(id_, float):
        return id_ if math.isfinite(id_) else None
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


def _find_id(text: str) -> object:
    """Return the id of a message that can't be parsed; None if it isn't near an end of the text."""
    found = _HEAD_ID.match(text[:END_BYTES]) or _TAIL_ID.search(text[-END_BYTES:])
    try:
        return None if found is None else json.loads(found[1])
    except ValueError:
        return None


def _pass_on(
    opening: Opening, lines: MemoryObjectSendStream[Line], loop: asyncio.AbstractEventLoop
) -> None:
    """Pass on lines as they arrive, each after the one before was received."""
    with suppress(RuntimeError, anyio.BrokenResourceError):  # The session has ended.
        for line in opening.lines():
            asyncio.run_coroutine_threadsafe(lines.send(line), loop).result()
        loop.call_soon_threadsafe(lines.close)
