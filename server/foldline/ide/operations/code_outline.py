"""`code.outline`: a file's symbols and imports, without bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.formatting.budget import OUTLINE_BUDGET
from foldline.backends.text import format_outline
from foldline.ide.operations.arguments import Budget, FileArguments, Held, Query
from foldline.ide.operations.costs import cost_of
from foldline.ide.operations.operation import Operation, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import FileOutline


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(FileArguments):
    """One file, or what of it a question is about. The budget is the text's, not the models'."""

    query: Query = None
    budget: Budget = OUTLINE_BUDGET
    held: Held = None


async def run(access: SmartFileAccess, arguments: Arguments) -> FileOutline:
    return await run_query(access.get_outline, arguments.path, query=arguments.query)


OPERATION = Operation(
    "code.outline",
    "list what a file defines, without bodies",
    Arguments,
    run,
    lambda outline, arguments: format_outline(outline, arguments.budget),
    tool="get_file_outline",
    description="Outline of a file: symbols with signatures and line ranges, imports; no bodies "
    f"({cost_of('get_file_outline')}). Ask before reading code.",
    priority="high",
    verb="outline",
    found=len,
    several=True,
    excerpt=True,
)
