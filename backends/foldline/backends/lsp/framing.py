"""Messages from a byte stream that may hold anything."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.headers import Header
from foldline.backends.base.waiting import in_thread
from foldline.backends.errors import LSPProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
