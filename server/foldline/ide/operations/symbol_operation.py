"""Builder for the operations on the symbol at a position: they differ only in their query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from foldline.backends.formatting.budget import size_of
from foldline.backends.formatting.visible import visible
from foldline.ide.operations.arguments import PositionArguments
from foldline.ide.operations.operation import Operation, run_query
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.formatting.parts import Line
    from foldline.backends.outlines.locations import Position

Result = TypeVar("Result")


@record
class AtSymbol(Generic[Result]):
    """A query's result, the position of the symbol it is about, and whether it has any answer."""

    position: Position
    result: Result
    has_any: object


def symbol_operation(
    name: str,
    summary: str,
    *,
    verb: str,
    query: Callable[[SmartFileAccess], Callable[..., Result]],
    lines: Callable[[Result, Position], Sequence[Line]],
    found: Callable[[Result], object] = bool,
) -> Operation[PositionArguments, AtSymbol[Result]]:
    """Return an operation that finds a symbol and runs one query about it.

    Args:
        name: See `Operation.name`.
        summary: See `Operation.summary`.
        verb: See `Operation.verb`.
        query: Selects the method of `SmartFileAccess` that is called with the symbol's position.
        lines: Returns a result's lines, given the symbol's position.
        found: Returns something true for a result that holds anything.
    """

    async def run(access: SmartFileAccess, arguments: PositionArguments) -> AtSymbol[Result]:
        position = await run_query(
            access.find_position,
            arguments.path,
            arguments.name,
            line=arguments.line,
            column=arguments.column,
        )
        note = f"{position.said}\n" if position.said else ""
        result = await run_query(
            query(access),
            *position.at,
            budget=arguments.budget and max(arguments.budget - size_of(note), 1),
            cursor=arguments.cursor,
            seconds=arguments.seconds,
        )
        return AtSymbol(position, result, found(result))

    def format_at(at: AtSymbol[Result], _: PositionArguments) -> Sequence[Line]:
        note: list[Line] = [[(visible(at.position.said), "italic")]] if at.position.said else []
        return [*note, *lines(at.result, at.position)]

    return Operation(
        name,
        summary,
        PositionArguments,
        run,
        format_at,
        verb=verb,
        found=lambda at: at.has_any,
        data=lambda at: at.result,
        many=True,
    )
