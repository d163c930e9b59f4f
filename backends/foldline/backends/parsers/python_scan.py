"""Definitions of broken Python code, found line by line.

Error recovery of a grammar may give up definitions that stand above the damage, when it tries to
make one statement of all that follows. A scan from the top cannot: whether a line starts a
definition depends on what is above it alone. So the scan says which definitions there are and how
they nest; the tree adds signatures, docstrings and variables where it has them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from foldline.backends.models import SymbolInfo, SymbolKind
from foldline.backends.parsers.outline_builder import OutlineBuilder
from foldline.backends.parsers.strings import one_line
from foldline.backends.symbols import flatten

_DEFINITION = re.compile(rb"([ \t\f]*)(?:async[ \t]+)?(def|class)[ \t]+([^\W\d][^\s(:\[]*)")
_SKIPPED = re.compile(
    rb"""
    \#.*
    | (?P<triple>\"\"\"|\'\'\')
    | "(?:\\.|[^"\\])*"? | '(?:\\.|[^'\\])*'?
    | (?P<open>[(\[{]) | (?P<close>[)\]}])
    """,
    re.VERBOSE,
)
_TRIPLE_END = {
    b'"""': re.compile(rb'(?:\\.|[^\\])*?"""', re.DOTALL),
    b"'''": re.compile(rb"(?:\\.|[^\\])*?'''", re.DOTALL),
}
_CODE = SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS


class _Found(NamedTuple):
    """A definition, the index of the one around it, and its first row with decorators."""

    parent: int
    indent: int
    word: bytes
    name: str
    row: int
    first_row: int


def mend_outline(data: bytes, symbols: tuple[SymbolInfo, ...]) -> tuple[SymbolInfo, ...]:
    """The outline of broken `data`: all definitions a scan finds, and what the tree knows more."""
    lines = data.split(b"\n")
    found, ends = _scan(lines)
    known = {
        (each.symbol.name_line, each.symbol.name): each.symbol
        for each in flatten(symbols)
        if each.symbol.kind in _CODE
    }
    builder = OutlineBuilder()
    scopes: list[tuple[int, int, int, bool]] = []  # first row, last row, index, is a class
    for each, end in zip(found, ends, strict=True):
        in_class = each.parent >= 0 and found[each.parent].word == b"class"
        is_class = each.word == b"class"
        kind = SymbolKind.METHOD if in_class else SymbolKind.FUNCTION
        tree = known.get((each.row + 1, each.name))
        index = builder.add(
            each.parent,
            each.name,
            SymbolKind.CLASS if is_class else kind,
            each.first_row + 1,
            max(end, each.row) + 1,
            tree.signature if tree else _signature(lines[each.row]),
            tree.decorators if tree else _decorators(lines, each),
            tree.docstring if tree else None,
            each.row + 1,
        )
        scopes.append((each.first_row, max(end, each.row), index, is_class))
    _add_variables(builder, symbols, scopes)
    return builder.finish()


def _add_variables(
    builder: OutlineBuilder,
    symbols: tuple[SymbolInfo, ...],
    scopes: list[tuple[int, int, int, bool]],
) -> None:
    """The tree's variables, but for those that turn out to be a function's own."""
    for located in flatten(symbols):
        symbol = located.symbol
        if symbol.kind in _CODE:
            continue
        row = symbol.line - 1
        around = [scope for scope in scopes if scope[0] <= row <= scope[1]]
        parent, in_class = (around[-1][2], around[-1][3]) if around else (-1, True)
        if in_class:
            builder.add(
                parent, symbol.name, symbol.kind, symbol.line, symbol.line_end, symbol.signature
            )


def _scan(lines: list[bytes]) -> tuple[list[_Found], list[int]]:
    """The definitions, and for each the row of the last code that belongs to it."""
    found: list[_Found] = []
    ends: list[int] = []
    open_at: list[int] = []  # Indices of definitions that the present line may belong to.
    decorated: tuple[int, int] | None = None  # Row and indent of the first of some decorators.
    depth = 0
    continued = False
    row = 0
    last_code = -1
    while row < len(lines):
        line = lines[row]
        match = _DEFINITION.match(line)
        # Inside brackets no line starts with these words: the bracket was never closed.
        if match or depth == 0:
            starts = match is not None or not continued
            depth = 0 if match else depth
            stripped = line.lstrip(b" \t\f")
            if starts and stripped and not stripped.startswith(b"#"):
                indent = _width(line[: len(line) - len(stripped)])
                while open_at and found[open_at[-1]].indent >= indent:
                    ends[open_at.pop()] = last_code
                if match:
                    first = decorated[0] if decorated and decorated[1] == indent else row
                    name = match.group(3).decode("utf-8", "replace")
                    parent = open_at[-1] if open_at else -1
                    open_at.append(len(found))
                    found.append(_Found(parent, indent, match.group(2), name, row, first))
                    ends.append(row)
                    decorated = None
                elif stripped.startswith(b"@"):
                    decorated = decorated or (row, indent)
                else:
                    decorated = None
        last = row
        row, depth = _skip(lines, row, depth)
        continued = lines[row].rstrip(b" \t").endswith(b"\\") or depth > 0
        if (lines[last].strip() and not lines[last].lstrip().startswith(b"#")) or row > last:
            last_code = row
        row += 1
    for index in open_at:
        ends[index] = last_code
    return found, ends


def _skip(lines: list[bytes], row: int, depth: int) -> tuple[int, int]:
    """The row where the strings of this line end, and the depth of brackets there."""
    line, position = lines[row], 0
    while match := _SKIPPED.search(line, position):
        position = match.end()
        if match.group("open"):
            depth += 1
        elif match.group("close"):
            depth = max(depth - 1, 0)
        elif quotes := match.group("triple"):
            end = _TRIPLE_END[quotes].match(line, position)
            below = row
            while end is None:
                below += 1
                if below >= len(lines):
                    return row, depth  # Never closed: what follows is code, not a string.
                end = _TRIPLE_END[quotes].match(lines[below])
            row, line, position = below, lines[below], end.end()
    return row, depth


def _width(indentation: bytes) -> int:
    return len(indentation.replace(b"\f", b"").expandtabs(8))


def _signature(line: bytes) -> str:
    return one_line(line).rstrip(": ")


def _decorators(lines: list[bytes], found: _Found) -> list[str]:
    return [
        one_line(line.strip()[1:])
        for line in lines[found.first_row : found.row]
        if line.lstrip().startswith(b"@")
    ]
