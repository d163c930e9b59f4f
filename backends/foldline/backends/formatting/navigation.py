"""Locations, hovers, diagnostics and calls: their lines, and as many as a byte budget holds."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.parts import note
from foldline.backends.formatting.text import cut_line, plural, remarks, rest
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.formatting.parts import Line
    from foldline.backends.outlines.locations import (
        Call,
        Calls,
        CodeDiagnostic,
        Diagnostics,
        Hover,
        Location,
        Locations,
        Position,
    )

_BY_NAME = "by name alone"
CALLS_IN = "called by:"
CALLS_OUT = "calls:"
_SEVERITIES = {"error": "red", "warning": "yellow"}
# The first line, the headings, and the line with the cursor.
_ROOM = 160


def location_lines(found: Locations, position: Position, what: str) -> list[Line]:
    """The count of `what`, a singular noun, then the lines grouped by file."""
    count = f": {_count(len(found), found.left_out, what)}"
    if what == "implementation" and _BY_NAME in found.coverage:
        # Without any, the reason says where none was found.
        count = f"{count} found by name" if found or found.left_out else ""
    lines: list[Line] = [[*_heading(position), (count, "")]]
    for path, group in groupby(found, key=lambda location: location.path):
        lines.append([(visible(path), "bold")])
        lines.extend(map(location_line, group))
    return [*lines, *_rest(found)]


def hover_lines(found: Hover, position: Position) -> list[Line]:
    """The position, then the text of the hover."""
    text: list[Line] = [[(found.text, "")]] if found.text else []
    return [_heading(position), *text, *_rest(found)]


def diagnostic_lines(found: Diagnostics) -> list[Line]:
    """The count of diagnostics, then one line each."""
    count = _count(len(found), found.left_out, "problem") if found else "no problem is known"
    title: Line = [(found.path, "bold"), (f": {count}", "")]
    why = [note(f"({visible(found.reason)})")] if found.reason else []
    lines = [title, *map(diagnostic_line, found), *rest(found.cursor), *why]
    return [*lines, *remarks("", found.coverage)]


def call_lines(found: Calls, position: Position) -> list[Line]:
    """The callers, then the callees, with the lines of the calls."""
    lines: list[Line] = [_heading(position)]
    for heading, calls in ((CALLS_IN, found.incoming), (CALLS_OUT, found.outgoing)):
        if calls:
            lines.append([(heading, "italic")])
            lines.extend(map(call_line, calls))
    return [*lines, *_rest(found)]


def location_line(location: Location) -> Line:
    """The line of one location below its file; outside the workspace only the number is shown."""
    if not location.context:
        return [(f"  {location.line}", "dim")]
    return [(f"  {location.line}:", "dim"), (f" {cut_line(location.context.strip(), 0)}", "")]


def diagnostic_line(diagnostic: CodeDiagnostic) -> Line:
    """`  12:5 error: what is wrong (code)`, on one line."""
    return [
        (f"  {diagnostic.line}:{diagnostic.column} ", "dim"),
        (diagnostic.severity, _SEVERITIES.get(diagnostic.severity, "cyan")),
        (f": {visible(' '.join(diagnostic.message.split()))}", ""),
        (f" ({diagnostic.code})" if diagnostic.code else "", "dim"),
    ]


def call_line(call: Call) -> Line:
    """`  pay shop/cart.py:12, on lines 13, 14`; a path outside the workspace is cut to its end."""
    path = f"…/{'/'.join(PurePath(call.path).parts[-2:])}" if call.outside else call.path
    lines = ", ".join(map(str, call.lines))
    calls = f", on {plural('line', len(call.lines))} {lines}" if lines else ""
    return [(visible(f"  {call.name}"), "bold"), (visible(f" {path}:{call.line}{calls}"), "dim")]


def _heading(position: Position) -> Line:
    name = visible(f" {position.name}".rstrip())
    return [(visible(position.path), "bold"), (f":{position.line}", "dim"), (name, "bold")]


def _count(shown: int, left_out: int, noun: str) -> str:
    count = shown + left_out
    part = f", {shown} shown" if left_out else ""
    return f"{count} {plural(noun, count)}{part}"


def _rest(found: Locations | Hover | Diagnostics | Calls) -> list[Line]:
    return [*rest(found.cursor), *remarks(found.reason, found.coverage)]


def page_locations(found: Locations, budget: int | None, cursor: str | None) -> Locations:
    """The locations from the cursor on whose lines fit the budget, at least one."""
    lines = [
        [(f"{visible(location.path)}\n", ""), *location_line(location)]
        if number == 0
        else location_line(location)
        for _, group in groupby(found, key=lambda location: location.path)
        for number, location in enumerate(group)
    ]
    first, last, more = _page("locations", lines, found, budget, cursor)
    kept = found.locations[first:last]
    return replace(found, locations=kept, left_out=len(lines) - len(kept), cursor=more)


def page_diagnostics(found: Diagnostics, budget: int | None, cursor: str | None) -> Diagnostics:
    """The diagnostics from the cursor on whose lines fit the budget, at least one."""
    lines = list(map(diagnostic_line, found))
    first, last, more = _page("problems", lines, found, budget, cursor)
    kept = found.diagnostics[first:last]
    return replace(found, diagnostics=kept, left_out=len(lines) - len(kept), cursor=more)


def page_calls(found: Calls, budget: int | None, cursor: str | None) -> Calls:
    """The callers, and then the callees, from the cursor on whose lines fit the budget."""
    lines = list(map(call_line, (*found.incoming, *found.outgoing)))
    first, last, more = _page("calls", lines, found, budget, cursor)
    callers = len(found.incoming)
    return replace(
        found,
        incoming=found.incoming[first:last],
        outgoing=found.outgoing[max(first - callers, 0) : max(last - callers, 0)],
        left_out=len(lines) - (last - first),
        cursor=more,
    )


def page_hover(found: Hover, budget: int | None, cursor: str | None) -> Hover:
    """The lines from the cursor on that fit the budget, at least one."""
    lines = found.text.split("\n")
    first, last, more = _page("hover", [[(line, "")] for line in lines], found, budget, cursor)
    return replace(found, text="\n".join(lines[first:last]), cursor=more)


def _page(
    kind: str,
    lines: Sequence[Line],
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
