"""One outline of two: that of the syntax tree, and a language server's symbols of the same text.

A definition of both has the same name on the same line. The tree gives the frame: every definition
that it has stays, with its signature, decorators and docstring. The server changes

- the kind, where the tree knows only a function or a variable, and the server a method or a class;
- the lines, where the server's hold those of the tree, and take none of another definition;
- and adds what the tree lost: definitions with a body, behind a macro, and in a file with errors
  any name of a module or class, but nothing that either of them sees inside a function.

So the parameters and local names that servers list never make an outline longer, and lines are
within the file, and children within their parents, whatever a server answers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from foldline.backends.files.source import split_lines
from foldline.backends.models import SymbolKind
from foldline.backends.outlines.outlines import PARSED_WITH_ERRORS
from foldline.backends.outlines.symbols import flatten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from foldline.backends.engine import DocumentSymbols
    from foldline.backends.models import FileOutline, SymbolInfo

    _Key = tuple[str, int]

_WORD = re.compile(r"[\w$]+")
# The kinds of trees that a server may make more exact, and its own that do. Others of its kinds are
# coarser than keywords: LSP has none for a type alias, and properties are many things.
_COARSE = frozenset({SymbolKind.FUNCTION, SymbolKind.VARIABLE})
_EXACT = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS})
# Each costs a walk, and no error hides more.
_MOST_ADDED = 200
_FUNCTIONS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_CONTAINERS = frozenset(
    {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.NAMESPACE, SymbolKind.TYPE}
)


def merge_outline(outline: FileOutline, found: DocumentSymbols) -> FileOutline:
    """The outline with what a server knows of the same text; itself where that is nothing."""
    own_symbols = {_key(symbol): symbol for symbol, _, _ in flatten(found.symbols)}
    shared = {_key(symbol) for symbol, _, _ in flatten(outline.symbols)} & own_symbols.keys()
    symbols = _refined(outline.symbols, own_symbols, 1, outline.line_count)
    lines = split_lines(found.text)
    broken = PARSED_WITH_ERRORS in outline.reason
    added = 0
    candidates = {
        _key(symbol): symbol
        for symbol in _outside_functions(found.symbols)
        if _key(symbol) not in shared and _is_definition(symbol, lines, broken=broken)
    }
    for symbol in islice(candidates.values(), _MOST_ADDED):
        more = _inserted(symbols, symbol)
        if more is not None:
            symbols, added = more, added + 1
    if not shared and not added:
        return outline
    reason = outline.reason if outline.symbols else ""
    return replace(
        outline, symbols=symbols, reason=reason, backend=f"{found.engine}+{outline.backend}"
    )


def last_word(name: str) -> str:
    """The identifier at the end of a name as servers write it: `run` of `(*Server).run`."""
    words = _WORD.findall(name)
    return words[-1] if words else name


def is_word(name: str) -> bool:
    """Return whether the name is an identifier, and not a server's label like `<function>`."""
    return _WORD.fullmatch(name) is not None


def _key(symbol: SymbolInfo) -> _Key:
    return last_word(symbol.name), symbol.name_line


def _refined(
    symbols: Sequence[SymbolInfo], known: Mapping[_Key, SymbolInfo], first: int, last: int
) -> tuple[SymbolInfo, ...]:
    """The symbols of the tree, all within `first` and `last`, with the server's kinds and lines."""
    refined = []
    for index, symbol in enumerate(symbols):
        after = symbols[index + 1].line - 1 if index + 1 < len(symbols) else last
        refined.append(_refined_one(symbol, known, first, min(after, last)))
        first = max(first, refined[-1].line_end + 1)
    return tuple(refined)


def _refined_one(
    symbol: SymbolInfo, known: Mapping[_Key, SymbolInfo], first: int, last: int
) -> SymbolInfo:
    """The symbol, which may grow to `first` and `last`, with what is inside it."""
    line, line_end, kind = symbol.line, symbol.line_end, symbol.kind
    other = known.get(_key(symbol))
    if other is not None:
        if first <= other.line <= line and line_end <= other.line_end <= last:
            line, line_end = other.line, other.line_end
        if kind in _COARSE and other.kind in _EXACT:
            kind = other.kind
    children = _refined(symbol.children, known, line, line_end)
    if (line, line_end, kind) == (symbol.line, symbol.line_end, symbol.kind) and all(
        new is old for new, old in zip(children, symbol.children, strict=True)
    ):
        return symbol
    return replace(symbol, line=line, line_end=line_end, kind=kind, children=children)


def _outside_functions(symbols: Iterable[SymbolInfo]) -> Iterator[SymbolInfo]:
    """The server's symbols outside of function bodies."""
    end = 0
    for symbol, _, enclosing in sorted(flatten(symbols), key=lambda found: found.symbol.line):
        if symbol.line <= end or not all(parent.kind in _CONTAINERS for parent in enclosing):
            continue
        if symbol.kind in _FUNCTIONS:
            end = symbol.line_end
        yield symbol


def has_word(line: str, name: str) -> bool:
    """Return whether the identifier stands on the line."""
    return name in line and name in _WORD.findall(line)


def _is_definition(symbol: SymbolInfo, lines: Sequence[str], *, broken: bool) -> bool:
    """Return whether the symbol of a server alone is worth a line: it has a name and a body."""
    return (
        is_word(symbol.name)
        and (broken or (symbol.kind != SymbolKind.VARIABLE and symbol.name_line < symbol.line_end))
        and 1 <= symbol.line <= symbol.name_line <= symbol.line_end <= len(lines)
        and has_word(lines[symbol.name_line - 1], symbol.name)
    )


def _inserted(symbols: Sequence[SymbolInfo], new: SymbolInfo) -> tuple[SymbolInfo, ...] | None:
    """The symbols with `new` at its place by its lines; None where it has none among them."""
    before: list[SymbolInfo] = []
    inside: list[SymbolInfo] = []
    after: list[SymbolInfo] = []
    for index, symbol in enumerate(symbols):
        if symbol.line_end < new.line:
            before.append(symbol)
        elif symbol.line > new.line_end:
            after.append(symbol)
        elif new.name_line < symbol.line and symbol.line_end <= new.line_end:
            inside.append(symbol)
        elif (
            symbol.kind in _CONTAINERS
            and symbol.name_line < new.line
            and new.line_end <= symbol.line_end
        ):
            children = _inserted(symbol.children, new)
            if children is None:
                return None
            changed = replace(symbol, children=children)
            return (*symbols[:index], changed, *symbols[index + 1 :])
        else:
            return None
    inserted = replace(new, children=tuple(inside))
    return (*before, inserted, *after)
