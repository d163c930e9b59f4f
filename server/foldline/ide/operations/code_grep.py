"""`code.grep`: the lines that match a regular expression."""

from __future__ import annotations

from typing import Annotated

from foldline.backends.base.reading import Between
from foldline.backends.formatting.budget import GREP_BUDGET
from foldline.backends.formatting.text import grep_lines
from foldline.ide.operations.arguments import Budget, ListPage
from foldline.ide.operations.operation import Doc, Operation, Role, cost_of, method_of_access
from foldline.records import record


@record(kw_only=True, slots=False)
class Arguments(ListPage):
    """A pattern, and where to look for it."""

    pattern: Annotated[
        str,
        Doc("a regular expression, in Python's syntax", "in Python's syntax"),
        Role.PATTERN,
    ]
    glob: Annotated[
        str | None,
        Doc("a file, a folder or a glob", "such as src/**/*.{ts,tsx}"),
        Role.SCOPE,
    ] = None
    context: Annotated[
        int, Doc("lines around each match", "lines around a match"), Between(0, 50)
    ] = 0
    ignore_case: Annotated[bool, Doc("ignore case")] = False
    show: Annotated[
        str,
        Doc("`lines`, the `files` that have any, or their `counts`", "lines, files or counts"),
    ] = "lines"
    budget: Budget = GREP_BUDGET


OPERATION = Operation(
    "code.grep",
    "find lines by a regular expression",
    Arguments,
    method_of_access(lambda access: access.grep),
    lambda results, _: grep_lines(results),
    tool="grep_in_files",
    description=f"Grep: search text in files by a regular expression ({cost_of('grep_in_files')}).",
    priority="high",
    verb="grep",
    found=lambda results: results.total,
    across=True,
    many=True,
)
