"""`foldline.server.code.readSymbol`: the source of one symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.text import format_symbol
from foldline.server.commands.code_files import find_file, result
from foldline.server.targets import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.readSymbol"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `name` it is the file's first symbol."""

    name: str | None = None
    path: str | None = None
    uri: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, path = find_file(ls, arguments.path, arguments.uri)
    name = arguments.name
    if name is None:
        outline = await call(lambda: access.get_outline(path))
        name = next((symbol.name for symbol in outline), "")
    symbol = await call(lambda: access.read_symbol(path, name))
    return result(format_symbol(symbol), symbol, symbol.backend, symbol.coverage)
