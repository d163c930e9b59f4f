"""A symbol's source within a byte budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.line_pages import (
    columns_note,
    make_line_cursor,
    page_lines,
    read_line_cursor,
)
from foldline.backends.formatting.outline_text import fit_rows, short_symbol
from foldline.backends.formatting.text import symbol_line
from foldline.backends.formatting.visible import visible
from foldline.backends.models import FileOutline, SymbolInfo

if TYPE_CHECKING:
    from foldline.backends.models import SymbolDetail

_KIND = "symbol"
# The header line and the notes of the text form.
_ROOM = 160


def page_symbol(detail: SymbolDetail, budget: int | None, cursor: str | None) -> SymbolDetail:
    """The symbol with as much of its source as the budget holds, in whole lines where they fit.

    A symbol with symbols inside that does not fit is first shown as their outline.
    """
    budgets.check_budget(budget)
    if budget is None and cursor is None:
        return detail
    overhead = _ROOM + budgets.size_of(visible(detail.path))
    room = None if budget is None else budget - overhead
    position = read_line_cursor(_KIND, cursor)
    if cursor is None and (room is None or budgets.size_of(detail.body) <= room):
        return detail
    lines = detail.body.split("\n")
    if cursor is None and detail.children and budget is not None and room is not None:
        outline = FileOutline(detail.path, "", (), (_without_source(detail),), len(lines))
        note = (
            f"the outline of {len(lines)} lines: ask for a symbol inside it, or with cursor "
            f"{budgets.make_cursor(_KIND, 0)} for the source"
        )
        return replace(
            _shortened(detail, budget),
            body="\n".join(fit_rows(outline, max(room - budgets.size_of(note), 1))),
            cursor=budgets.make_cursor(_KIND, 0),
            notes=(*detail.notes, note),
        )
    first, column = position or (0, 1)
    first = min(first, len(lines))
    page = page_lines(lines[first:], column, budget, overhead)
    last = first + page.height
    if (first, column) == (0, 1) and page.following is None:
        return detail
    start = detail.body_line + first
    note = f"lines {start}-{detail.body_line + last - 1} of {detail.body_line}-{detail.line_end}"
    if first < len(lines) and (columns := columns_note(column, page.column_end, len(lines[first]))):
        note += f", {columns}"
    rest = None
    if page.following is not None:
        index, after = page.following
        rest = make_line_cursor(_KIND, first + index, after)
        note += f": ask with cursor {rest} for the rest"
    return replace(
        detail if budget is None else _shortened(detail, budget),
        body=page.text,
        cursor=rest,
        notes=(*detail.notes, note),
        cut=bool(page.column_end),
    )


def _shortened(detail: SymbolDetail, budget: int) -> SymbolDetail:
    """The symbol with short texts, and as many of its children as fit."""
    children = [replace(short_symbol(child), children=()) for child in detail.children]
    kept = budgets.how_many_fit(
        (symbol_line(child, 0, docstring=True) for child in children), budget
    )
    shortened = short_symbol(detail)
    return replace(
        detail,
        signature=shortened.signature,
        decorators=shortened.decorators,
        docstring=shortened.docstring,
        children=tuple(children[:kept]),
    )


def _without_source(detail: SymbolDetail) -> SymbolInfo:
    """The symbol alone, without its source."""
    return SymbolInfo(
        detail.name,
        detail.kind,
        detail.line,
        detail.line_end,
        detail.signature,
        detail.children,
        detail.decorators,
        detail.docstring,
        detail.name_line,
    )
