"""Byte budgets and the cursors that ask for what a budget left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from foldline.backends.errors import InvalidArgumentError
from foldline.backends.formatting.parts import Code, Line, plain

Piece = TypeVar("Piece", bound="Line | Code")


class DefaultBudget(int):
    """A budget that no caller asked for: details get a part of it, where one asked for is filled.

    The names of an outline and the lines of references may still fill it. A class that doesn't fit
    is shown as its outline alone.
    """

    __slots__ = ()


# Default budgets of single answers to models, which the shells pass on; None means no limit.
TREE_BUDGET = 2500
OUTLINE_BUDGET = DefaultBudget(6000)
SYMBOL_BUDGET = DefaultBudget(3000)
REFERENCES_BUDGET = DefaultBudget(2500)
SEARCH_BUDGET = 2500
GREP_BUDGET = DefaultBudget(2500)
NAVIGATION_BUDGET = 1500
FILE_BUDGET = 8000
CONTEXT_BUDGET = 12_000
PIPELINE_BUDGET = 30_000
OUTLINE_DETAILS = 1500
"""The bytes of an outline with signatures within the default budget; names alone may fill it."""
SYMBOL_MATCHES = 2000
"""The bytes of what a query is about in a symbol that is larger than the default budget."""
REFERENCES_DETAILS = 225
"""The bytes of references that have their source lines within the default budget."""
SUMMARY_BUDGET = 1500
"""An outline that replaces a file in a model's conversation."""
LARGEST_BUDGET = 100_000
"""The most that fits a model's context, in bytes; people may have no limit."""

CUT = "\n… cut: ask with a larger budget"
"""The end of a text that `cut_to_budget` has cut."""


def make_cursor(kind: str, position: int) -> str:
    """The cursor that continues an answer of `kind` at `position`."""
    return f"{kind}@{position}"


def read_cursor(kind: str, cursor: str | None) -> int:
    """The position in `cursor`, 0 without one; a cursor of another kind of answer is an error."""
    if cursor is None:
        return 0
    name, _, position = cursor.partition("@")
    position, _, _ = position.partition(".")
    if name != kind or not re.fullmatch("[0-9]{1,18}", position):
        raise InvalidArgumentError(
            "cursor", f"{cursor!r} is not from an answer of this kind; leave it out to start anew"
        )
    return int(position)


def check_budget(budget: int | None) -> None:
    """Reject a budget that holds nothing."""
    if budget is not None and budget < 1:
        raise InvalidArgumentError("budget", f"{budget} bytes hold nothing; ask for more")


def size_of(text: str) -> int:
    """The bytes of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def cut_to_budget(lines: Sequence[Piece], budget: int | None) -> Sequence[Piece | Line]:
    """The lines, or their beginning and a note if they have more than `budget` bytes.

    Answers are made to fit; this is for those whose first line alone takes the budget.
    """
    if budget is None or size_of(text := plain(lines)) <= budget:
        return lines
    note = CUT if size_of(CUT) < budget // 2 else ""
    data = text.encode("utf-8", "replace")[: budget - size_of(note)]
    cut = data.decode("utf-8", "ignore").rstrip("\n") + note
    return [[(line, "")] for line in cut.split("\n")]


def size_of_line(line: Line) -> int:
    """The bytes of a line with its newline."""
    return sum(size_of(text) for text, _ in line) + 1


def size_of_lines(lines: Iterable[Line]) -> int:
    """The bytes of lines that newlines join."""
    return sum(map(size_of_line, lines)) - 1


def most(high: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `high` that fits, at least 1 where there are as many."""
    if not high or fits(high):
        return high
    low = 1
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def how_many_fit(lines: Iterable[Line], room: int) -> int:
    """The number of lines, each with its newline, that fit `room` bytes: at least one."""
    kept = 0
    for line in lines:
        room -= size_of_line(line)
        if room < 0 and kept:
            break
        kept += 1
    return kept
