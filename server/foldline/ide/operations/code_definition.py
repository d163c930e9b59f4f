"""`code.definition`: where a symbol is defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.formatting.budget import NAVIGATION_BUDGET
from foldline.backends.formatting.navigation_text import format_locations
from foldline.ide.operations.arguments import Budget, Cursor, PlaceArguments
from foldline.ide.operations.operation import Operation, ask
from foldline.ide.operations.places import At, find_place

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.locations import Locations


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(PlaceArguments):
    """The symbol that is meant."""

    budget: Budget = NAVIGATION_BUDGET
    cursor: Cursor = None


async def run(access: SmartFileAccess, arguments: Arguments) -> At[Locations]:
    place = await find_place(access, arguments)
    found = await ask(
        access.goto_definition,
        *place.at,
        budget=arguments.budget,
        cursor=arguments.cursor,
        seconds=arguments.seconds,
    )
    return At(place, found)


OPERATION = Operation(
    "code.definition",
    "show where a symbol is defined",
    Arguments,
    run,
    lambda at, _: format_locations(at.found, at.place, "definition"),
    verb="definition",
    found=lambda at: at.found,
    data=lambda at: at.found,
    many=True,
)
