"""Limits on what evaluating a file may build: a few lines can describe more than memory holds.

Costs are roughly bytes. Each statement has an allowance, and so has each file for all of its
statements; both grow with the file. A value that exceeds an allowance stays unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.ide.analysis.source_map import MappedText

STEP = 100
"""Cost of an evaluated expression, an item, an argument or a field."""
SECTION = 500
"""Cost of a section, each time it is shown."""
_RUN = 200
_USED = 60

_BASE = 2_000_000
_FOR_A_CHARACTER = 300
_LEAST_FOR_A_CHARACTER = 1_000
_MOST = 30_000_000
_STATEMENTS = 3
"""Number of statements in a file that may use their whole allowance."""


def text_cost(*texts: MappedText) -> int:
    """Cost of a text built from others."""
    return sum(len(text.text) + _RUN * len(text.runs) for text in texts)


def names_cost(count: int) -> int:
    """Cost of recording the names that a value depends on."""
    return _USED * count


class Meter:
    """Counts the cost of evaluating one statement at a time."""

    def __init__(self) -> None:
        self.exceeded = False
        self._allowed = 0
        self._left = 0

    def start(self, size: int, spent: int, own: int) -> None:
        """Start a statement of `own` characters in a file of `size` that cost `spent` so far."""
        allowance = min(_BASE + _FOR_A_CHARACTER * size, _MOST)
        # Whatever precedes it, a statement may cost what an ordinary one of its length does.
        least = min(_LEAST_FOR_A_CHARACTER * own, allowance)
        self._allowed = self._left = max(min(allowance, _STATEMENTS * allowance - spent), least)
        self.exceeded = False

    @property
    def spent(self) -> int:
        """Cost of the statement so far."""
        return self._allowed - max(self._left, 0)

    def affords(self, cost: int) -> bool:
        """Charge `cost`; return False once the allowance has been exceeded."""
        if not self.exceeded:
            self._left -= cost
            self.exceeded = self._left < 0
        return not self.exceeded
