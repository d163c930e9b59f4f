"""A symbol's source within a byte budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.budget import size_of
from foldline.backends.formatting.outline_text import fit_members, short_symbol
from foldline.backends.formatting.parts import plain
from foldline.backends.formatting.text import symbol_line, symbol_lines
from foldline.backends.formatting.text_pages import (
    columns_note,
    find_place,
    make_line_cursor,
    marks_of,
    page_lines,
    read_line_cursor,
)
from foldline.backends.models import COMPLETE, FileOutline, SymbolDetails, SymbolKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.errors import SymbolError
    from foldline.backends.models import SymbolDetail

_KIND = "symbol"
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_LONGEST_HEAD = 12
# Less shows nothing of a symbol but its name.
_SMALLEST_SHARE = 200
# The line that names those without room.
_NO_ROOM = 150
# The line between a head and the lines that match.
_GAP = 120


def page_symbol(
    detail: SymbolDetail, budget: int | None, cursor: str | None, query: str | None = None
) -> SymbolDetail:
    """The symbol with as much of its source as the budget holds, in whole lines where they fit.

    A symbol with symbols inside that does not fit is first shown as their outline. Of another one,
    the head and the lines that a `query` is about come first.
    """
    budgets.check_budget(budget)
    position = read_line_cursor(_KIND, cursor)
    if position is None and (budget is None or _size(detail) <= budget):
        return detail
    lines = detail.body.split("\n")
    if position is None and budget is not None:
        if _holds_definitions(detail):
            return _outline(detail, len(lines), budget, query)
        part = _matching_part(detail, lines, budget, query) if query else None
        if part is not None:
            return part
    first, column = 0, 1
    if position is not None:
        column = position.column
        first, changed = find_place(position, 0, lines)
        if changed:
            detail = replace(detail, notes=(*detail.notes, changed))
    page = page_lines(lines[first:], column, budget, _size_around(detail, _longest_note(detail)))
    last = first + page.height
    if (first, column) == (0, 1) and page.following is None:
        return detail
    columns = ""
    if first < len(lines):
        columns = columns_note(column, page.column_end, len(lines[first]))
    start = detail.body_line + first
    note = f"lines {start}-{detail.body_line + last - 1} of {detail.body_line}-{detail.line_end}"
    note += f", {columns}" if columns else ""
    rest = None
    if page.following is not None:
        index, after = page.following
        rest = _cursor(lines, first + index, after)
        note += f": ask with cursor {rest} for the rest"
    return replace(
        detail if budget is None else _shortened(detail, budget),
        body=page.text,
        cursor=rest,
        notes=(*detail.notes, note),
        cut=bool(page.column_end),
    )


def share_budget(
    details: Sequence[SymbolDetail],
    problems: Sequence[SymbolError],
    budget: int | None,
    query: str | None,
) -> SymbolDetails:
    """The symbols within one budget: small ones whole, then equal shares for the others.

    The last ones are left out where shares would be too small.
    """
    reason = "; ".join(str(problem) for problem in problems)
    coverage = next((one.coverage for one in details if one.coverage != COMPLETE), COMPLETE)
    backend = details[0].backend
    if budget is None:
        return SymbolDetails(tuple(details), reason, backend, coverage)
    room = budget - (size_of(reason) + 3 if reason else 0)
    # Each has an empty line after it.
    kept = min(len(details), max((room - _NO_ROOM) // _SMALLEST_SHARE, 1))
    if kept < len(details):
        names = ", ".join(one.qualified_name or one.name for one in details[kept:])
        missing = f"no room for {names}: ask for them in another call"
        reason = f"{reason}; {missing}" if reason else missing
        if size_of(reason) > _NO_ROOM:
            reason = f"no room for {len(details) - kept} more: ask for them in another call"
        room = budget - size_of(reason) - 3
    sizes = [_size(one) + 2 for one in details[:kept]]
    shares: dict[int, int] = {}
    for left, number in zip(
        range(kept, 0, -1), sorted(range(kept), key=sizes.__getitem__), strict=True
    ):
        shares[number] = min(sizes[number], room // left)
        room -= shares[number]
    pages = [
        page_symbol(one, max(shares[number] - 2, 1), None, query)
        for number, one in enumerate(details[:kept])
    ]
    return SymbolDetails(tuple(pages), reason, backend, coverage)


def _holds_definitions(detail: SymbolDetail) -> bool:
    """Most of its lines are those of other definitions."""
    inside = sum(child.line_end - child.line + 1 for child in detail.children)
    return 2 * inside >= detail.line_end - detail.line + 1 or (
        bool(detail.children) and detail.kind not in _CALLABLE
    )


def _matching_part(
    detail: SymbolDetail, lines: list[str], budget: int, query: str
) -> SymbolDetail | None:
    """The head and those lines in a row that a query is about; None where a page does as well.

    The cursor asks for the lines behind them.
    """
    from foldline.backends.ranking.in_file import line_scores

    head = _head(detail, lines)
    scores = line_scores(lines, query)
    note = f"{_longest_note(detail)} the head, and, which match; symbol@0: from the start"
    sizes = [size_of(line) + 1 for line in lines]
    room = budget - _size_around(detail, note) - sum(sizes[:head]) - _GAP
    best, window = 0.0, (head, head)
    start, size, score = head, 0, 0.0
    for end in range(head, len(lines)):
        size += sizes[end]
        score += scores[end]
        while size > room and start <= end:
            size -= sizes[start]
            score -= scores[start]
            start += 1
        if score > best:
            best, window = score, (start, end + 1)
    first, last = window
    while last < len(lines) and sum(sizes[first : last + 1]) <= room:
        last += 1
    if first <= head or first == last:
        return None
    base = detail.body_line
    rest = _cursor(lines, last) if last < len(lines) else None
    more = f"{rest} for what follows, or " if rest else ""
    note = (
        f"the head, and lines {base + first}-{base + last - 1} of {base}-{detail.line_end}, which "
        f"match: ask with cursor {more}{_KIND}@0 for all"
    )
    indent = " " * (len(lines[first]) - len(lines[first].lstrip()))
    return replace(
        _shortened(detail, budget),
        body="\n".join([*lines[:head], f"{indent}…", *lines[first:last]]),
        cursor=rest or _cursor(lines, 0),
        notes=(*detail.notes, note),
    )


def _head(detail: SymbolDetail, lines: list[str]) -> int:
    """The number of lines of a definition's leading comments, decorators and signature."""
    name = (detail.name_line or detail.line) - detail.body_line
    for index in range(name, min(name + _LONGEST_HEAD, len(lines))):
        if lines[index].rstrip().endswith((":", "{", "=>", "->")):
            return index + 1
    return min(name + 1, len(lines))


def _cursor(lines: Sequence[str], index: int, column: int = 1) -> str:
    return make_line_cursor(_KIND, index, column, marks_of(lines[:index], lines[index:]))


def _longest_note(detail: SymbolDetail) -> str:
    """A note that is as long as one about the detail's lines can be."""
    last, length = detail.line_end, len(detail.body)
    return (
        f"lines {last}-{last} of {last}-{last}, columns {length}-{length} of {length}: "
        f"ask with cursor {make_line_cursor(_KIND, last, length, marks_of(()))} for the rest"
    )


def _size_around(detail: SymbolDetail, note: str) -> int:
    """The bytes of the symbol's text without its source."""
    return _size(replace(detail, body="", notes=(*detail.notes, note)))


def _size(detail: SymbolDetail) -> int:
    return size_of(plain(symbol_lines(detail)))


def _outline(detail: SymbolDetail, count: int, budget: int, query: str | None) -> SymbolDetail:
    """The symbol with the outline of what is inside it, for a query if there is one."""
    rest = _cursor(detail.body.split("\n"), 0)
    note = f"outline: name a member, or ask with cursor {rest} for all {count} lines"
    room = max(budget - _size_around(detail, note), 1)
    matches: tuple[str, ...] = ()
    if query:
        from foldline.backends.ranking.in_file import with_matches

        inside = FileOutline(detail.path, "", (), detail.children, detail.line_end)
        source = [""] * (detail.body_line - 1) + detail.body.split("\n")
        matches = with_matches(inside, source, query).matches
    return replace(
        _shortened(detail, budget),
        body=plain(fit_members(detail, room, matches)),
        cursor=rest,
        notes=(*detail.notes, note),
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
