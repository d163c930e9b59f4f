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

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(self._kept)

    def add(self, number: int, side: Side) -> None:
        self._kept[number] = side
        while len(self._kept) > MAX_VERSIONS or (len(self._kept) > 2 and self._bytes() > MAX_BYTES):
            self._kept.popitem(last=False)

    def get(self, number: int) -> Side | None:
        return self._kept.get(number)

    def _bytes(self) -> int:
        # Versions share the blocks that did not change between them.
        blocks = {id(block): block for side in self._kept.values() for block in side.blocks}
        return sum(len(block.text) for block in blocks.values())
