"""The place of a symbol, and what an engine says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from foldline.ide.operations.operation import ask

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.locations import Position
    from foldline.ide.operations.arguments import PlaceArguments

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class At(Generic[Found]):
    """An answer about the symbol at `place`."""

    place: Position
    found: Found


async def find_place(access: SmartFileAccess, arguments: PlaceArguments) -> Position:
    """The place that is meant."""
    return await ask(
        access.find_position,
        arguments.path,
        arguments.name,
        line=arguments.line,
        column=arguments.column,
    )
