"""An answer as lines of parts: texts, each with its style on a terminal, in the words of `rich`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from foldline.records import record

Part: TypeAlias = tuple[str, str]
Line: TypeAlias = "Sequence[Part]"
FOUND = "found"
"""The style of a line's text that was searched for; a terminal marks what matches."""


@record
class Code:
    """The lines of a file; `first` is the number of their first one, 0 if they show no numbers."""

    path: str
    text: str
    first: int = 0


def note(text: str) -> Line:
    """A line about the answer."""
    return [(text, "dim")]


def counted(number: int, noun: str) -> str:
    """A number of things: `1 file`, `2,000 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def text_of(line: Line) -> str:
    """The line without its styles."""
    return "".join(text for text, _ in line)


def plain(lines: Iterable[Line | Code]) -> str:
    """The lines without their styles, as models get them."""
    return "\n".join(one.text if isinstance(one, Code) else text_of(one) for one in lines)
