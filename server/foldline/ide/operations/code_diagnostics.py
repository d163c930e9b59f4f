"""`code.diagnostics`: a language server's diagnostics of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import NAVIGATION_BUDGET
from foldline.backends.formatting.navigation_text import format_diagnostics
from foldline.ide.operations.arguments import Budget, Cursor, FileArguments, Seconds
from foldline.ide.operations.operation import Operation, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.outlines.locations import Diagnostics


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(FileArguments):
    """One file."""

    budget: Budget = NAVIGATION_BUDGET
    cursor: Cursor = None
    seconds: Seconds = DEFAULT_SECONDS


async def run(access: SmartFileAccess, arguments: Arguments) -> Diagnostics:
    return await run_query(
        access.diagnostics,
        arguments.path,
        budget=arguments.budget,
        cursor=arguments.cursor,
        seconds=arguments.seconds,
    )


OPERATION = Operation(
    "code.diagnostics",
    "list the diagnostics of a file",
    Arguments,
    run,
    lambda diagnostics, _: format_diagnostics(diagnostics),
    verb="diagnostics",
    # Without a server, it is unknown whether the file has diagnostics.
    found=lambda found: not found if found or found.coverage == "complete" else None,
)
