"""Messages from a byte stream that may hold anything."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.errors import LSPProtocolError
from foldline.backends.waiting import in_thread

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_MESSAGE_BYTES = 64 << 20
# Wrappers such as npx write a greeting to standard output. More than this isn't one.
MAX_STRAY_BYTES = 64 << 10
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
    length: int | None = None
    stray = 0
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise LSPProtocolError("a line of a header has no end") from None
        except asyncio.IncompleteReadError as error:
            if length is None and not error.partial:
                return None
            raise LSPProtocolError("the output ended within a header") from None
        text = line.strip()
        if not text:
            if length is not None:
                return length
            stray += len(line)
        else:
            name, _, value = text.partition(b":")
            if name.lower() == b"content-length":
                length = _number(value)
            elif name.lower() != b"content-type":
                stray += len(line)
        if stray > MAX_STRAY_BYTES:
            raise LSPProtocolError("the output is not that of a language server")


def _number(value: bytes) -> int:
    digits = value.strip()
    if not digits.isdigit() or len(digits) > 12:
        raise LSPProtocolError(f"Content-Length is {digits[:40]!r}")
    length = int(digits)
    if length > MAX_MESSAGE_BYTES:
        raise LSPProtocolError(
            f"a message has {length:,} bytes, the limit is {MAX_MESSAGE_BYTES:,}"
        )
    return length
