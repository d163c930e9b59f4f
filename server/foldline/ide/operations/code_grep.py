"""`code.grep`: the lines that match a regular expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from foldline.backends.formatting.budget import GREP_BUDGET
from foldline.backends.text import format_grep
from foldline.ide.operations.arguments import Budget, Cursor
from foldline.ide.operations.costs import cost_of
from foldline.ide.operations.operation import Between, Doc, Operation, Role, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import GrepResults


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """A pattern, and where to look for it."""

    pattern: Annotated[
        str,
        Doc("a regular expression; RE2's syntax works everywhere", "regular expression (RE2)"),
        Role.PATTERN,
    ]
    glob: Annotated[
        str | None, Doc("a file, a folder or a glob", "such as src/**/*.py"), Role.SCOPE
    ] = None
    context: Annotated[
        int, Doc("lines around each match", "lines around a match"), Between(0, 100)
    ] = 0
    ignore_case: Annotated[bool, Doc("ignore case")] = False
    budget: Budget = GREP_BUDGET
    cursor: Cursor = None


async def run(access: SmartFileAccess, arguments: Arguments) -> GrepResults:
    return await run_query(
        access.grep,
        arguments.pattern,
        arguments.glob,
        context=arguments.context,
        ignore_case=arguments.ignore_case,
        budget=arguments.budget,
        cursor=arguments.cursor,
    )


OPERATION = Operation(
    "code.grep",
    "find lines by a regular expression",
    Arguments,
    run,
    lambda results, _: format_grep(results),
    tool="grep_in_files",
    description=f"Grep: search text in files by a regular expression ({cost_of('grep_in_files')}).",
    priority="high",
    verb="grep",
    found=lambda results: results.total,
    across=True,
    many=True,
)
