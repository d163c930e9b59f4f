"""How much the evaluation of a file may make: a few lines can describe more than any memory holds.

Costs are about bytes. Each evaluated statement has an allowance and each file one for all of its
statements; both grow with the file. What is over an allowance stays unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.ide.analysis.source_map import MappedText

STEP = 100
"""An expression that is evaluated, an item, an argument, a field."""
SECTION = 500
"""A section where it is shown."""
_RUN = 200
_USED = 60

_BASE = 2_000_000
_FOR_A_CHARACTER = 300
_LEAST_FOR_A_CHARACTER = 1_000
_MOST = 30_000_000
_STATEMENTS = 3
"""How many statements of a file may take all of their allowance."""


def text_cost(*texts: MappedText) -> int:
    """The cost of a text that is put together of others."""
    return sum(len(text.text) + _RUN * len(text.runs) for text in texts)


def names_cost(count: int) -> int:
    """The cost of remembering which names a value rests on."""
    return _USED * count


class Meter:
    """Counts what is made for one statement at a time."""

    def __init__(self) -> None:
        self.exceeded = False
        self._allowed = 0
        self._left = 0

    def start(self, size: int, spent: int, own: int) -> None:
        """Begin a statement of `own` characters in a file of `size`, which already cost `spent`."""
        allowance = min(_BASE + _FOR_A_CHARACTER * size, _MOST)
        # Whatever stands above it, a statement may cost what an honest one of its length does.
        least = min(_LEAST_FOR_A_CHARACTER * own, allowance)
        self._allowed = self._left = max(min(allowance, _STATEMENTS * allowance - spent), least)
        self.exceeded = False

    def stop(self) -> int:
        """The cost of the statement."""
        return self._allowed - max(self._left, 0)

    def affords(self, cost: int) -> bool:
        """Take `cost` off; False from the first cost on that is over the allowance."""
        if not self.exceeded:
            self._left -= cost
            self.exceeded = self._left < 0
        return not self.exceeded
