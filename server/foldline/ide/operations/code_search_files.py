"""`code.searchFiles`: the files that a query or some keywords are about."""

from __future__ import annotations

from typing import Annotated

from foldline.backends.formatting.budget import SEARCH_BUDGET
from foldline.backends.formatting.text import search_lines
from foldline.ide.operations.arguments import Budget, ListPage
from foldline.ide.operations.operation import Doc, Operation, Role, method_of_access
from foldline.records import record


@record(kw_only=True, slots=False)
class Arguments(ListPage):
    """A query."""

    query: Annotated[str, Doc("words to look for, or a text", "keywords"), Role.SYMBOL, Role.WORDS]
    budget: Budget = SEARCH_BUDGET


OPERATION = Operation(
    "code.searchFiles",
    "find the files that keywords or a text are about",
    Arguments,
    method_of_access(lambda access: access.search_files),
    lambda results, _: search_lines(results),
    tool="search_for_files",
    description="Search for files that a question is about, best first, and why.",
    priority="high",
    verb="search",
    found=lambda results: results.total,
    across=True,
    many=True,
)
