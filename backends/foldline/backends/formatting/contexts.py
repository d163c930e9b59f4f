"""The source line that an answer shows with a location, cut around it where the line is long.

Minified code has thousands of locations on one line: with the whole line for each, an answer
would grow with the square of the file.
"""

from __future__ import annotations

LONGEST = 200
"""Characters of a line that are kept; `…` stands for the rest."""

_BEFORE = LONGEST // 2
# No character has more bytes in UTF-8.
_WIDEST = 4


def cut_context(line: str, column: int) -> str:
    """A line around `column`, from 0: all of it, or up to `LONGEST` characters."""
    if len(line) <= LONGEST:
        return line
    start = max(min(column, len(line)) - _BEFORE, 0)
    return _marked(line[start : start + LONGEST], start, start + LONGEST < len(line))


def cut_bytes(data: bytes, begin: int, at: int, column: int) -> str:
    """`cut_context` of the line of UTF-8 `data` that starts at byte `begin`, around byte `at`."""
    end = data.find(b"\n", at, at + _WIDEST * LONGEST)
    cut = end < 0 and at + _WIDEST * LONGEST < len(data)
    end = end if end >= 0 else min(at + _WIDEST * LONGEST, len(data))
    if column <= LONGEST and not cut:
        line = data[begin:end].removesuffix(b"\r").decode("utf-8", "replace")
        return cut_context(line, column)
    low = max(at - _WIDEST * _BEFORE, begin)
    before = data[low:at].decode("utf-8", "replace")
    after = data[at:end].removesuffix(b"\r").decode("utf-8", "replace")
    start = max(column - _BEFORE, 0)
    kept = before[len(before) - (column - start) :] if column > start else ""
    room = LONGEST - len(kept)
    return _marked(kept + after[:room], start, cut or len(after) > room)


def column_in(context: str, column: int) -> int:
    """The index in a context of the character at `column`, from 0, of its line."""
    return _BEFORE + 1 if column > _BEFORE and context.startswith("…") else column


def _marked(text: str, start: int, more: bool) -> str:
    return f"{'…' if start else ''}{text}{'…' if more else ''}"
