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
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from foldline.ide.standard_streams import QueuedWriter

MAX_LINE_BYTES = 1 << 23
# The part of a longer line that is stored, at either end: enough for its id.
END_BYTES = 1 << 12
_NO_ID = "id: is neither a string of whole characters nor an integer"
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


class Line(NamedTuple):
    """One line of input; if too long, it is `cut` to its two ends."""

    text: bytes
    cut: bool = False


@asynccontextmanager
async def session_streams(
    stdin: BinaryIO, writer: QueuedWriter
) -> AsyncIterator[
    tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]
]:
    """Open the streams of messages from and to the client, for an SDK session."""
    arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage]()

    async def send() -> None:
        async with leaving:
            async for message in leaving:
                writer.write(serialize(message.message) + b"\n")

    # A daemon: a read that never returns must not delay the exit of the process.
    threading.Thread(
        target=_receive,
        args=(stdin, writer, arrived, asyncio.get_running_loop()),
        name="reader",
        daemon=True,
    ).start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        yield incoming, outgoing
        outgoing.close()


def read_line(stream: BinaryIO) -> Line | None:
    """Return the next line; None at EOF. Never stores more than `MAX_LINE_BYTES`."""
    text = stream.readline(MAX_LINE_BYTES + 1)
    if len(text) <= MAX_LINE_BYTES:
        return Line(text) if text else None
    tail = text[-END_BYTES:]
    while not tail.endswith(b"\n") and (part := stream.readline(END_BYTES)):
        tail = (tail + part)[-END_BYTES:]
    return Line(text[:END_BYTES] + tail, cut=True)


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
        named = (request.params or {}).get("name")
        if request.method in ("tools/call", "prompts/get") and not isinstance(named, str):
            message = f'{request.method} needs the "name" of one, a string'
            return Refusal(types.INVALID_PARAMS, message, (request.id,))
        return request
    try:
        return _read(json.loads(text, parse_constant=_refuse_constant))
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
        refused = _NO_ID
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
    match = _HEAD_ID.match(text[:END_BYTES]) or _TAIL_ID.search(text[-END_BYTES:])
    try:
        return None if match is None else json.loads(match[1])
    except ValueError:
        return None


def _refuse_constant(name: str) -> object:
    """Refuse `NaN` and `Infinity`, which Python takes for JSON."""
    raise ValueError(f"{name} is not a number of JSON")


def _receive(
    stdin: BinaryIO,
    writer: QueuedWriter,
    arrived: MemoryObjectSendStream[SessionMessage | Exception],
    loop: asyncio.AbstractEventLoop,
) -> None:
    """Pass on messages, each after the session took the one before, and refuse other lines."""
    with suppress(RuntimeError, anyio.BrokenResourceError):  # The session has ended.
        while (line := read_line(stdin)) is not None:
            message = parse(line)
            if isinstance(message, Refusal):
                for answer in message.answers():
                    writer.write(json.dumps(answer).encode() + b"\n")
            elif message is not None:
                sending = arrived.send(SessionMessage(message))
                asyncio.run_coroutine_threadsafe(sending, loop).result()
        loop.call_soon_threadsafe(arrived.close)
