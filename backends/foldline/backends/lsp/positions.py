"""Columns as servers count them: in UTF-8, UTF-16 or UTF-32 code units."""

from __future__ import annotations

UTF8 = "utf-8"
UTF16 = "utf-16"
UTF32 = "utf-32"
# The best first: code points are what we count ourselves.
OFFERED = (UTF32, UTF8, UTF16)


def to_units(line: str, column: int, encoding: str) -> int:
    """The code units before the code point `column` of `line`, which counts from 0."""
    return _units(line[: max(column, 0)], encoding)


def from_units(line: str, units: int, encoding: str) -> int:
    """The code point, from 0, at `units`; past the end it is the end, inside one its start."""
    if units <= 0:
        return 0
    if encoding == UTF32 or line.isascii():
        return min(units, len(line))
    seen = 0
    for column, character in enumerate(line):
        seen += _units(character, encoding)
        if seen > units:
            return column
    return len(line)


def _units(text: str, encoding: str) -> int:
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
