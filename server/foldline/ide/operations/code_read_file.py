"""`code.readFile`: a whole file, the last rung of the ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline import backends
from foldline.backends.errors import PathError
from foldline.backends.files.source import split_lines
from foldline.backends.formatting.text import file_lines
from foldline.ide.operations.arguments import FilePage
from foldline.ide.operations.operation import Operation, cost_of, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import FileOutline, FileText


async def run(access: SmartFileAccess, arguments: FilePage) -> FileText:
    if arguments.budget is None and arguments.cursor is None:
        # Keeps the file's line ends, which pages don't.
        text = await run_query(access.read_file, arguments.path)
        count = len(split_lines(text))
        return backends.FileText(arguments.path, 1, count, count, text)
    return await run_query(
        access.read_text, arguments.path, budget=arguments.budget, cursor=arguments.cursor
    )


async def outline(access: SmartFileAccess, arguments: FilePage) -> FileOutline | None:
    try:
        return await run_query(access.get_outline, arguments.path)
    except PathError:
        # Single lines can be read of a file that is too large to parse.
        return None


OPERATION = Operation(
    "code.readFile",
    "show a whole file: the last resort",
    FilePage,
    run,
    lambda page, _: file_lines(page),
    tool="read_file",
    description=f"Read a whole file ({cost_of('read_file')} a page). Last resort for code; right "
    "for configuration and text.",
    verb="read",
    found=lambda page: page.end >= page.start,
    outline=outline,
    priority="low",
    whole=True,
)
