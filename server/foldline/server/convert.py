"""Conversions between foldline's own values and what travels over LSP.

Inside foldline a place in a text is an offset in code points. A client counts in UTF-8, UTF-16 or
UTF-32 code units, as agreed at `initialize`; this module alone knows about that.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

from lsprotocol.types import Position, PositionEncodingKind, Range

_LINE_END = re.compile(r"\r\n|\n|\r")
_LONE_RETURN = re.compile(r"\r(?!\n)")

# LSP's `uinteger`.
_MAX_UINTEGER = (1 << 31) - 1

T = TypeVar("T")


@dataclass(frozen=True)
class LineIndex:
    r"""Maps offsets of one text to LSP positions and back.

    Lines end at `\n`, `\r\n` or `\r` and at nothing else, as LSP demands: a form feed or U+2028
    does not end a line, although `str.splitlines` says so. They are looked for by whoever first
    asks for one, be it in a thread.
    """

    text: str
    encoding: PositionEncodingKind | str

    @classmethod
    def of(
        cls, text: str, encoding: PositionEncodingKind | str | None = PositionEncodingKind.Utf16
    ) -> "LineIndex":
        """The index of `text` for a client that counts in units of `encoding`, or UTF-16."""
        return cls(text, encoding or PositionEncodingKind.Utf16)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The offset at which each line starts."""
        if _LONE_RETURN.search(self.text):
            return (0, *(match.end() for match in _LINE_END.finditer(self.text)))
        # Three times as fast, and needed at every key.
        *lines, _ = self.text.split("\n")
        return tuple(accumulate((len(line) + 1 for line in lines), initial=0))

    def position(self, offset: int) -> Position:
        """The position of `offset`; offsets outside the text are moved to its nearer end."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.starts, offset) - 1
        return Position(line, self._units(self.text[self.starts[line] : offset]))

    def range(self, start: int, end: int) -> Range:
        return Range(self.position(start), self.position(end))

    def offset(self, position: Position) -> int:
        """The offset of `position`.

        A column past the end of its line means the end of the line, and a line past the end of the
        text means the end of the text, as LSP demands. A column inside a character means its start.
        """
        if position.line >= len(self.starts):
            return len(self.text)
        start = self.starts[position.line]
        line = self.text[start : self._line_end(position.line)]
        if line.isascii() or self.encoding == PositionEncodingKind.Utf32:
            return start + min(position.character, len(line))
        units = 0
        for column, character in enumerate(line):
            units += self._units(character)
            if units > position.character:
                return start + column
        return start + len(line)

    def line(self, line: int) -> Range:
        """What stands in a line, counted from 0, without the blanks around it."""
        line = min(line, len(self.starts) - 1)
        start, end = self.starts[line], self._line_end(line)
        text = self.text[start:end]
        return self.range(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))

    def line_and_column(self, line: int, character: int) -> tuple[int, int]:
        """An LSP position as `foldline.backends` counts: from 1, columns in code points."""
        line = min(line, len(self.starts) - 1)
        return line + 1, self.offset(Position(line, character)) - self.starts[line] + 1

    def _line_end(self, line: int) -> int:
        """The offset at which the text of `line` ends, before its line break."""
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        while end > self.starts[line] and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == PositionEncodingKind.Utf32:
            return len(text)
        if self.encoding == PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True, slots=True)
class PositionArgument:
    """A position as LSP has it: from 0, in the client's own units."""

    line: int
    character: int

    def __post_init__(self) -> None:
        for count in (self.line, self.character):
            if not 0 <= count <= _MAX_UINTEGER:
                raise ValueError(f"a line and a character are from 0 to {_MAX_UINTEGER}")
