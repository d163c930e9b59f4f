"""Writes `foldline/server/handshake.json` from the server's capabilities and the types of LSP.

    uv run python server/make_handshake.py

A test fails while the file is older than what it tells.
"""

from __future__ import annotations

import asyncio
import collections.abc
import io
import json
import re
import sys
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin

import attrs
from lsprotocol.types import InitializeParams
from lsprotocol.validators import uinteger_validator
from pygls.io_ import StdoutWriter

from foldline.server.app import create_server
from foldline.server.handshake import FACTS

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

MOST_CAPABLE = {
    "textDocument": {
        "rename": {"prepareSupport": True},
        "synchronization": {"willSave": True, "willSaveWaitUntil": True},
    }
}

_NAMES: dict[object, str] = {bool: "bool", str: "str", int: "int", Any: "any"}


def facts() -> dict[str, Any]:
    """Return the content of the file."""
    # Resolves the names of the types.
    server = create_server()
    result = pygls_answer(server, {"capabilities": MOST_CAPABLE})["result"]
    server.close()
    request = {
        "jsonrpc!": ["of", "2.0"],
        "id!": ["one", "str", "int"],
        "method!": ["of", "initialize"],
        "params!": _type(InitializeParams),
    }
    return {"result": result, "request": request}


def pygls_answer(server: FoldlineServer, params: dict[str, Any]) -> Any:
    """Return the message that answers `initialize`, as pygls makes it for a new client."""
    written = io.BytesIO()
    server.protocol.set_writer(StdoutWriter(written))
    server.protocol._workspace = None  # noqa: SLF001 - It's initialized while it has one.
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}

    async def handle() -> None:
        server.protocol.handle_message(message)

    asyncio.run(handle())
    return json.loads(written.getvalue().partition(b"\r\n\r\n")[2])


def _type(kind: Any) -> Any:
    """Return a type of lsprotocol as `foldline.server.handshake.fits` reads it.

    Everything may be null that isn't required, so null is left out.
    """
    if attrs.has(kind):
        return {
            _camel(field.name) + "!" * (field.default is attrs.NOTHING): _type_of(field)
            for field in attrs.fields(kind)
        }
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ["of", *(member.value for member in kind)]
    members = [member for member in get_args(kind) if member is not NoneType]
    if get_origin(kind) is collections.abc.Sequence:
        return ["list", _type(members[0])]
    if members:
        return _type(members[0]) if len(members) == 1 else ["one", *map(_type, members)]
    return _NAMES[kind]


def _type_of(field: attrs.Attribute[Any]) -> Any:
    # In an `Optional`, or by itself.
    validator = getattr(field.validator, "validator", field.validator)
    return "uint" if validator is uinteger_validator else _type(field.type)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


if __name__ == "__main__":
    FACTS.write_text(json.dumps(facts(), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{FACTS}\n")
