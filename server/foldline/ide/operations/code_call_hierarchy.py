"""`code.callHierarchy`: who calls a function, and whom it calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.formatting.budget import NAVIGATION_BUDGET
from foldline.backends.formatting.navigation_text import format_calls
from foldline.ide.operations.arguments import Budget, Cursor, PlaceArguments
from foldline.ide.operations.operation import Operation, ask
from foldline.ide.operations.places import At, find_place

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.locations import Calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(PlaceArguments):
    """The symbol that is meant."""

    budget: Budget = NAVIGATION_BUDGET
    cursor: Cursor = None


async def run(access: SmartFileAccess, arguments: Arguments) -> At[Calls]:
    place = await find_place(access, arguments)
    found = await ask(
        access.call_hierarchy,
        *place.at,
        budget=arguments.budget,
        cursor=arguments.cursor,
        seconds=arguments.seconds,
    )
    return At(place, found)


OPERATION = Operation(
    "code.callHierarchy",
    "list who calls a function, and whom it calls",
    Arguments,
    run,
    lambda at, _: format_calls(at.found, at.place),
    verb="calls",
    found=lambda at: at.found.incoming or at.found.outgoing,
    data=lambda at: at.found,
    many=True,
)
