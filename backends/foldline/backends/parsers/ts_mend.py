"""Top-level declarations of broken JavaScript and TypeScript that error recovery gave up.

A declaration that starts its line is most likely one of the file's own. Where the tree has none
there, the piece up to the next such line is parsed by itself, so that damage stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from foldline.backends.models import SymbolInfo, SymbolKind

_DECLARATION = re.compile(
    rb"^(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?(?:async[ \t]+)?"
    rb"(function|class|interface|enum|type|namespace|const|let|var)\b[ \t*]+"
    rb"([A-Za-z_$\x80-\xff][\w$\x80-\xff]*).*",
    re.MULTILINE,
)
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
            # Empty lines above it, so that its symbols have the lines of the file.
            piece = b"\n" * row + data[start:end]
            mended += outline(piece) or (_by_its_line(match, row + 1),)
    return tuple(sorted(mended, key=lambda symbol: symbol.line))


def _by_its_line(match: re.Match[bytes], number: int) -> SymbolInfo:
    word, name = (part.decode("utf-8", "replace") for part in match.groups())
    kind = SymbolKind.VARIABLE if word in {"const", "let", "var"} else SymbolKind(word)
    line = match.group().decode("utf-8", "replace").rstrip().rstrip("{").rstrip()
    return SymbolInfo(name, kind, number, number, line, name_line=number)
