"""Conversions between foldline's own values and what travels over LSP.

Inside foldline, a position in a text is an offset in code points. Clients count in UTF-8, UTF-16 or
UTF-32 code units, as agreed at `initialize`; only this module knows about that.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import TypeVar, overload

from lsprotocol import types

from foldline.backends.base.units import from_units, units
from foldline.records import record

_LINE_END = re.compile(r"\r\n|\n|\r")
_LONE_RETURN = re.compile(r"\r(?!\n)")
# Some thousand blocks of some thousand lines are a module of hundreds of megabytes.
_BLOCK = 1_000

T = TypeVar("T")


@record(slots=False)
class LineIndex:
    r"""Maps offsets of one text to LSP positions and back.

    Lines end at `\n`, `\r\n` or `\r` only, as LSP demands: unlike for `str.splitlines`, a form feed
    or U+2028 doesn't end a line. The line starts are computed at first use, in whatever thread.
    """

    text: str
    encoding: types.PositionEncodingKind | str

    @classmethod
    def of(
        cls,
        text: str,
        encoding: types.PositionEncodingKind | str | None = types.PositionEncodingKind.Utf16,
    ) -> "LineIndex":
        """The index of `text` for a client that counts in units of `encoding`, or UTF-16."""
        return cls(text, encoding or types.PositionEncodingKind.Utf16)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The offset at which each line starts."""
        if "\r" in self.text and _LONE_RETURN.search(self.text):
            return (0, *(match.end() for match in _LINE_END.finditer(self.text)))
        # Three times as fast, and needed at every key.
        *lines, _ = self.text.split("\n")
        return tuple(accumulate((len(line) + 1 for line in lines), initial=0))

    def position(self, offset: int) -> types.Position:
        """The position of `offset`; offsets outside the text are moved to its nearer end."""
        offset = max(0, min(offset, len(self.text)))
        if not offset:
            # All that is said of a text that isn't read: its lines aren't looked for.
            return types.Position(0, 0)
        line = bisect_right(self.starts, offset) - 1
        start = self.starts[line]
        if self.text.isascii():
            return types.Position(line, offset - start)
        return types.Position(line, units(self.text[start:offset], self.encoding))

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """The offset of `position`.

        A column past the end of its line means the end of the line, and a line past the end of the
        text means the end of the text, as LSP demands. A column inside a character means its start.
        """
        return offset_at(self.text, self.starts, position, self.encoding)

    def line(self, line: int) -> types.Range:
        """The range of a line's text without the blanks around it; lines count from 0."""
        line = min(line, len(self.starts) - 1)
        start, end = self.starts[line], _line_end(self.text, self.starts, line)
        text = self.text[start:end]
        return self.range(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))

    def line_and_column(self, line: int, character: int) -> tuple[int, int]:
        """An LSP position as `foldline.backends` counts: from 1, columns in code points."""
        line = min(line, len(self.starts) - 1)
        return line + 1, self.offset(types.Position(line, character)) - self.starts[line] + 1


class LineStarts(Sequence[int]):
    """The offsets at which the lines of a text start, kept through edits.

    Lines are kept in blocks, each as its distance from the start of its block. An edit costs the
    blocks that it touches, and the number of blocks, wherever in the text it is.
    """

    def __init__(self, text: str) -> None:
        starts = LineIndex.of(text).starts
        self._size = len(text)
        # For each block: its first line, its offset, and its lines' distances from that.
        self._lines = list(range(0, len(starts), _BLOCK))
        self._offsets = [starts[line] for line in self._lines]
        self._blocks = [
            [start - starts[line] for start in starts[line : line + _BLOCK]] for line in self._lines
        ]

    def __len__(self) -> int:
        return self._lines[-1] + len(self._blocks[-1])

    @overload
    def __getitem__(self, line: int) -> int: ...
    @overload
    def __getitem__(self, line: slice) -> tuple[int, ...]: ...
    def __getitem__(self, line: int | slice) -> int | tuple[int, ...]:
        if isinstance(line, slice):
            return tuple(self[number] for number in range(*line.indices(len(self))))
        if not 0 <= line < len(self):
            raise IndexError(line)
        block = bisect_right(self._lines, line) - 1
        return self._offsets[block] + self._blocks[block][line - self._lines[block]]

    def edit(self, start: int, end: int, text: str, length: int) -> None:
        """Follow an edit: `text` is the new text, with `length` characters for `start` to `end`."""
        shift = len(text) - self._size
        self._size = len(text)
        new_end = start + length
        # The blocks that hold a line which starts from `start` to `end`.
        first = max(bisect_left(self._offsets, start) - 1, 0)
        last = max(bisect_right(self._offsets, end), first + 1)
        known = [
            offset + distance
            for offset, block in zip(
                self._offsets[first:last], self._blocks[first:last], strict=True
            )
            for distance in block
        ]
        # The first line starts at 0 whatever is typed there.
        above = known[: max(bisect_left(known, start), 1 if first == 0 else 0)]
        # A break may come about with the character on either side.
        line_ends = _LINE_END.finditer(text, max(start - 1, 0), new_end + 1)
        typed = [at for match in line_ends if start <= (at := match.end()) <= new_end]
        below = [at + shift for at in known[bisect_right(known, end) :]]
        middle = [*above, *(at for at in typed if at > 0), *below]
        self._replace(first, last, middle, shift)

    def _replace(self, first: int, last: int, starts: list[int], shift: int) -> None:
        """Put the lines at `starts` in place of some blocks; what is below moves by `shift`."""
        line = self._lines[first]
        more = len(starts) - sum(map(len, self._blocks[first:last]))
        cuts = range(0, len(starts), _BLOCK)
        self._lines[first:] = [
            *(line + cut for cut in cuts),
            *(below + more for below in self._lines[last:]),
        ]
        self._offsets[first:] = [
            *(starts[cut] for cut in cuts),
            *(below + shift for below in self._offsets[last:]),
        ]
        self._blocks[first:last] = [
            [start - starts[cut] for start in starts[cut : cut + _BLOCK]] for cut in cuts
        ]


def offset_at(
    text: str,
    starts: Sequence[int],
    position: types.Position,
    encoding: types.PositionEncodingKind | str,
) -> int:
    """The offset of `position` in a text whose lines start at `starts`; see `LineIndex.offset`."""
    if position.line >= len(starts):
        return len(text)
    start = starts[position.line]
    line = text[start : min(_line_end(text, starts, position.line), start + position.character)]
    return start + from_units(line, position.character, encoding)


def _line_end(text: str, starts: Sequence[int], line: int) -> int:
    """The offset at which the text of `line` ends, before its line break."""
    end = starts[line + 1] if line + 1 < len(starts) else len(text)
    while end > starts[line] and text[end - 1] in "\r\n":
        end -= 1
    return end
