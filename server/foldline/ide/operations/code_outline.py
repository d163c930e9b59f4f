"""`code.outline`: a file's symbols and imports, without bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from foldline.backends import formatting
from foldline.backends.errors import MissingPathError
from foldline.backends.formatting.budget import OUTLINE_BUDGET
from foldline.ide.operations.arguments import Budget, Budgeted, Query
from foldline.ide.operations.operation import Doc, Operation, Role, cost_of, run_query
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.formatting.parts import Line
    from foldline.backends.models import FileOutline


@record(kw_only=True, slots=False)
class Arguments(Budgeted):
    """One file, or what of it a query is about. The budget is the text's, not the models'."""

    path: Annotated[str, Doc("a file, or the name of a class", "or a class's name"), Role.FILE]
    query: Query = None
    budget: Budget = OUTLINE_BUDGET


async def run(access: SmartFileAccess, arguments: Arguments) -> FileOutline:
    path, query = arguments.path, arguments.query
    try:
        return await run_query(access.get_outline, path, query=query)
    except MissingPathError:
        meant = await run_query(access.definitions_of, path, seconds=0)
        if not meant.found:
            raise
    one = meant.one()
    return await run_query(access.get_outline, one.path, query=query or one.name)


def _format(outline: FileOutline, arguments: Arguments) -> Sequence[Line]:
    return formatting.outline_lines(outline, arguments.budget)


OPERATION = Operation(
    "code.outline",
    "list what a file defines, without bodies",
    Arguments,
    run,
    _format,
    tool="get_file_outline",
    description="Outline of a file: symbols with signatures and line ranges, imports; no bodies "
    f"({cost_of('get_file_outline')}). Ask before reading code.",
    priority="high",
    verb="outline",
    found=len,
    several=True,
)
