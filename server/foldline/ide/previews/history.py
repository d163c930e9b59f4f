"""Earlier versions of a preview."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.ide.render.diff import Side

MAX_VERSIONS = 50
MAX_BYTES = 4 << 20


class History:
    """The last versions of a preview; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Side] = OrderedDict()
        self._bytes = 0

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(self._kept)

    def add(self, number: int, side: Side) -> None:
        last = next(reversed(self._kept.values()), None)
        self._bytes += _own_bytes(side, last)
        self._kept[number] = side
        while len(self._kept) > MAX_VERSIONS or (len(self._kept) > 2 and self._bytes > MAX_BYTES):
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= _own_bytes(oldest, next(iter(self._kept.values())))

    def get(self, number: int) -> Side | None:
        return self._kept.get(number)


def _own_bytes(side: Side, neighbour: Side | None) -> int:
    """The size of the blocks that a version doesn't share with the one before or after it."""
    shared = frozenset(map(id, neighbour.blocks)) if neighbour is not None else ()
    return sum(len(block.text) for block in side.blocks if id(block) not in shared)
