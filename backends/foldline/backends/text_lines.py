"""Many short texts searched as one."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class TextLines:
    """Lines in one text, so that those that hold a word are found without trying each.

    `fold` changes all of it at once, and no newline.
    """

    def __init__(self, lines: Iterable[str], fold: Callable[[str], str] = str) -> None:
        # UTF-8 is searched faster than wide characters. Each line has a newline before it.
        self._text = _encoded(fold("\n".join(("", *lines))))
        # The places of the newlines, and of the text's end.
        lengths = map(len, self._text.split(b"\n"))
        self._starts = array("L", accumulate(lengths, lambda start, length: start + 1 + length))

    def holding(self, word: str, most: int | None = None) -> list[int]:
        """The numbers, from 0, of the first `most` lines that hold `word`, which has no newline."""
        text, starts = self._text, self._starts
        # Of an empty word there is one at each beginning.
        wanted = _encoded(word) or b"\n"
        found: list[int] = []
        at = text.find(wanted)
        while at >= 0 and (most is None or len(found) < most):
            number = bisect_right(starts, at)
            found.append(number - 1)
            at = text.find(wanted, starts[number])
        return found


def as_line(text: str) -> str:
    """The text without newlines; a word without white space is in both or in neither."""
    return text.replace("\n", " ")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
