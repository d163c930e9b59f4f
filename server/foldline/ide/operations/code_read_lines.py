"""`code.readLines`: an exact range of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.formatting.budget import FILE_BUDGET
from foldline.backends.text import format_file_text
from foldline.ide.operations.arguments import Budget, Cursor, Held, LinesArguments
from foldline.ide.operations.operation import Operation, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import FileText


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(LinesArguments):
    """Lines of a file, in pages."""

    budget: Budget = FILE_BUDGET
    cursor: Cursor = None
    held: Held = None


async def run(access: SmartFileAccess, arguments: Arguments) -> FileText:
    return await run_query(
        access.read_text,
        arguments.path,
        arguments.start,
        arguments.end,
        budget=arguments.budget,
        cursor=arguments.cursor,
    )


OPERATION = Operation(
    "code.readLines",
    "show some lines of a file",
    Arguments,
    run,
    lambda page, _: format_file_text(page),
    tool="read_lines",
    description="Read the lines start to end of a file, counted from 1.",
    verb="lines",
    found=lambda page: page.end >= page.start,
    whole=True,
    excerpt=True,
)
