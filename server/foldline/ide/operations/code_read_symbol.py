"""`code.readSymbol`: the source of one symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import SYMBOL_BUDGET
from foldline.backends.text import format_symbol
from foldline.ide.operations.arguments import Budget, Cursor, FileArguments, Held, Seconds
from foldline.ide.operations.costs import cost_of
from foldline.ide.operations.operation import Doc, Operation, Role, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import SymbolDetail


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(FileArguments):
    """One symbol of a file. A language server finds what the file only imports."""

    name: Annotated[
        str,
        Doc(
            "NAME, Class.method, or NAME[2] for the second of them",
            "`f`, `Class.method`, or `f[2]` for the second `f`",
        ),
        Role.SYMBOL,
    ]
    budget: Budget = SYMBOL_BUDGET
    cursor: Cursor = None
    seconds: Seconds = DEFAULT_SECONDS
    held: Held = None


async def run(access: SmartFileAccess, arguments: Arguments) -> SymbolDetail:
    return await run_query(
        access.read_symbol,
        arguments.path,
        arguments.name,
        budget=arguments.budget,
        cursor=arguments.cursor,
        seconds=arguments.seconds,
    )


OPERATION = Operation(
    "code.readSymbol",
    "show one definition",
    Arguments,
    run,
    lambda detail, _: format_symbol(detail),
    tool="read_symbol",
    description=f"The source of one function, class or method ({cost_of('read_symbol')}).",
    verb="symbol",
    whole=True,
    excerpt=True,
)
