"""Answers `initialize` before the libraries behind the server are loaded.

Editors wait for this answer, and loading takes ten times as long as what it needs. The answer to
the most capable client is in `handshake.json`, which `server/make_handshake.py` makes of pygls'
answer, and a few capabilities decide what others get. That file also has the type of the request:
only one that pygls is sure to accept is answered here.

pygls then reads the same bytes from the start, and its own answer isn't sent.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Mapping

FACTS = Path(__file__).with_name("handshake.json")

ENCODINGS = ("utf-8", "utf-16", "utf-32")
LONGEST_HEADER = 1 << 10
LONGEST_BODY = 1 << 20
MOST_NESTED = 600
_LENGTH = re.compile(rb"Content-Length: (\d{1,7})\r\n")
_INTEGERS = {"int": -(1 << 31), "uint": 0}


@dataclass(frozen=True, slots=True)
class Greeting:
    """The beginning of a session.

    Attributes:
        stream: The client's bytes, from the first one.
        answered: The id of the `initialize` request that has its answer; None if it hasn't.
    """

    stream: BinaryIO
    answered: int | str | None


def greet(stdin: BinaryIO, stdout: BinaryIO) -> Greeting:
    """Wait for the first message, and answer it if it is an `initialize` without oddities."""
    read, body = _first_message(stdin)
    facts = json.loads(FACTS.read_bytes())
    request = _request(body, facts["request"])
    if request is not None:
        stdout.write(_answer(facts["result"], request))
    return Greeting(_Replay(read, stdin), None if request is None else request["id"])


def fits(value: object, kind: Any) -> bool:
    """Return True if a JSON value is of a type as `handshake.json` writes them.

    A type is a name, or an object of the types of the members that are known; a name that ends in
    `!` is required. `["list", type]` is an array, `["map", type]` an object of members with any
    name, `["one", type, …]` one of several types, and `["of", value, …]` one of these values.
    """
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(
            fits(value.get(name.rstrip("!")), of)
            if name.endswith("!") or value.get(name) is not None
            else True
            for name, of in kind.items()
        )
    if isinstance(kind, list):
        form, *kinds = kind
        if form == "list":
            return isinstance(value, list) and all(fits(item, kinds[0]) for item in value)
        if form == "map":
            return isinstance(value, dict) and all(fits(item, kinds[0]) for item in value.values())
        if form == "one":
            return any(fits(value, one) for one in kinds)
        return type(value) in (int, str) and value in kinds
    if kind in _INTEGERS:
        return type(value) is int and _INTEGERS[kind] <= value < 1 << 31
    return kind == "any" or type(value) is {"bool": bool, "str": str}[kind]


def _first_message(stream: BinaryIO) -> tuple[bytes, bytes]:
    """Return all that was read, and the body of the message, which is empty if something is odd."""
    head, length = b"", 0
    while line := stream.readline(LONGEST_HEADER):
        head += line
        if line == b"\r\n" and 0 < length <= LONGEST_BODY:
            body = stream.read(length)
            return head + body, body
        if not length and (match := _LENGTH.fullmatch(line)):
            length = int(match[1])
        elif not (line.startswith(b"Content-Type: ") and line.endswith(b"\r\n")):
            break
    return head, b""


def _request(body: bytes, kind: Any) -> dict[str, Any] | None:
    """Return the message if it is of this type."""
    # Of what is nested deeper, it depends on the caller's own depth if it can be read.
    if body.count(b"{") + body.count(b"[") > MOST_NESTED:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return message if fits(message, kind) else None


def _answer(result: dict[str, Any], request: Mapping[str, Any]) -> bytes:
    """Return the answer to a valid request; `result` is the one for the most capable client."""
    client, server = request["params"]["capabilities"], result["capabilities"]
    encodings = _get(client, "general", "positionEncodings") or ()
    server["positionEncoding"] = next((one for one in encodings if one in ENCODINGS), "utf-16")
    for name in ("willSave", "willSaveWaitUntil"):
        if _get(client, "textDocument", "synchronization", name) is None:
            del server["textDocumentSync"][name]
    if not _get(client, "textDocument", "rename", "prepareSupport"):
        server["renameProvider"] = True
    body = json.dumps({"id": request["id"], "jsonrpc": "2.0", "result": result})
    return (
        f"Content-Length: {len(body)}\r\n"
        f"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{body}"
    ).encode("ascii")


def _get(value: Any, *names: str) -> Any:
    for name in names:
        value = (value or {}).get(name)
    return value


class _Replay(io.BytesIO):
    """A stream that begins with what was read of it already."""

    def __init__(self, read: bytes, rest: BinaryIO) -> None:
        super().__init__(read)
        self._rest = rest

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        return line if line.endswith(b"\n") else line + self._rest.readline()

    def read(self, size: int | None = -1, /) -> bytes:
        start = super().read(size)
        return start if size == len(start) else start + self._rest.read((size or 0) - len(start))
