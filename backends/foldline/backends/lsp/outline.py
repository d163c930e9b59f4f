"""A server's document symbols as an outline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.models import SymbolInfo, SymbolKind
from foldline.backends.outlines.outline_merge import has_word, is_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foldline.backends.lsp.results import RawSymbol

# LSP's numbers; all others are variables.
_KINDS = {
    2: SymbolKind.NAMESPACE,
    3: SymbolKind.NAMESPACE,
    4: SymbolKind.NAMESPACE,
    5: SymbolKind.CLASS,
    6: SymbolKind.METHOD,
    9: SymbolKind.METHOD,
    10: SymbolKind.ENUM,
    11: SymbolKind.INTERFACE,
    12: SymbolKind.FUNCTION,
    23: SymbolKind.CLASS,
    26: SymbolKind.TYPE,
}
_LONGEST_SIGNATURE = 200


def is_sound(symbols: Iterable[RawSymbol], lines: Sequence[str]) -> bool:
    """Return whether these can be the symbols of a text.

    They can't where a symbol is outside the text or its parent, or where most names aren't on their
    lines: the server then speaks of another version.
    """
    waiting = [(symbol, 1, len(lines)) for symbol in symbols]
    there = missing = 0
    while waiting:
        symbol, first, last = waiting.pop()
        if not first <= symbol.line <= symbol.name_line <= symbol.line_end <= last:
            return False
        if is_word(symbol.name):
            if has_word(lines[symbol.name_line - 1], symbol.name):
                there += 1
            else:
                missing += 1
        waiting.extend((child, symbol.line, symbol.line_end) for child in symbol.children)
    return missing <= there


def symbols_from(symbols: Iterable[RawSymbol], lines: Sequence[str]) -> tuple[SymbolInfo, ...]:
    """The symbols within the file; the signature of each is the line of its name."""
    return tuple(
        SymbolInfo(
            symbol.name,
            _KINDS.get(symbol.kind, SymbolKind.VARIABLE),
            symbol.line,
            min(symbol.line_end, len(lines)),
            _signature(symbol, lines),
            symbols_from(symbol.children, lines),
            name_line=symbol.name_line,
        )
        for symbol in symbols
        if symbol.line <= len(lines) and symbol.name_line <= len(lines)
    )


def _signature(symbol: RawSymbol, lines: Sequence[str]) -> str:
    line = lines[symbol.name_line - 1].strip().rstrip("{").rstrip()
    return line[:_LONGEST_SIGNATURE] if symbol.name in line else symbol.name
