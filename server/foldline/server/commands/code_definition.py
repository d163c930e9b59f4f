"""`foldline.server.code.definition`: where a symbol is defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.navigation_text import format_locations
from foldline.server.commands.code_files import result
from foldline.server.commands.code_places import PlaceArguments, find_place
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.definition"


@dataclass(frozen=True, slots=True)
class Arguments(PlaceArguments):
    """The symbol that is meant."""


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, place = await find_place(ls, arguments)
    found = await call(access.goto_definition(*place.at, **arguments.limits))
    return result(
        format_locations(found, place, "definition"), found, found.backend, found.coverage
    )
