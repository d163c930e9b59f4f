"""Lines of a file within a byte budget.

A cursor has marks: checksums of the text above its line and of the text below. If only the text
above has changed since, the line is found again by counting from the end.
"""

from __future__ import annotations

import re
from base64 import b32encode
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from foldline.backends.errors import FileTooLargeError, InvalidArgumentError
from foldline.backends.files.source import check_range, split_lines
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.budget import size_of
from foldline.backends.formatting.visible import visible
from foldline.backends.models import FileText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.backends.files.base import FileBackend

# Bytes of the longest character: a page has room for one.
_SMALLEST = 4
_CURSOR = re.compile(r"([0-9]{1,15})(?::([0-9]{1,15}))?(?:\.([a-z2-7]{9}))?\Z")
_MOVED = "the text above has changed since the last page; this goes on where that ended"
_CHANGED = (
    "the text has changed since the last page: lines may be missing here or repeated; ask without "
    "a cursor to start again"
)


class LinePage(NamedTuple):
    """Some lines joined by newlines, and their position in the text.

    Attributes:
        text: The first line from its first wanted column, the last one as far as it fits.
        height: How many lines it has, or has a part of.
        column_end: The last column, from 1, of a line that is cut at its end; 0 where none is.
        following: Index of the line and column, from 1, at which the next page begins; None at the
            end.
    """

    text: str
    height: int
    column_end: int
    following: tuple[int, int] | None


def page_lines(
    lines: Sequence[str], column: int, budget: int | None, overhead: int = 0
) -> LinePage:
    """The lines from `column`, counted from 1, of the first of them, within `budget` bytes.

    They leave room for `overhead`. A page holds whole lines if at least
    one fits; otherwise it holds as much of the line as fits, and the next page continues it. With a
    newline after each page whose `column_end` is 0, all pages together are the lines. A page is
    never empty, so it takes up to four bytes more than the overhead of any budget.
    """
    shown = [lines[0][column - 1 :], *lines[1:]] if lines else []
    if budget is None:
        return LinePage("\n".join(shown), len(shown), 0, None)
    room = max(budget - overhead, _SMALLEST)
    count = 0
    for line in shown:
        room -= size_of(line) + bool(count)
        if room < 0:
            break
        count += 1
    if count or not shown:
        following = (count, 1) if count < len(shown) else None
        return LinePage("\n".join(shown[:count]), count, 0, following)
    part = _cut(shown[0], room + size_of(shown[0]))
    end = column - 1 + len(part)
    return LinePage(part, 1, end, (0, end + 1))


class LineCursor(NamedTuple):
    """A line and column where a page begins, and the marks of the text around it.

    A cursor that a caller made up has no marks.
    """

    line: int
    column: int
    marks: str


def marks_of(above: Sequence[str], below: Sequence[str] = ()) -> str:
    """Four letters that change with the lines above a place, and five with the others."""
    *_, before = _checksums(above)
    *_, after = _checksums(below[::-1])
    return before[:4] + after


def make_line_cursor(kind: str, line: int, column: int, marks: str) -> str:
    """The cursor that continues an answer of `kind` at a column, from 1, of a line."""
    return f"{kind}@{line}:{column}.{marks}" if column > 1 else f"{kind}@{line}.{marks}"


def read_line_cursor(kind: str, cursor: str | None) -> LineCursor | None:
    """The parts of `cursor`; None without one.

    Raises:
        InvalidArgumentError: It is a cursor of another kind of answer.
    """
    if cursor is None:
        return None
    name, _, position = cursor.partition("@")
    match = _CURSOR.match(position)
    if name != kind or match is None:
        raise InvalidArgumentError(
            "cursor",
            f"{cursor[:100]!r} is not from an answer of this kind; leave it out to start anew",
        )
    return LineCursor(int(match[1]), max(int(match[2] or 1), 1), match[3] or "")


def find_place(cursor: LineCursor, first: int, lines: Sequence[str]) -> tuple[int, str]:
    """The index in `lines` where a page begins, and a note if text has changed since the last one.

    `first` is the number of the first line. If only lines above have changed, the page begins with
    the line that it would have begun with.
    """
    index = min(max(cursor.line - first, 0), len(lines))
    now = marks_of(lines[:index], lines[index:])
    same = now[:4] == cursor.marks[:4] and (cursor.column == 1 or now == cursor.marks)
    if same or not cursor.marks:
        return index, ""
    # The last `count` lines are those that were below.
    for count, below in enumerate(_checksums(lines[::-1])):
        if count and below == cursor.marks[4:]:
            return len(lines) - count, _MOVED
    return index, _CHANGED


def _checksums(lines: Sequence[str]) -> Iterator[str]:
    """The checksums of no line, of the first, of the first two …, in five letters."""
    texts = (f"{line}\n".encode("utf-8", "surrogatepass") for line in lines)
    for checksum in accumulate(texts, lambda known, text: crc32(text, known), initial=0):
        yield b32encode(checksum.to_bytes(4, "big"))[:5].decode().lower()


def columns_note(column: int, column_end: int, length: int) -> str:
    """`columns 1-1900 of 80000`, or nothing where a page has whole lines."""
    if column == 1 and not column_end:
        return ""
    return f"columns {column}-{column_end or length} of {length}"


def _cut(line: str, room: int) -> str:
    """The beginning of the line that fits `room` bytes, at least one character."""
    # One byte for what has no UTF-8 form: the characters still count alike.
    data = line[:room].encode("utf-8", "replace")
    return line[: max(len(data[:room].decode("utf-8", "ignore")), 1)]


_KIND = "text"
# The header line and the line with the cursor.
_ROOM = 115


def page_text(
    files: FileBackend,
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
    check_range(start, start if end is None else end)
    begin = read_line_cursor(_KIND, cursor)
    first, column = (begin.line, begin.column) if begin else (start, 1)
    path = files.resolve(file, no_ignore=no_ignore)
    lines: list[str] = []
    version = changed = note = ""
    try:
        source = files.load(path)
    except FileTooLargeError:
        if end is None or end < first:
            raise
        # Too large to hold, but some of its lines are not; how many it has is not counted.
        wanted = split_lines(files.read_lines(path, first, end, no_ignore=True))
        version = marks_of([str(files.stamp(path))])
        if begin and begin.marks not in {"", version}:
            changed = _CHANGED
    else:
        lines, note = split_lines(source.text), source.note
        if begin:
            index, changed = find_place(begin, 1, lines)
            end = None if end is None else end + index + 1 - first
            first = index + 1
        wanted = lines[max(first - 1, 0) : end]
    note = "; ".join(filter(None, (changed, note)))
    page = page_lines(
        wanted, column, budget, budgets.size_of(visible(path)) + budgets.size_of(note) + _ROOM
    )
    rest = None
    if page.following is not None:
        index, after = page.following
        index += first - 1
        marks = version or marks_of(lines[:index], lines[index:])
        rest = make_line_cursor(_KIND, index + 1, after, marks)
    return FileText(
        path,
        first,
        first + page.height - 1,
        len(lines),
        page.text,
        rest,
        note,
        columns=columns_note(column, page.column_end, len(wanted[0])) if wanted else "",
        cut=bool(page.column_end),
    )
