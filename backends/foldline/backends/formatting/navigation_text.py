"""The text forms of locations, hovers, problems and calls."""

from __future__ import annotations

from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from foldline.backends.formatting.text import cut_line, remarks
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
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

CALLS_IN = "called by:"
CALLS_OUT = "calls:"


def format_locations(found: Locations, place: Position, what: str) -> str:
    """The count of `what`, a singular noun, then the lines grouped by file."""
    lines = [f"{_place(place)}: {_count(len(found), found.left_out, what)}"]
    for path, group in groupby(found, key=lambda location: location.path):
        lines.append(visible(path))
        lines.extend(map(location_line, group))
    return "\n".join([*lines, *_rest(found)])


def format_hover(found: Hover, place: Position) -> str:
    """The position, then the text of the hover."""
    said = [found.text] if found.text else []
    return "\n".join([_place(place), *said, *_rest(found)])


def format_diagnostics(found: Diagnostics) -> str:
    """The count of problems, then one line each."""
    known = _count(len(found), found.left_out, "problem") if found else "no problem is known"
    lines = [f"{found.path}: {known}"]
    return "\n".join([*lines, *map(diagnostic_line, found), *_rest(found)])


def format_calls(found: Calls, place: Position) -> str:
    """The callers, then the callees, with the lines of the calls."""
    lines = [_place(place)]
    for heading, calls in ((CALLS_IN, found.incoming), (CALLS_OUT, found.outgoing)):
        if calls:
            lines.append(heading)
            lines.extend(map(call_line, calls))
    return "\n".join([*lines, *_rest(found)])


def location_line(location: Location) -> str:
    """The line of one location below its file; outside the workspace only the number is shown."""
    if not location.context:
        return f"  {location.line}"
    return f"  {location.line}: {cut_line(location.context.strip(), 0)}"


def diagnostic_line(diagnostic: CodeDiagnostic) -> str:
    """`  12:5 error: what is wrong (code)`, on one line."""
    code = f" ({diagnostic.code})" if diagnostic.code else ""
    said = visible(" ".join(diagnostic.message.split()))
    return f"  {diagnostic.line}:{diagnostic.column} {diagnostic.severity}: {said}{code}"


def call_line(call: Call) -> str:
    """`  pay shop/cart.py:12, on lines 13, 14`; a path outside the workspace is cut to its end."""
    path = f"…/{'/'.join(PurePath(call.path).parts[-2:])}" if call.outside else call.path
    noun = "line" if len(call.lines) == 1 else "lines"
    calls = f", on {noun} {', '.join(map(str, call.lines))}" if call.lines else ""
    return visible(f"  {call.name} {path}:{call.line}{calls}")


def _place(place: Position) -> str:
    return visible(f"{place.path}:{place.line} {place.name}".rstrip())


def _count(shown: int, left_out: int, noun: str) -> str:
    count = shown + left_out
    part = f", {shown} shown" if left_out else ""
    return f"{count} {noun if count == 1 else f'{noun}s'}{part}"


def _rest(found: Locations | Hover | Diagnostics | Calls) -> list[str]:
    more = [f"… more: ask with cursor {found.cursor}"] if found.cursor is not None else []
    return [*more, *remarks(found.reason, found.coverage)]
