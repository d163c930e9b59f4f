"""`foldline.server.code.callHierarchy`: who calls a function, and whom it calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.navigation_text import format_calls
from foldline.server.commands.code_files import result
from foldline.server.commands.code_places import PlaceArguments, find_place
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.callHierarchy"


@dataclass(frozen=True, slots=True)
class Arguments(PlaceArguments):
    """The symbol that is meant."""


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, place = await find_place(ls, arguments)
    found = await call(access.call_hierarchy(*place.at, **arguments.limits))
    return result(format_calls(found, place), found, found.backend, found.coverage)
