"""The statements of a Python source that contain a word, so that only these are parsed.

The meaning of a name depends on its statement and on the definitions around it. So statements of
the module, and members of its classes, that do not contain the word become `pass`. In most files
that is nearly everything, and finding the starts of statements takes a tenth of the time of
parsing them. The rest keeps its lines and columns.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

_STRING = r"""
    "(?!"")[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"
    | '(?!'')[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'
    | \"{3}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+\"{3}
    | '{3}[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'{3}
"""
# Whatever stands before WHOLE, which begins with STOP, and WHOLE itself: what a scan takes is
# decided by how often it comes back from the pattern. It also stops at formatted strings, at quotes
# that no string starts with, and at the end.
_NEXT = rf"""
    (?: [^STOP"'\#]++
      | (?!WHOLE)STOP
      | \#[^\n]*+
      | (?<![fFtT])(?<![fFtT][rR])(?:{_STRING})
    )*+
    (?: WHOLE | (?P<formatted>{_STRING}) | (?P<quote>["']) | \Z )
"""


def _before(stop: bytes, whole: bytes) -> re.Pattern[bytes]:
    pattern = _NEXT.encode().replace(b"STOP", stop).replace(b"WHOLE", whole)
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


# The next line that starts with code, and that line's beginning.
_OF_MODULE, _ANY = (
    _before(rb"\n", rb"\n%b(?=[A-Za-z_@\x80-\xff])" % indent) for indent in (b"", rb"[ \t]*+")
)
_BACKSLASH = ord("\\")
_HEADER_END = re.compile(rb":[ \t]*(?:\#[^\n]*)?\n")
# They go on with the statement above.
_CLAUSES = (b"else", b"elif", b"except", b"finally")
_DEEPEST_CLASS = 4


def excerpt(data: bytes, places: Sequence[int]) -> bytes:
    """The source with only the statements around `places`, which are in ascending order.

    Of a source that Python accepts, what is left is a source too, and the names in it have the same
    parents. Otherwise it may come out with errors where `data` has none, or as it is.
    """
    cut = _Cut(data, places)
    try:
        cut.module()
    except _UnsureError:
        return data
    return b"".join(cut.pieces)


def places_in_code(data: bytes, word: bytes) -> list[int] | None:
    """The places of a word outside strings and comments; None where only a parse knows them."""
    whole = rb"(?<![\w\x80-\xff])(%b)(?![\w\x80-\xff])" % re.escape(word)
    places = []
    for match in _before(re.escape(word[:1]), whole).finditer(data):
        text = match["formatted"] or b""
        if match["quote"] or word in text or _may_end_later(text):
            return None
        if match.lastindex and not text:
            places.append(match.start(match.lastindex))
    # The letters before a string are a part of it.
    return places if len(word) > 2 else None


class _UnsureError(Exception):
    """The ends of strings are uncertain."""


class _Cut:
    """Collects the pieces of the excerpt, statement by statement."""

    def __init__(self, data: bytes, places: Sequence[int]) -> None:
        self.pieces: list[bytes] = []
        self._data = data
        self._places = places

    def module(self) -> None:
        """The module up to its last statement that is needed."""
        data, last = self._data, self._places[-1]
        lines, end = [0], len(data)
        for line, _ in _code_lines(_OF_MODULE, data, 0, end):
            if line > last and not self._goes_on(lines[-1], line):
                end = line
                break
            lines.append(line)
        self._block(lines, end, 0, 0)

    def _block(self, lines: list[int], end: int, indent: int, depth: int) -> None:
        """The statements that start in `lines`, places of lines with code of this indent."""
        heads = lines[:1]
        for before, line in pairwise(lines):
            if not self._goes_on(before + indent, line + indent):
                heads.append(line)
        blank = -1
        for start, stop in zip(heads, (*heads[1:], end), strict=True):
            at = bisect_left(self._places, start)
            if at == len(self._places) or self._places[at] >= stop:
                blank = start if blank < 0 else blank
                continue
            self._blank(blank, start, indent)
            blank = -1
            self._statement(start, stop, indent, depth)
        self._blank(blank, end, indent)

    def _goes_on(self, before: int, line: int) -> bool:
        """Return whether the code at `line` belongs to the statement with the code at `before`."""
        data = self._data
        return data.startswith(b"@", before) or data.startswith(_CLAUSES, line)

    def _statement(self, start: int, stop: int, indent: int, depth: int) -> None:
        """All of a statement; of a class, its head and the members that are needed."""
        data = self._data
        lines: list[tuple[int, int]] = []
        members = 0
        line = start
        if data.startswith((b"class ", b"@"), start + indent) and depth < _DEEPEST_CLASS:
            lines = list(_code_lines(_ANY, data, start, stop))
            while data.startswith(b"@", line + indent) and members < len(lines):
                line = lines[members][0]
                members += 1
        if data.startswith(b"class ", line + indent):
            header = _HEADER_END.search(data, line, stop)
            members = bisect_left(lines, (header.end() if header else stop, 0))
            inner = min((width for _, width in lines[members:]), default=0)
            block = [at for at, width in lines[members:] if width == inner]
            # A tab is as wide as some blanks: such indents do not compare.
            if inner > indent and b"\t" not in data[block[0] : block[0] + inner]:
                self.pieces.append(data[start : block[0]])
                self._block(block, stop, inner, depth + 1)
                return
        self.pieces.append(data[start:stop])

    def _blank(self, start: int, stop: int, indent: int) -> None:
        if start >= 0:
            lines = self._data.count(b"\n", start, stop)
            self.pieces.append(b" " * indent + b"pass" + b"\n" * lines)


def _code_lines(
    pattern: re.Pattern[bytes], data: bytes, start: int, stop: int
) -> Iterator[tuple[int, int]]:
    """The starts of code on the lines after the first, with their indents."""
    for match in pattern.finditer(data, start, stop):
        end = match.end()
        if match.lastgroup == "formatted":
            if _may_end_later(match[1]):
                raise _UnsureError
        elif match.lastgroup == "quote":
            raise _UnsureError
        elif end < stop:
            newline = data.rfind(b"\n", 0, end)
            if not (newline and data[newline - 1] == _BACKSLASH):
                yield newline + 1, end - newline - 1


def _may_end_later(text: bytes) -> bool:
    """Return whether the closing quote of this formatted string may be inside one of its fields."""
    return text.count(b"{") != text.count(b"}") or b"{{" in text or b"}}" in text
