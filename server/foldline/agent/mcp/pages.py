"""Long texts in pages: each fits a byte budget, and says with which cursor the next one comes."""

from __future__ import annotations

import re

from foldline.backends.budget import make_cursor, read_cursor, size_of
from foldline.backends.errors import InvalidArgumentError

_LINE_END = re.compile(r"\r\n|\r|\n")


def page(
    text: str, kind: str, budget: int, cursor: str | None, *, first_line: int = 1
) -> tuple[str, ...]:
    """The part of `text` at `cursor` that fits `budget` bytes, then a note where more follows.

    A page ends with a line where it holds a whole one, and is never empty unless `text` is.
    `first_line` is the line of the file at which `text` begins.
    """
    start = read_cursor(kind, cursor)
    if start > len(text) or (start == len(text) and start):
        raise InvalidArgumentError(
            "cursor", f"{cursor!r} is beyond the end: the text changed; leave it out to start anew"
        )
    if start == 0 and size_of(text) <= budget:
        return (text,)
    end = _end(text, start, budget)
    shown = text[start:end]
    before = first_line + _line_ends(text[:start])
    last = before + _line_ends(shown[:-1])
    total = first_line + _line_ends(text[:-1])
    note = f"(lines {before}-{last} of {first_line}-{total}"
    if end == len(text):
        return (shown, f"{note}: the end)")
    return (shown, f"{note}; ask with cursor {make_cursor(kind, end)} for more)")


def _end(text: str, start: int, budget: int) -> int:
    """Where a page that begins at `start` ends."""
    # A character that takes more than the whole budget still has to get through.
    fitting = _bytes(text[start : start + budget])[:budget].decode("utf-8", "ignore")
    end = start + max(len(fitting), 1)
    if end >= len(text):
        return len(text)
    line_end = text.rfind("\n", start, end) + 1
    return line_end if line_end > start else end


def _bytes(text: str) -> bytes:
    # One byte for what has no UTF-8 form: the characters still count alike.
    return text.encode("utf-8", "replace")


def _line_ends(text: str) -> int:
    return sum(1 for _ in _LINE_END.finditer(text))
