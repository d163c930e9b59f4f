"""An outline's text within a byte budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.formatting.budget import check_budget, size_of
from foldline.backends.formatting.text import remarks, symbol_line
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.backends.models import FileOutline, SymbolInfo

_LONGEST_SIGNATURE = 200
_LONGEST_DOCSTRING = 80
_LONGEST_IMPORTS = 160
_LONGEST_DECORATOR = 40
_MOST_DECORATORS = 8


def outline_lines(outline: FileOutline, budget: int | None = None) -> list[str]:
    """The lines of `format_outline`."""
    check_budget(budget)
    return _fit(_header(outline), list(_rows(outline.symbols)), budget)


def fit_rows(outline: FileOutline, budget: int) -> list[str]:
    """The lines of the symbols alone, within a budget."""
    return _fit([], list(_rows(outline.symbols)), budget)


def _fit(header: list[str], rows: list[tuple[SymbolInfo, int]], budget: int | None) -> list[str]:
    lines = header + [_line(symbol, level, docstring=True) for symbol, level in rows]
    if budget is None or _size(lines) <= budget:
        return lines
    dropped = ["docstrings"]
    lines = header + [_line(symbol, level, docstring=False) for symbol, level in rows]
    if _fits(lines, dropped, budget):
        return [*lines, _dropped(dropped)]
    kept = _without_private(rows)
    if len(kept) < len(rows):
        dropped.append(f"{len(rows) - len(kept)} private names")
        rows = kept
    deepest = max((level for _, level in rows), default=0)
    for depth in range(deepest, -1, -1):
        within = [(symbol, level) for symbol, level in rows if level <= depth]
        cut = len(rows) - len(within)
        note = [*dropped, f"signatures of {cut} deeper symbols"] if cut else dropped
        lines = header + [_line(symbol, level, docstring=False) for symbol, level in within]
        if _fits(lines, note, budget):
            left = budget - _size([*lines, _dropped(note)])
            named = _with_names(within, depth, left) if cut else lines[len(header) :]
            return [*header, *named, _dropped(note)]
    return _first_rows(header, rows, dropped, budget)


def _with_names(rows: list[tuple[SymbolInfo, int]], depth: int, left: int) -> list[str]:
    """The lines of the rows, and below the deepest ones the bare names inside, while they fit."""
    lines: list[str] = []
    for symbol, level in rows:
        lines.append(_line(symbol, level, docstring=False))
        names = [visible(child.name) for child in symbol.children if not _is_private(child.name)]
        if level != depth or not names:
            continue
        indent = "  " * (level + 1)
        line = indent + ", ".join(names)
        while size_of(line) + 1 > left and len(names) > 1:
            # Names are alike in length: take off what is too much, and a little more.
            fewer = min(len(names) - 1, max(left // (size_of(line) // len(names) + 1) - 2, 1))
            names = names[:fewer]
            line = f"{indent}{', '.join(names)}, … {len(symbol.children) - fewer} more"
        if size_of(line) + 1 <= left:
            left -= size_of(line) + 1
            lines.append(line)
    return lines


def _first_rows(
    header: list[str], rows: list[tuple[SymbolInfo, int]], dropped: list[str], budget: int
) -> list[str]:
    """As many top-level symbols as fit, cut to short lines, with the range of those left out."""
    top = [symbol for symbol, level in rows if level == 0]
    deeper = len(rows) - len(top)
    note = [*dropped, f"{deeper} deeper symbols"] if deeper else list(dropped)
    lines = list(header)
    for index, symbol in enumerate(top):
        line = _line(symbol, 0, docstring=False)
        left = len(top) - index
        rest = f"{left} more from line {symbol.line}: read those lines or search by name"
        if not _fits([*lines, line], [*note, rest], budget) and index:
            return [*lines, _dropped([*note, rest])]
        lines.append(line)
    return [*lines, _dropped(note)]


def _header(outline: FileOutline) -> list[str]:
    count = outline.line_count
    length = f"{count} {'line' if count == 1 else 'lines'}"
    lines = [f"{visible(outline.path)} ({outline.language}, {length})"]
    if outline.docstring:
        lines[0] += f"  # {visible(_short(outline.docstring, _LONGEST_DOCSTRING))}"
    if outline.imports:
        lines.append("imports " + visible(_short(", ".join(outline.imports), _LONGEST_IMPORTS)))
    return [*lines, *remarks(outline.reason, outline.coverage)]


def short_symbol(symbol: SymbolInfo) -> SymbolInfo:
    """The symbol itself with its long texts cut."""
    marks = [_short(mark, _LONGEST_DECORATOR) for mark in symbol.decorators[:_MOST_DECORATORS]]
    return replace(
        symbol,
        signature=_short(symbol.signature, _LONGEST_SIGNATURE),
        decorators=(*marks, "…") if len(symbol.decorators) > len(marks) else tuple(marks),
        docstring=_short(symbol.docstring, _LONGEST_DOCSTRING) if symbol.docstring else None,
    )


def _line(symbol: SymbolInfo, level: int, *, docstring: bool) -> str:
    return symbol_line(short_symbol(symbol), level, docstring=docstring)


def _rows(symbols: tuple[SymbolInfo, ...]) -> Iterator[tuple[SymbolInfo, int]]:
    waiting = [(symbol, 0) for symbol in reversed(symbols)]
    while waiting:
        symbol, level = waiting.pop()
        yield symbol, level
        waiting.extend((child, level + 1) for child in reversed(symbol.children))


def _without_private(rows: list[tuple[SymbolInfo, int]]) -> list[tuple[SymbolInfo, int]]:
    """The rows without private names and without what is inside them."""
    kept: list[tuple[SymbolInfo, int]] = []
    hidden_below: int | None = None
    for symbol, level in rows:
        if hidden_below is not None and level > hidden_below:
            continue
        hidden_below = level if _is_private(symbol.name) else None
        if hidden_below is None:
            kept.append((symbol, level))
    return kept


def _is_private(name: str) -> bool:
    return name.startswith(("_", "#")) and not (name.startswith("__") and name.endswith("__"))


def _fits(lines: list[str], dropped: list[str], budget: int) -> bool:
    return _size([*lines, _dropped(dropped)]) <= budget


def _size(lines: list[str]) -> int:
    return sum(size_of(line) + 1 for line in lines) - 1


def _dropped(what: list[str]) -> str:
    return f"(to fit the budget, dropped: {', '.join(what)})"


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
