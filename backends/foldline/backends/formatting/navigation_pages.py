"""Locations, problems, calls and hovers within a byte budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.navigation_text import call_line, diagnostic_line, location_line
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.outlines.locations import Calls, Diagnostics, Hover, Locations

# The first line, the headings, and the line with the cursor.
_ROOM = 160


def page_locations(found: Locations, budget: int | None, cursor: str | None) -> Locations:
    """The locations from the cursor on whose lines fit the budget, at least one."""
    paths = [location.path for location in found]
    lines = [
        location_line(location)
        if paths[i - 1 : i] == [location.path]
        else f"{visible(location.path)}\n{location_line(location)}"
        for i, location in enumerate(found)
    ]
    first, last, rest = _page("locations", lines, found, budget, cursor)
    kept = found.locations[first:last]
    return replace(found, locations=kept, left_out=len(lines) - len(kept), cursor=rest)


def page_diagnostics(found: Diagnostics, budget: int | None, cursor: str | None) -> Diagnostics:
    """The problems from the cursor on whose lines fit the budget, at least one."""
    lines = list(map(diagnostic_line, found))
    first, last, rest = _page("problems", lines, found, budget, cursor)
    kept = found.diagnostics[first:last]
    return replace(found, diagnostics=kept, left_out=len(lines) - len(kept), cursor=rest)


def page_calls(found: Calls, budget: int | None, cursor: str | None) -> Calls:
    """The callers, and then the callees, from the cursor on whose lines fit the budget."""
    lines = list(map(call_line, (*found.incoming, *found.outgoing)))
    first, last, rest = _page("calls", lines, found, budget, cursor)
    callers = len(found.incoming)
    return replace(
        found,
        incoming=found.incoming[first:last],
        outgoing=found.outgoing[max(first - callers, 0) : max(last - callers, 0)],
        left_out=len(lines) - (last - first),
        cursor=rest,
    )


def page_hover(found: Hover, budget: int | None, cursor: str | None) -> Hover:
    """The lines from the cursor on that fit the budget, at least one."""
    lines = found.text.split("\n")
    first, last, rest = _page("hover", lines, found, budget, cursor)
    return replace(found, text="\n".join(lines[first:last]), cursor=rest)


def _page(
    kind: str,
    lines: Sequence[str],
    found: Locations | Diagnostics | Calls | Hover,
    budget: int | None,
    cursor: str | None,
) -> tuple[int, int, str | None]:
    """The first line of the page, the first after it, and the cursor to that one."""
    budgets.check_budget(budget)
    first = min(budgets.read_cursor(kind, cursor), len(lines))
    last = len(lines)
    if budget is not None:
        room = budget - _ROOM - budgets.size_of(found.reason) - budgets.size_of(found.coverage)
        last = first + budgets.how_many_fit(lines[first:], room)
    return first, last, budgets.make_cursor(kind, last) if last < len(lines) else None
