"""What answers share: a coverage, `complete` or `partial: …` with the reason, and their items."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Item_co = TypeVar("Item_co", covariant=True)

COMPLETE = "complete"
# Begins the coverage of an answer that has more than its budget can show.
CUT_SHORT = "partial: stopped before"

TEXT_ALONE = "partial: text: "
"""The beginning of a coverage of which all references are known."""


class Listed(Generic[Item_co]):
    """An answer that is iterated over and counted by its field called `_items`."""

    __slots__ = ()
    _items: ClassVar[str]

    def __iter__(self) -> Iterator[Item_co]:
        return iter(getattr(self, self._items))

    def __len__(self) -> int:
        return len(getattr(self, self._items))
