"""Lines of a file within a byte budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.errors import FileTooLargeError, InvalidArgumentError
from foldline.backends.files.source import split_lines
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.line_pages import (
    columns_note,
    make_line_cursor,
    page_lines,
    read_line_cursor,
)
from foldline.backends.formatting.visible import visible
from foldline.backends.models import FileText

if TYPE_CHECKING:
    from foldline.backends.files.base import BaseFileBackend

_KIND = "text"
# The header line and the line with the cursor.
_ROOM = 100


def page_text(
    files: BaseFileBackend,
    file: str,
    start: int,
    end: int | None,
    *,
    budget: int | None,
    cursor: str | None,
    no_ignore: bool,
) -> FileText:
    """The lines from `start`, or where the cursor says, to `end`, as many as the budget holds."""
    budgets.check_budget(budget)
    if start < 1:
        raise InvalidArgumentError("start", f"lines count from 1, not {start}")
    if end is not None and end < start:
        raise InvalidArgumentError("end", f"{end} is before the first line asked for, {start}")
    first, column = read_line_cursor(_KIND, cursor) or (start, 1)
    path = files.resolve(file, no_ignore=no_ignore)
    try:
        source = files.load(path)
    except FileTooLargeError:
        if end is None or end < first:
            raise
        # Too large to hold, but some of its lines are not; how many it has is not counted.
        wanted = split_lines(files.read_lines(path, first, end, no_ignore=True))
        count, note = 0, ""
    else:
        lines = split_lines(source.text)
        wanted, count, note = lines[max(first - 1, 0) : end], len(lines), source.note
    page = page_lines(wanted, column, budget, budgets.size_of(visible(path)) + _ROOM)
    rest = None
    if page.following is not None:
        index, after = page.following
        rest = make_line_cursor(_KIND, first + index, after)
    return FileText(
        path,
        first,
        first + page.height - 1,
        count,
        page.text,
        rest,
        note,
        columns=columns_note(column, page.column_end, len(wanted[0])) if wanted else "",
        cut=bool(page.column_end),
    )
