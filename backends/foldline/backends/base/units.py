"""Columns in code points, and in the UTF-8, UTF-16 or UTF-32 units in which LSP counts."""

from __future__ import annotations

from bisect import bisect_right

UTF8 = "utf-8"
UTF16 = "utf-16"
UTF32 = "utf-32"
# The best first: code points are what we count ourselves.
OFFERED = (UTF32, UTF8, UTF16)


def to_units(line: str, column: int, encoding: str) -> int:
    """The code units before the code point `column` of `line`, which counts from 0."""
    return units(line[: max(column, 0)], encoding)


def from_units(line: str, count: int, encoding: str) -> int:
    """The code point, from 0, at a `count` of units; past the end it is the end.

    Inside a character it is its start.
    """
    # No character has less than one unit.
    line = line[: max(count, 0)]
    if encoding == UTF32 or line.isascii():
        return len(line)
    columns = range(len(line) + 1)
    return bisect_right(columns, count, key=lambda column: units(line[:column], encoding)) - 1


def units(text: str, encoding: str) -> int:
    """The code units of `text`; a lone surrogate counts, too."""
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
