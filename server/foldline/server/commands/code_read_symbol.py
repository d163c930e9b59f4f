"""`foldline.server.code.readSymbol`: the source of one symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.text import format_symbol
from foldline.server.commands.code_files import find_file, result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.readSymbol"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `name` it is the file's first symbol.

    A language server gets `seconds` to find what the file only imports; `budget` is in bytes of the
    text, and without one the source is whole.
    """

    name: str | None = None
    path: str | None = None
    uri: str | None = None
    budget: int | None = None
    cursor: str | None = None
    seconds: float = DEFAULT_SECONDS


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, path = find_file(ls, arguments.path, arguments.uri)

    name = arguments.name
    if name is None:
        name = (await call(access.find_place(path))).name
    symbol = await call(
        access.read_symbol(
            path,
            name,
            budget=arguments.budget,
            cursor=arguments.cursor,
            seconds=arguments.seconds,
        )
    )
    return result(format_symbol(symbol), symbol, symbol.backend, symbol.coverage)
