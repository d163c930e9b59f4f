"""`code.readSymbol`: the source of one symbol, or of several of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import SYMBOL_BUDGET
from foldline.backends.formatting.text import symbol_lines
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.arguments import (
    Budget,
    Excerpt,
    FileArguments,
    Paged,
    Query,
    Seconds,
)
from foldline.ide.operations.operation import Doc, Operation, Role, cost_of, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import SymbolDetail, SymbolDetails


@dataclass(frozen=True, kw_only=True)
class Arguments(FileArguments, Paged, Excerpt):
    """One symbol of a file, or several. A language server finds what the file only imports."""

    name: Annotated[
        str,
        Doc(
            "NAME, Class.method, or NAME[2] for the second of them",
            "`f`, `Class.method`, or `f[2]` for the second `f`",
        ),
        Role.SYMBOL,
    ]
    more: Annotated[
        tuple[str, ...], Doc("other names, which share the budget", "other names"), Role.POSITIONAL
    ] = ()
    query: Query = None
    budget: Budget = SYMBOL_BUDGET
    seconds: Seconds = DEFAULT_SECONDS


async def run(access: SmartFileAccess, arguments: Arguments) -> SymbolDetail | SymbolDetails:
    if arguments.more:
        if arguments.cursor is not None:
            raise ArgumentsError({"cursor": "continues one symbol: leave out `more`"})
        return await run_query(
            access.read_symbols,
            arguments.path,
            (arguments.name, *arguments.more),
            query=arguments.query,
            budget=arguments.budget,
            seconds=arguments.seconds,
        )
    return await run_query(
        access.read_symbol,
        arguments.path,
        arguments.name,
        query=arguments.query,
        budget=arguments.budget,
        cursor=arguments.cursor,
        seconds=arguments.seconds,
    )


OPERATION = Operation(
    "code.readSymbol",
    "show one definition, or several",
    Arguments,
    run,
    lambda detail, _: symbol_lines(detail),
    tool="read_symbol",
    description=f"Show the source of a function, class or method ({cost_of('read_symbol')}).",
    verb="symbol",
    whole=True,
)
