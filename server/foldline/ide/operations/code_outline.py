"""`code.outline`: a file's symbols and imports, without bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from foldline.backends import formatting
from foldline.backends.errors import MissingPathError
from foldline.backends.formatting.budget import OUTLINE_BUDGET, SYMBOL_BUDGET, size_of
from foldline.backends.formatting.parts import plain
from foldline.ide.operations.arguments import MOST_ALIKE, Budget, Budgeted, Query
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
    few = [*{(one.path, one.name): one for one in meant.found}.values()]
    few = few if 1 < len(few) <= MOST_ALIKE else [meant.one()]
    first, *others = [
        await run_query(access.get_outline, one.path, query=query or one.name) for one in few
    ]
    outline = replace(first, others=tuple(others))
    if others and size_of(plain(_format(outline, arguments))) > SYMBOL_BUDGET:
        meant.one()
    return outline


def _format(outline: FileOutline, arguments: Arguments) -> Sequence[Line]:
    every = (outline, *outline.others)
    share = arguments.budget and type(arguments.budget)(arguments.budget // len(every))
    return [line for one in every for line in formatting.outline_lines(one, share)]


OPERATION = Operation(
    "code.outline",
    "list what a file defines, without bodies",
    Arguments,
    run,
    _format,
    tool="get_file_outline",
    description="Outline of a file: symbols with signatures and line ranges, imports; no bodies "
    f"({cost_of('get_file_outline')}). Ask before reading code, with the issue as query.",
    priority="high",
    verb="outline",
    found=len,
    several=True,
)
