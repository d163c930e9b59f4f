"""Builder of outlines: symbols in any order, without recursion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from foldline.backends.models import SymbolInfo


@dataclass(slots=True)
class Outline:
    """The result of a parser for one file.

    It is `provisional` where the parser ran out of time or memory: a machine with less to do may
    parse the file, so the next process tries again.
    """

    symbols: tuple[SymbolInfo, ...] = ()
    imports: list[str] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)
    docstring: str | None = None
    reason: str = ""
    provisional: bool = False


_DEEPEST = 50


class OutlineBuilder:
    """A growing list of symbols, each with the index of the one that encloses it, or -1.

    An enclosing symbol is always added before the symbols inside it. Symbols nested deeper than
    `_DEEPEST`, as in generated code, move up to that level, so that code may walk outlines by
    recursion.
    """

    __slots__ = ("_depths", "_fields", "_parents")

    def __init__(self) -> None:
        self._fields: list[
            tuple[str, str, int, int, str, Sequence[str], str | None, int]
        ] = []  # fmt: skip
        self._parents: list[int] = []
        self._depths: list[int] = []

    def __len__(self) -> int:
        return len(self._fields)

    def add(  # noqa: PLR0917 - the hot call of every outline; keywords cost a tenth of the walk.
        self,
        parent: int,
        name: str,
        kind: str,
        line: int,
        line_end: int,
        signature: str,
        decorators: Sequence[str] = (),
        docstring: str | None = None,
        name_line: int = 0,
    ) -> int:
        """Add a symbol; returns its index, for use as the parent of others."""
        self._fields.append(
            (name, kind, line, line_end, signature, decorators, docstring, name_line or line)
        )
        depth = 0
        if parent >= 0:
            depth = self._depths[parent] + 1
            if depth > _DEEPEST:
                parent, depth = self._parents[parent], _DEEPEST
        self._depths.append(depth)
        self._parents.append(parent)
        return len(self._fields) - 1

    def replace_by_last(self, index: int) -> None:
        """Put the last symbol, which has none inside, in the place of an earlier one."""
        self._fields[index] = self._fields.pop()
        del self._parents[-1], self._depths[-1]

    def names_below(self, first: int, parent: int) -> list[str]:
        """The names of the symbols from index `first` on that are right below `parent`."""
        return [
            self._fields[index][0]
            for index in range(first, len(self._fields))
            if self._parents[index] == parent
        ]

    def finish(self) -> tuple[SymbolInfo, ...]:
        """The symbols as a forest in the order of their lines."""
        below: dict[int, list[SymbolInfo]] = {}
        for index in range(len(self._fields) - 1, -1, -1):
            name, kind, line, line_end, signature, marks, docstring, name_line = self._fields[index]
            children = below.pop(index, None)
            if children is None:
                inner: tuple[SymbolInfo, ...] = ()
            else:
                children.reverse()
                inner = tuple(sorted(children, key=_by_line))
            details = signature, inner, tuple(marks), docstring
            symbol = SymbolInfo(name, kind, line, line_end, *details, name_line=name_line)
            below.setdefault(self._parents[index], []).append(symbol)
        top = below.get(-1, [])
        top.reverse()
        return tuple(sorted(top, key=_by_line))


def _by_line(symbol: SymbolInfo) -> int:
    return symbol.line
