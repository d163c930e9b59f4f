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
from foldline.backends.outlines.symbols import flatten
from foldline.backends.parsers.outline_builder import OutlineBuilder
from foldline.backends.parsers.strings import one_line

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


class _Definition(NamedTuple):
    """A definition, the index of the one around it, and its first row with decorators."""

    parent: int
    indent: int
    is_class: bool
    name: str
    row: int
    first_row: int


class _Scope(NamedTuple):
    """The rows of a definition, and its index among the symbols."""

    first_row: int
    last_row: int
    symbol: int
    is_class: bool


def mend_outline(data: bytes, symbols: tuple[SymbolInfo, ...]) -> tuple[SymbolInfo, ...]:
    """The outline of broken `data`: all definitions of a scan, with what the tree adds to them."""
    lines = data.split(b"\n")
    scan = _Scan(lines)
    scan.run()
    outlined = {
        (symbol.name_line, symbol.name): symbol
        for symbol, _, _ in flatten(symbols)
        if symbol.kind in _CODE
    }
    builder = OutlineBuilder()
    scopes: list[_Scope] = []
    for definition, end in zip(scan.definitions, scan.ends, strict=True):
        tree = outlined.get((definition.row + 1, definition.name))
        last_row = max(end, definition.row)
        index = builder.add(
            definition.parent,
            definition.name,
            _kind(definition, scan.definitions),
            definition.first_row + 1,
            last_row + 1,
            tree.signature if tree else one_line(lines[definition.row]).rstrip(": "),
            tree.decorators if tree else _decorators(lines, definition),
            tree.docstring if tree else None,
            definition.row + 1,
        )
        scopes.append(_Scope(definition.first_row, last_row, index, definition.is_class))
    _add_variables(builder, symbols, scopes)
    return builder.finish()


def _kind(found: _Definition, definitions: list[_Definition]) -> SymbolKind:
    if found.is_class:
        return SymbolKind.CLASS
    in_class = found.parent >= 0 and definitions[found.parent].is_class
    return SymbolKind.METHOD if in_class else SymbolKind.FUNCTION


def _add_variables(
    builder: OutlineBuilder, symbols: tuple[SymbolInfo, ...], scopes: list[_Scope]
) -> None:
    """Add the tree's variables, but for those that turn out to be a function's own."""
    for symbol, _, _ in flatten(symbols):
        if symbol.kind in _CODE:
            continue
        row = symbol.line - 1
        around = [scope for scope in scopes if scope.first_row <= row <= scope.last_row]
        if not around or around[-1].is_class:
            builder.add(
                around[-1].symbol if around else -1,
                symbol.name,
                symbol.kind,
                symbol.line,
                symbol.line_end,
                symbol.signature,
            )


class _Scan:
    """One pass over the lines from the top.

    Attributes:
        definitions: In the order of their rows.
        ends: For each the row of the last code that belongs to it.
    """

    def __init__(self, lines: list[bytes]) -> None:
        self.definitions: list[_Definition] = []
        self.ends: list[int] = []
        self._lines = lines
        # Indices of the definitions around the present line.
        self._open: list[int] = []
        # Row and indent of the first of some decorators.
        self._decorated: tuple[int, int] | None = None
        self._last_code = -1

    def run(self) -> None:
        """Read all lines; strings over several lines are skipped."""
        row = depth = 0
        continued = False
        while row < len(self._lines):
            match = _DEFINITION.match(self._lines[row])
            if match:
                # Inside brackets no line starts with these words: the bracket was never closed.
                depth = 0
            if match or (depth == 0 and not continued):
                self._start_statement(row, match)
            last, depth = _skip(self._lines, row, depth)
            continued = depth > 0 or self._lines[last].rstrip(b" \t").endswith(b"\\")
            if last > row or _is_code(self._lines[row].lstrip()):
                self._last_code = last
            row = last + 1
        self._close(-1)

    def _start_statement(self, row: int, match: re.Match[bytes] | None) -> None:
        line = self._lines[row]
        text = line.lstrip(b" \t\f")
        if not _is_code(text):
            return
        indent = len(line[: len(line) - len(text)].replace(b"\f", b"").expandtabs(8))
        self._close(indent)
        if match:
            self._define(row, indent, match)
        elif not text.startswith(b"@"):
            self._decorated = None
        elif self._decorated is None:
            self._decorated = row, indent

    def _define(self, row: int, indent: int, match: re.Match[bytes]) -> None:
        first_row = row
        if self._decorated is not None and self._decorated[1] == indent:
            first_row = self._decorated[0]
        self._decorated = None
        parent = self._open[-1] if self._open else -1
        name = match.group(3).decode("utf-8", "replace")
        self._open.append(len(self.definitions))
        self.definitions.append(
            _Definition(parent, indent, match.group(2) == b"class", name, row, first_row)
        )
        self.ends.append(row)

    def _close(self, indent: int) -> None:
        """End the definitions whose bodies would stand deeper than `indent`."""
        while self._open and self.definitions[self._open[-1]].indent >= indent:
            self.ends[self._open.pop()] = self._last_code


def _is_code(text: bytes) -> bool:
    return bool(text) and not text.startswith(b"#")


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


def _decorators(lines: list[bytes], found: _Definition) -> list[str]:
    return [
        one_line(line.strip()[1:])
        for line in lines[found.first_row : found.row]
        if line.lstrip().startswith(b"@")
    ]
