"""Top-level declarations of broken JavaScript and TypeScript that error recovery gave up.

A declaration that starts its line is most likely one of the file's own. Where the tree has none
there, the piece up to the next such line is parsed by itself, so that damage stays where it is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from foldline.backends.models import SymbolInfo, SymbolKind

if TYPE_CHECKING:
    from collections.abc import Callable

_DECLARATION = re.compile(
    rb"^(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?(?:async[ \t]+)?"
    rb"(function|class|interface|enum|type|namespace|const|let|var)\b[ \t*]+"
    rb"([A-Za-z_$\x80-\xff][\w$\x80-\xff]*).*",
    re.MULTILINE,
)
_KINDS = {
    "function": SymbolKind.FUNCTION,
    "class": SymbolKind.CLASS,
    "interface": SymbolKind.INTERFACE,
    "enum": SymbolKind.ENUM,
    "type": SymbolKind.TYPE,
    "namespace": SymbolKind.NAMESPACE,
}
# Damage in thousands of pieces isn't code that people read.
_MOST_PIECES = 500


def mend_outline(
    data: bytes,
    symbols: tuple[SymbolInfo, ...],
    outline: Callable[[bytes], tuple[SymbolInfo, ...]],
) -> tuple[SymbolInfo, ...]:
    """The symbols with those that `outline` finds in the pieces where none were found."""
    lines = {symbol.line for symbol in symbols} | {symbol.name_line for symbol in symbols}
    matches = list(islice(_DECLARATION.finditer(data), _MOST_PIECES))
    ends = [match.start() for match in matches[1:]]
    mended = list(symbols)
    row = counted = 0
    for match, end in zip(matches, [*ends, len(data)], strict=False):
        start = match.start()
        row += data.count(b"\n", counted, start)
        counted = start
        if row + 1 not in lines:
            inside = outline(data[start:end]) or (_by_its_line(match),)
            mended.extend(_moved(symbol, row) for symbol in inside)
    return tuple(sorted(mended, key=lambda symbol: symbol.line))


def _by_its_line(match: re.Match[bytes]) -> SymbolInfo:
    word, name = (part.decode("utf-8", "replace") for part in match.groups())
    line = match.group().decode("utf-8", "replace").rstrip().rstrip("{").rstrip()
    return SymbolInfo(name, _KINDS.get(word, SymbolKind.VARIABLE), 1, 1, line, name_line=1)


def _moved(symbol: SymbolInfo, rows: int) -> SymbolInfo:
    return replace(
        symbol,
        line=symbol.line + rows,
        line_end=symbol.line_end + rows,
        name_line=symbol.name_line + rows,
        children=tuple(_moved(child, rows) for child in symbol.children),
    )
