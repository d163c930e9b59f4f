"""Answers `initialize` before the libraries behind the server are loaded.

Editors wait for this answer, and loading takes ten times as long as what it needs. The answer to
the most capable client is in `handshake.json`, which `server/make_handshake.py` makes of pygls'
answer, and a few capabilities decide what others get. That file also has the type of the request:
only one that pygls is sure to accept is answered here.

pygls then gets the same message, and its own answer isn't sent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from foldline.backends.base.headers import LONGEST_LINE, Header

if TYPE_CHECKING:
    from collections.abc import Mapping

FACTS = Path(__file__).with_name("handshake.json")

ENCODINGS = ("utf-8", "utf-16", "utf-32")
LONGEST_BODY = 1 << 20
LONGEST_MESSAGE = 1 << 30
MOST_NESTED = 600
_INTEGERS = {"int": -(1 << 31), "uint": 0}


@dataclass(frozen=True, slots=True)
class Greeting:
    """The beginning of a session.

    Attributes:
        message: The first message, as it came; None if the client left without one.
        answered: The id of the `initialize` request that has its answer; None if it hasn't.
    """

    message: bytes | None
    answered: int | str | None


def greet(stdin: BinaryIO, stdout: BinaryIO) -> Greeting:
    """Wait for the first message, and answer it if it is an `initialize` without oddities.

    Raises:
        ValueError: As `read_message`.
    """
    message = read_message(stdin)
    facts = json.loads(FACTS.read_bytes())
    request = _request(message or b"", facts["request"])
    if request is not None:
        stdout.write(_answer(facts["result"], request))
    return Greeting(message, None if request is None else request["id"])


def read_message(stream: BinaryIO) -> bytes | None:
    """Wait for the next message, and return it as it came; None at the end of the stream.

    Raises:
        ValueError: Where the message begins and ends can't be told.
    """
    header = Header(LONGEST_MESSAGE, strict=True)
    while line := stream.readline(LONGEST_LINE):
        length = header.add(line)
        if length is not None:
            message = stream.read(length)
            if len(message) < length:
                raise ValueError(f"{length - len(message):,} bytes of a message are missing")
            return message
    return None


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


def _request(body: bytes, kind: Any) -> dict[str, Any] | None:
    """Return the message if it is of this type."""
    # Of what is nested deeper, it depends on the caller's own depth if it can be read.
    if len(body) > LONGEST_BODY or body.count(b"{") + body.count(b"[") > MOST_NESTED:
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
