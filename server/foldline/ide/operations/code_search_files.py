"""`code.searchFiles`: the files that a question or some keywords are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from foldline.backends.formatting.budget import SEARCH_BUDGET
from foldline.backends.text import format_search
from foldline.ide.operations.arguments import Budget, Cursor
from foldline.ide.operations.operation import Doc, Operation, Role, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import SearchResults


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """A question."""

    query: Annotated[str, Doc("words to look for, or a text", "keywords"), Role.SYMBOL, Role.WORDS]
    budget: Budget = SEARCH_BUDGET
    cursor: Cursor = None


async def run(access: SmartFileAccess, arguments: Arguments) -> SearchResults:
    return await run_query(
        access.search_files, arguments.query, budget=arguments.budget, cursor=arguments.cursor
    )


OPERATION = Operation(
    "code.searchFiles",
    "find the files that keywords or a text are about",
    Arguments,
    run,
    lambda results, _: format_search(results),
    tool="search_for_files",
    description="Search for files that a question is about, best first, and why.",
    priority="high",
    verb="search",
    found=lambda results: results.total,
    across=True,
    many=True,
)
