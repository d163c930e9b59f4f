"""Answers by name alone, from syntax trees, where no server answers; namesakes may be among them.

Every answer is marked as such, and says why no server gave it.
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.base.languages import language_of
from foldline.backends.errors import InvalidArgumentError, PathError
from foldline.backends.formatting.parts import text_of
from foldline.backends.formatting.text import symbol_line
from foldline.backends.models import COMPLETE, Reference, ReferenceKind, SymbolKind
from foldline.backends.outlines.analysis import uses_of
from foldline.backends.outlines.locations import (
    Call,
    Calls,
    Diagnostics,
    Hover,
    Location,
    Locations,
)
from foldline.backends.outlines.outlines import PARSED_WITH_ERRORS
from foldline.backends.outlines.symbols import flatten
from foldline.backends.references.hierarchy import IMPLEMENTED
from foldline.backends.references.spelling import key_of
from foldline.backends.references.two_tier_references import first_writes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldline.backends.models import SymbolInfo
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.outlines.locations import Position
    from foldline.backends.outlines.symbols import Located

COVERAGE = "partial: by name alone, from syntax trees"
_MOST_HOVERS = 3
# Classes whose subclasses are searched.
_MOST_BASES = 64
_BASES = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE})


async def definitions(analysis: Analysis, position: Position, reason: str) -> Locations:
    """The definitions of the name in the workspace, those of the same file first."""
    uses, coverage = await _uses(analysis, position)
    found = _defining(uses, position)
    return _locations(
        analysis,
        map(_location, found),
        coverage,
        f"no definition of {position.name!r} in code",
        reason,
    )


async def implementations(analysis: Analysis, position: Position, reason: str) -> Locations:
    """The classes derived from this one by name; for a method, its overrides in them."""
    uses, coverage = await _uses(analysis, position)
    here = [use for use in _defining(uses, position) if use.kind == ReferenceKind.DEFINITION]
    owners = [owner for use in here if (owner := _class_of(analysis, use, position.name))]
    found: list[Location] = []
    for path, derived in await _derived(analysis, owners or [position.name]):
        symbols = derived.children if owners else (derived,)
        found.extend(
            _symbol_location(analysis, path, symbol)
            for symbol in symbols
            if not owners or key_of(symbol.name) == key_of(position.name)
        )
    paths = dict.fromkeys(location.path for location in found)
    order = {path: number for number, path in enumerate(paths)}
    found.sort(key=lambda location: order[location.path])
    base = " or ".join(dict.fromkeys(owners)) or position.name
    none = f"no type that names {base!r} as its base was found, and only names were looked at"
    return _locations(analysis, found, coverage, none, reason)


async def hover(analysis: Analysis, position: Position, reason: str) -> Hover:
    """The signatures of the name's definitions, with the first lines of their documentation."""
    found = await definitions(analysis, position, reason)
    parts = []
    for location in found.locations[:_MOST_HOVERS]:
        symbol = _symbol_at(analysis, location.path, location.line)
        if symbol is None:
            line = f"{location.line} {location.context.strip()}"
        else:
            line = text_of(symbol_line(symbol, 0, docstring=True))
        parts.append(f"{location.path}:{line}")
    more = len(found.locations) - _MOST_HOVERS
    if more > 0:
        parts.append(f"… {more} more of that name: ask for its definition")
    return Hover("\n".join(parts), found.backend, found.coverage, found.reason)


async def callers(analysis: Analysis, position: Position, reason: str) -> Calls:
    """The functions that call something of that name; only a server knows the callees."""
    uses, coverage = await _uses(analysis, position)
    lines: dict[tuple[str, str], list[int]] = {}
    for use in uses:
        if use.kind == ReferenceKind.CALL:
            lines.setdefault((use.path, use.enclosing), []).append(use.line)
    incoming = tuple(
        Call(inside or path, path, _line_of(analysis, path, inside, found[0]), tuple(found))
        for (path, inside), found in lines.items()
    )
    if not incoming:
        none = f"no call of {position.name!r} in code; " if coverage.startswith(COVERAGE) else ""
        reason = f"{none}{reason}"
    return Calls(incoming, (), analysis.name, coverage, f"{reason}; whom it calls is not known")


async def diagnostics(analysis: Analysis, path: str, reason: str) -> Diagnostics:
    """Return whether the file parses; only a server knows more."""
    outline = analysis.get_outline(path)
    broken = PARSED_WITH_ERRORS in outline.reason
    said = f"{outline.reason}; {reason}" if broken else reason
    return Diagnostics(path, (), analysis.name, "partial: no language server answered", said)


async def _uses(analysis: Analysis, position: Position) -> tuple[tuple[Reference, ...], str]:
    if not key_of(position.name).isidentifier():
        why = f"{position.name!r} is no identifier, and nothing was looked for"
        return (), f"partial: {why}"
    found = await uses_of(analysis, position.name)
    if found.coverage != COMPLETE:
        return tuple(found), f"{COVERAGE}; {found.coverage}"
    return tuple(found), COVERAGE


def _defining(uses: Iterable[Reference], position: Position) -> list[Reference]:
    """The uses that define the name, or only the one at `position` where there is one."""
    uses = list(uses)
    found = [use for use in uses if use.kind == ReferenceKind.DEFINITION]
    if not found:
        found = first_writes(uses)
    at = [use for use in found if (use.path, use.line) == (position.path, position.line)]
    return at or sorted(found, key=lambda use: (use.path != position.path, use.test))


def _class_of(analysis: Analysis, definition: Reference, name: str) -> str:
    """The class that the definition is a method of, if it is one."""
    for symbol, _, enclosing in _symbols(analysis, definition.path):
        if (key_of(symbol.name), symbol.name_line) == (key_of(name), definition.line) and enclosing:
            return enclosing[-1].name if enclosing[-1].kind in _BASES else ""
    return ""


async def _derived(analysis: Analysis, bases: Iterable[str]) -> list[tuple[str, SymbolInfo]]:
    """The direct and indirect subclasses by name, each once, with their files."""
    waiting = deque(dict.fromkeys(bases))
    asked: set[str] = set()
    seen: set[tuple[str, int]] = set()
    found: list[tuple[str, SymbolInfo]] = []
    while waiting and len(asked) < _MOST_BASES:
        base = waiting.popleft()
        if base in asked:
            continue
        asked.add(base)
        word = re.compile(rf"(?<!\w){re.escape(base)}(?!\w)")
        for path in dict.fromkeys(use.path for use in await uses_of(analysis, base)):
            for symbol, _, _ in _symbols(analysis, path):
                _, _, heritage = symbol.signature.partition(symbol.name)
                if language_of(path) == "rust":
                    # A bound of a struct or of a block isn't what it implements.
                    block = IMPLEMENTED.match(symbol.signature)
                    heritage = block[1].rpartition("::")[2] if block else ""
                if symbol.kind not in _BASES or not word.search(heritage):
                    continue
                if (path, symbol.line) not in seen:
                    seen.add((path, symbol.line))
                    waiting.extend([symbol.name] if symbol.name.isidentifier() else [])
                    found.append((path, symbol))
    return found


def _locations(
    analysis: Analysis,
    found: Iterable[Location],
    coverage: str,
    none: str,
    reason: str,
) -> Locations:
    found = tuple(found)
    said = reason if found else f"{none}; {reason}"
    return Locations(found, analysis.name, coverage, said)


def _location(use: Reference) -> Location:
    return Location(use.path, use.line, use.column, use.column_end, use.context)


def _symbol_location(analysis: Analysis, path: str, symbol: SymbolInfo) -> Location:
    # A block may be for `&T`: only its name can be looked up.
    with suppress(PathError, InvalidArgumentError):
        for use in analysis.find_references(symbol.name, path):
            if use.line == symbol.name_line:
                return _location(use)
    return Location(path, symbol.name_line, 1, 1, symbol.signature)


def _symbol_at(analysis: Analysis, path: str, line: int) -> SymbolInfo | None:
    symbols = _symbols(analysis, path)
    found = next((symbol for symbol, _, _ in symbols if symbol.name_line == line), None)
    return found and replace(found, children=())


def _line_of(analysis: Analysis, path: str, inside: str, otherwise: int) -> int:
    symbols = _symbols(analysis, path)
    return next((symbol.name_line for symbol, name, _ in symbols if name == inside), otherwise)


def _symbols(analysis: Analysis, path: str) -> Iterable[Located]:
    """All symbols of a file; none where it has gone since its uses were found."""
    with suppress(PathError):
        return flatten(analysis.get_outline(path).symbols)
    return ()
