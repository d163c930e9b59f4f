"""A symbol's source within a byte budget.

A symbol that doesn't fit is shown as the outline of what is in it; without that, as its head and
the lines that a query is about; without a query, as pages. Pages follow an order in which a long
comment stands behind the code, so a cursor's line may lie above what was shown before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from foldline.backends import ranking
from foldline.backends.base.languages import is_indexed, language_of
from foldline.backends.errors import SymbolError
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.budget import size_of
from foldline.backends.formatting.outline_text import fit_members, short_symbol
from foldline.backends.formatting.parts import plain
from foldline.backends.formatting.text import (
    line_range,
    plural,
    sentences,
    symbol_line,
    symbol_lines,
)
from foldline.backends.formatting.text_pages import (
    LinePage,
    columns_note,
    find_place,
    make_line_cursor,
    marks_of,
    page_lines,
    read_line_cursor,
)
from foldline.backends.models import COMPLETE, FileOutline, SymbolDetail, SymbolDetails, SymbolKind
from foldline.backends.outlines.syntax import ParseRefusedError, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_KIND = "symbol"
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_LONGEST_HEAD = 12
# Less shows nothing of a symbol but its name.
_SMALLEST_SHARE = 200
# The line that names those without room.
_NO_ROOM = 150
# Lines around one that matches.
_AROUND = 2
# Smaller budgets have no room for what the rest costs.
_LEAST_WITH_COSTS = 300
# A line that stands for others, besides its indentation.
_DOTS = 4
# Comments of so many lines come after the code, but for the first sentence.
_LONG_COMMENT = 6
_LONGEST_SENTENCE = 4
_MARKS = " \t/*#!-\"'"
# A page that would end within so much of a default budget ends.
_STRETCH = 1.15
# Bytes that folding comments inside must save.
_WORTH_FOLDING = 100
_MOST_PARSED = 5 * budgets.SYMBOL_BUDGET
# What a definition may stand in that doesn't parse alone.
_FRAMES = (("", ""), ("if 1:", ""), ("class A {", "\n}"), ("({", "\n})"))
_DOCUMENTED = ("function_definition", "class_definition")
_DOCSTRING = re.compile(r"\s*[rRuU]?(\"{3}|'{3})")


def page_symbol(
    detail: SymbolDetail, budget: int | None, cursor: str | None, query: str | None = None
) -> SymbolDetail:
    """The symbol with as much of its source as the budget holds, in whole lines where they fit.

    A symbol with symbols inside that does not fit is first shown as their outline. Of another one,
    the head and the lines that a `query` is about come first.
    """
    budgets.check_budget(budget)
    position = read_line_cursor(_KIND, cursor)
    lines = detail.body.split("\n")
    if position is None and isinstance(budget, budgets.DefaultBudget):
        folded = _without_comment(detail, lines)
        if _size(folded) <= (budget if query else _ending(budget)):
            return folded
    if position is None and (budget is None or _size(detail) <= budget):
        return detail
    if position is None and budget is not None:
        if _holds_definitions(detail):
            return _outline(detail, lines, budget, query)
        part = matching_part(detail, budget, query) if query else None
        if part is not None:
            return part
    first, column = 0, 1
    if position is not None:
        column = position.column
        first, changed = find_place(position, 0, lines)
        if changed:
            detail = replace(detail, notes=(*detail.notes, changed))
    return _page(detail, lines, (first, column), budget)


def _ending(budget: int | None) -> float:
    """The most bytes of a page that nothing follows: a default budget is stretched to end it."""
    if budget is None:
        return math.inf
    return budget * (_STRETCH if isinstance(budget, budgets.DefaultBudget) else 1)


def _page(
    detail: SymbolDetail, lines: list[str], position: tuple[int, int], budget: int | None
) -> SymbolDetail:
    """The lines from the position on that the budget holds: code first, then a long comment."""
    comment = _long_comment(detail, lines)
    order = [index for index in range(len(lines)) if index not in comment] + list(comment)
    first, column = position
    start = order.index(first) if first < len(lines) else len(lines)
    rest = [lines[index] for index in order[start:]]
    page = page_lines(rest, column, None)
    full = _part(detail, lines, order[start:], page, column=column)
    if not rest or _size(full) <= _ending(budget):
        return full
    assert budget is not None
    is_long = column > 1 or size_of(rest[0]) > budget // 2
    longest = _longest_note(detail, 3 if comment else 1, budget, is_long=is_long)
    around = _size_around(detail, longest)
    if comment:
        around += 2 * (_DOTS + max(len(line) - len(line.lstrip()) for line in lines))
    page = page_lines(rest, column, budget, around)
    if page.following is None:
        return full
    index, after = page.following
    index += start
    cursor = _cursor(lines, order[index], after)
    more = f": ask with cursor {cursor} for the rest"
    if budget >= _LEAST_WITH_COSTS:
        more += f" ({len(order) - index} {plural('line', len(order) - index)}"
        # As large as the rest without a budget.
        enough = _size(_page(detail, lines, (order[index], after), None))
        more += f", budget {enough})" if enough <= budgets.LARGEST_BUDGET else ")"
    shown = order[start : start + page.height]
    return replace(
        _part(_shortened(detail, budget), lines, shown, page, column=column, more=more),
        cursor=cursor,
    )


def _without_comment(detail: SymbolDetail, lines: list[str]) -> SymbolDetail:
    """The symbol whose long comment is left to a cursor, but for the first sentence.

    So are the comments inside, from their second line on, where that saves enough.
    """
    comment = _long_comment(detail, lines)
    comments = _comment_lines(detail)
    folded = comments.intersection(comment)
    head = (detail.name_line or detail.line) - detail.body_line
    for index in sorted(comments):
        has_text = index - 1 in comments and lines[index - 1].strip(_MARKS)
        if index > head and (has_text or index - 1 in folded):
            folded.add(index)
    if not folded.issubset(comment):
        note = f"…+N: N lines of comment; cursor {_cursor(lines, 0)} for all"
        part = replace(detail, body=_folded(lines, folded), notes=(*detail.notes, note))
        if _size(part) <= _size(detail) - _WORTH_FOLDING:
            return replace(part, cursor=_cursor(lines, 0))
    if not comment:
        return detail
    cursor = _cursor(lines, comment[0])
    shown = [index for index in range(len(lines)) if index not in comment]
    page = page_lines([lines[index] for index in shown], 1, None)
    more = f": cursor {cursor} for the comment ({len(comment)} lines)"
    part = _part(detail, lines, shown, page, column=1, more=more)
    return replace(part, cursor=cursor) if _size(part) < _size(detail) else detail


def _folded(lines: Sequence[str], folded: Collection[int]) -> str:
    """The lines but for folded ones, whose number stands at the end of the line above."""
    text: list[str] = []
    for is_folded, group in groupby(range(len(lines)), key=folded.__contains__):
        indexes = list(group)
        if is_folded:
            text[-1] += f" …+{len(indexes)}"
        else:
            text += lines[indexes[0] : indexes[-1] + 1]
    return "\n".join(text)


def _comment_lines(detail: SymbolDetail) -> set[int]:
    """The lines of nothing but comments and docstrings, where a syntax tree has no errors."""
    language = language_of(detail.path)
    start = "<?php " if language == "php" else ""
    is_parsed = is_indexed(detail.path) and len(detail.body) <= _MOST_PARSED
    for before, after in _FRAMES if is_parsed else ():
        data = f"{start}{before}\n{detail.body}{after}".encode()
        with suppress(ParseRefusedError):
            root = parse(language, data, guarded=True).root_node
            if not root.has_error:
                return {row - 1 for row in _comment_rows(root, data.split(b"\n"))}
    return set()


def _comment_rows(root: Node, rows: Sequence[bytes]) -> Iterator[int]:
    waiting, docstrings = [root], set[int]()
    while waiting:
        node = waiting.pop()
        (first, column), (last, end) = node.start_point, node.end_point
        if "comment" in node.type or node.id in docstrings:
            # Other code may stand before it or behind.
            first += bool(rows[first][:column].strip())
            yield from range(first, last + (not rows[last][end:].strip()))
        elif first < last:
            waiting += node.children
            if node.type in _DOCUMENTED:
                for one in node.children[-1].named_children[:1]:
                    row, at = one.start_point
                    if _DOCSTRING.match(rows[row][at:].decode()) and one.child_count == 1:
                        docstrings |= {child.id for child in one.children if child.type == "string"}


def _part(
    detail: SymbolDetail,
    lines: list[str],
    shown: Sequence[int],
    page: LinePage,
    *,
    column: int,
    more: str = "",
) -> SymbolDetail:
    """The symbol with these lines in the order of the file, and a note of which they are."""
    if len(shown) == len(lines) and column == 1 and not page.column_end:
        return detail
    indexes = sorted(shown)
    body = page.text
    if column == 1 and not page.column_end:
        body = _joined(lines, indexes)
    chosen = set(shown)
    starts = [one for one in indexes if one - 1 not in chosen]
    ends = [one for one in indexes if one + 1 not in chosen]
    base = detail.body_line
    ranges = (line_range(base + one, base + last) for one, last in zip(starts, ends, strict=True))
    note = f"lines {', '.join(ranges)} of {base}-{detail.line_end}"
    if shown and (remark := columns_note(column, page.column_end, len(lines[shown[0]]))):
        note += f", {remark}"
    return replace(detail, body=body, notes=(*detail.notes, note + more), cut=bool(page.column_end))


def _joined(lines: Sequence[str], indexes: Sequence[int]) -> str:
    """These lines, with a line `…` for those between them."""
    text: list[str] = []
    for number, index in enumerate(indexes):
        line = lines[index]
        if number and indexes[number - 1] != index - 1:
            text.append(f"{line[: len(line) - len(line.lstrip())]}…")
        text.append(line)
    return "\n".join(text)


def _long_comment(detail: SymbolDetail, lines: Sequence[str]) -> range:
    """The lines that come after the code: those of a long comment but for its first sentence."""
    first, last = 0, detail.line - detail.body_line
    if last < _LONG_COMMENT:
        first = last = _head(detail, lines)
        opened = _DOCSTRING.match(lines[first]) if first < len(lines) else None
        if opened is None:
            return range(0)
        after = lines[first][opened.end() :], *lines[first + 1 :]
        last += next((n for n, line in enumerate(after, 1) if opened[1] in line), 0)
        if last - first < _LONG_COMMENT:
            return range(0)
    comment = [line.strip(_MARKS) for line in lines[first:last]]
    shown = next(
        (
            number
            for number, (text, following) in enumerate(pairwise([*comment, ""]), 1)
            if number == _LONGEST_SENTENCE or (text and (text.endswith(".") or not following))
        ),
        0,
    )
    end = last if comment and comment[-1] else last - 1
    return range(first + shown, max(end, first + shown))


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
        reason = sentences(reason, missing)
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
        page_symbol(one, type(budget)(max(shares[number] - 2, 1)), None, query)
        for number, one in enumerate(details[:kept])
    ]
    return SymbolDetails(tuple(pages), reason, backend, coverage)


def _holds_definitions(detail: SymbolDetail) -> bool:
    """Most of its lines are those of other definitions."""
    inside = sum(child.line_end - child.line + 1 for child in detail.children)
    return 2 * inside >= detail.line_end - detail.line + 1 or (
        bool(detail.children) and detail.kind not in _CALLABLE
    )


def matching_part(
    detail: SymbolDetail, budget: int, query: str, *, brief: bool = False
) -> SymbolDetail | None:
    """The head, each line with a word of the query, then the lines around; None where none fits.

    Where not all of these lines have room, it's those that are near others, with the lines around.
    A default budget has those alone, another one is filled. The cursor asks for all lines. A
    `brief` part has at least the line with the name, and says nothing of the rest.
    """
    lines = detail.body.split("\n")
    comment = _long_comment(detail, lines)
    head = {index for index in range(_head(detail, lines)) if index not in comment}
    if brief:
        head = {(detail.name_line or detail.line) - detail.body_line}
    line_scores = ranking.line_scores(lines, query)
    # The head is there anyhow.
    scores = [0.0 if index in head else score for index, score in enumerate(line_scores)]
    around = range(-_AROUND, _AROUND + 1)

    def score(index: int) -> float:
        places = ((index + by, 1 + abs(by)) for by in around)
        return sum(scores[at] / far for at, far in places if 0 <= at < len(lines))

    near = list(map(score, range(len(lines))))
    best = near.index(max(near))
    order = sorted(range(len(lines)), key=lambda index: (-near[index], abs(index - best)))
    if isinstance(budget, budgets.DefaultBudget):
        order = [index for index in order if near[index]]
        budget = min(budget, budgets.SYMBOL_MATCHES)
    rest = _cursor(lines, 0)
    matching = {index for index in order if scores[index]}
    short = replace(_shortened(detail, budget), cursor=rest)
    order.sort(key=lambda index: not scores[index])

    def part(places: Iterable[int]) -> SymbolDetail:
        shown = sorted(head.union(places))
        page = LinePage("", len(shown), 0, None)
        left = len(matching.difference(shown))
        but = f" but for {left} more {plural('line', left)}" if left else ""
        more = "" if brief else f": what matches{but}; cursor {rest} for all"
        return _part(short, lines, shown, page, column=1, more=more)

    def best_of(count: int) -> SymbolDetail:
        places = order[:count]
        if not has_room:
            within = range(len(lines))
            places = [index + by for index in places for by in around if index + by in within]
        return part(places)

    has_room = _size(part(matching)) <= budget
    excerpt = best_of(budgets.most(len(order), lambda count: _size(best_of(count)) <= budget))
    if _size(excerpt) <= budget and (brief or any(line_scores)):
        return excerpt
    return part(()) if brief else None


def _head(detail: SymbolDetail, lines: Sequence[str]) -> int:
    """The number of lines of a definition's leading comments, decorators and signature."""
    name = (detail.name_line or detail.line) - detail.body_line
    for index in range(name, min(name + _LONGEST_HEAD, len(lines))):
        if lines[index].rstrip().endswith((":", "{", "=>", "->")):
            return index + 1
    return min(name + 1, len(lines))


def _cursor(lines: Sequence[str], index: int, column: int = 1) -> str:
    return make_line_cursor(_KIND, index, column, marks_of(lines[:index], lines[index:]))


def _longest_note(detail: SymbolDetail, ranges: int, budget: int, *, is_long: bool = False) -> str:
    """A note that is as long as one about so many ranges of the detail's lines can be."""
    last, length = detail.line_end, len(detail.body)
    columns = f", columns {length}-{length} of {length}" if is_long else ""
    costs = f" ({last} lines, budget {length}0)" if budget >= _LEAST_WITH_COSTS else ""
    return (
        f"lines {', '.join([f'{last}-{last}'] * ranges)} of {last}-{last}{columns}: ask with "
        f"cursor {make_line_cursor(_KIND, last, length, marks_of(()))} for the rest{costs}"
    )


def _size_around(detail: SymbolDetail, note: str) -> int:
    """The bytes of the symbol's text without its source."""
    return _size(replace(detail, body="", notes=(*detail.notes, note)))


def _size(detail: SymbolDetail) -> int:
    return size_of(plain(symbol_lines(detail)))


def _outline(
    detail: SymbolDetail, lines: list[str], budget: int, query: str | None
) -> SymbolDetail:
    """The symbol with the outline of what is inside it, for a query if there is one.

    The first lines of its source fill a budget that was asked for, and any budget of a function.
    """
    rest = _cursor(lines, 0)
    enough = _size(detail)
    note = f"outline: name a member, or ask with cursor {rest} for all {len(lines)} lines"
    if budget >= _LEAST_WITH_COSTS and enough <= budgets.LARGEST_BUDGET:
        note += f" (budget {enough})"
    room = max(budget - _size_around(detail, note), 1)
    matches: tuple[str, ...] = ()
    if query:
        inside = FileOutline(detail.path, "", (), detail.children, detail.line_end)
        source = [""] * (detail.body_line - 1) + detail.body.split("\n")
        matches = ranking.with_matches(inside, source, query).matches
    text = plain(fit_members(detail, room, matches))
    left = room - size_of(text)
    fills = detail.kind in _CALLABLE or not isinstance(budget, budgets.DefaultBudget)
    if fills and not query and left > budget // 5:
        first = "outline, then its source: name a member, or read on"
        page = _page(detail, lines, (0, 1), budget - size_of(text) - size_of(first) - 4)
        if page.cursor not in (None, rest):
            notes = (*detail.notes, first, *page.notes[len(detail.notes) :])
            return replace(page, body=f"{text}\n{page.body}", notes=notes)
    return replace(
        _shortened(detail, budget),
        body=text,
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
