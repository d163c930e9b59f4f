"""A symbol's source within a byte budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends import budget as budgets
from foldline.backends.models import FileOutline, SymbolInfo
from foldline.backends.outline_text import fit_rows

if TYPE_CHECKING:
    from foldline.backends.models import SymbolDetail

_KIND = "symbol"
# The header line and the notes of the text form.
_ROOM = 160


def page_symbol(detail: SymbolDetail, budget: int | None, cursor: str | None) -> SymbolDetail:
    """The symbol with as much of its source as the budget holds, in whole lines.

    One that has symbols inside and does not fit is first shown as their outline.
    """
    budgets.check_budget(budget)
    if budget is None and cursor is None:
        return detail
    room = None if budget is None else budget - _ROOM - budgets.size_of(detail.path)
    if cursor is None and (room is None or budgets.size_of(detail.body) <= room):
        return detail
    lines = detail.body.split("\n")
    if cursor is None and detail.children and room is not None:
        outline = FileOutline(detail.path, "", (), (_without_source(detail),), len(lines))
        note = (
            f"the outline of {len(lines)} lines: ask for a symbol inside it, or with cursor "
            f"{budgets.make_cursor(_KIND, 0)} for the source"
        )
        return replace(
            detail,
            body="\n".join(fit_rows(outline, max(room - budgets.size_of(note), 1))),
            cursor=budgets.make_cursor(_KIND, 0),
            notes=(*detail.notes, note),
        )
    first = min(budgets.read_cursor(_KIND, cursor), len(lines))
    kept = len(lines) - first
    if room is not None:
        left = room
        for index, line in enumerate(lines[first:]):
            left -= budgets.size_of(line) + 1
            if left < 0 and index:
                kept = index
                break
    last = first + kept
    if first == 0 and last == len(lines):
        return detail
    start = detail.body_line + first
    note = f"lines {start}-{start + kept - 1} of {detail.body_line}-{detail.line_end}"
    rest = budgets.make_cursor(_KIND, last) if last < len(lines) else None
    if rest is not None:
        note += f": ask with cursor {rest} for the rest"
    return replace(
        detail,
        body="\n".join(lines[first:last]),
        cursor=rest,
        notes=(*detail.notes, note),
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
