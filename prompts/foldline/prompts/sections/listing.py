"""Lists in a prompt: how the texts of items are joined, and how many of them are shown.

Executed prompts and those read from source use the same functions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.forms.segments import Segment, SegmentKind

NUMBER = "_number"
"""The placeholder of an item's template for the item's number, counted from 1."""
LEFT_OUT = "_left_out"
"""The placeholder of the note for the number of items left out."""
TOTAL = "_total"
"""The placeholder of the note for the number of all items."""

SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class Listing:
    """The way in which a list is shown.

    `max_items` and `budget` (tokens, by `count_tokens`) limit it; None is no limit.
    """

    separator: str = SEPARATOR
    max_items: int | None = None
    budget: int | None = None
    count_tokens: Callable[[str], int] = estimated_tokens

    def shown(self, texts: Sequence[str], note: Callable[[int], str]) -> int:
        """Return the number of items shown: the first ones that fit, and at least one.

        `note` returns the note for a number of items left out; its tokens count, too.
        """
        total = len(texts)
        most = total if self.max_items is None else min(self.max_items, total)
        if self.budget is None or not total:
            return most
        count, between = self.count_tokens, self.count_tokens(self.separator)
        # An item is counted with the separator after it: another item's, or the note's.
        sizes = list(accumulate(count(text) + between for text in texts[:most]))
        if most == total and sizes[-1] - between <= self.budget:
            return total
        fitting = min(most if most < total else most - 1, bisect_right(sizes, self.budget))
        while fitting > 1 and sizes[fitting - 1] + count(note(total - fitting)) > self.budget:
            fitting -= 1
        return max(fitting, 1)

    def joined(
        self, items: Sequence[Sequence[SegmentT]], note: Callable[[int], Sequence[SegmentT]]
    ) -> list[SegmentT | Segment]:
        """Return the segments of the items that are shown, and of the note if some are left out."""
        shown = self.shown([text_of(item) for item in items], lambda left: text_of(note(left)))
        parts = list(items[:shown])
        if shown < len(items):
            parts.append(note(len(items) - shown))
        segments: list[SegmentT | Segment] = []
        for part in parts:
            if segments and self.separator:
                segments.append(Segment(SegmentKind.LITERAL, self.separator))
            segments.extend(part)
        return segments


SegmentT = TypeVar("SegmentT", bound=Segment)


def text_of(segments: Sequence[Segment]) -> str:
    """Return the text of segments."""
    return "".join([segment.text for segment in segments])


def item_field(items: str, index: int, field: str) -> str:
    """Return the `field` of a segment that shows an item's field, such as `passages[0].text`."""
    return f"{items}[{index}].{field}"
