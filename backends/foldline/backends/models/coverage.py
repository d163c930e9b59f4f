"""The coverage of an answer, `complete` or `partial: …` with the reason; answers that are lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

Item_co = TypeVar("Item_co", covariant=True)

COMPLETE = "complete"
# Begins the coverage of an answer that has more than its budget can show.
CUT_SHORT = "partial: stopped before"

TEXT_ALONE = "partial: text: "
"""The beginning of a coverage of which all references are known."""


class Listed(Generic[Item_co]):
    """An answer that is a list of items: those of the field that `_items` names."""

    __slots__ = ()
    _items: ClassVar[str]

    def __iter__(self) -> Iterator[Item_co]:
        return iter(getattr(self, self._items))

    def __len__(self) -> int:
        return len(getattr(self, self._items))
