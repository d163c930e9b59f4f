"""Answers by name alone, from syntax trees, where no server answers; namesakes may be among them.

Every answer is marked as such, and says why no server gave it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath

from foldline.backends.base.languages import language_of
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.errors import PathError
from foldline.backends.formatting.parts import text_of
from foldline.backends.formatting.text import plural, sentences, symbol_line
from foldline.backends.models import (
    COMPLETE,
    CUT_SHORT,
    Reference,
    ReferenceKind,
    References,
    SymbolInfo,
)
from foldline.backends.outlines.analysis import Analysis
from foldline.backends.outlines.locations import (
    Call,
    Calls,
    Diagnostics,
    Hover,
    Location,
    Locations,
    Position,
)
from foldline.backends.outlines.outlines import PARSED_WITH_ERRORS
from foldline.backends.outlines.symbols import BODIES, Located, first_column, flatten
from foldline.backends.references.bases import FileTypes, TypeBases, unseen_in
from foldline.backends.references.bindings import renamed_in
from foldline.backends.references.hierarchy import TYPES, Found, Hierarchy, fit
from foldline.backends.references.spelling import MARKED, is_name, key_of
from foldline.backends.references.two_tier_references import (
    ReferencesQuery,
    first_writes,
    is_whole,
    order_of,
)

COVERAGE = "partial: by name alone, from syntax trees"
_MOST_HOVERS = 3
# Types whose heirs are searched.
_MOST_BASES = 64
# How many names of types around one count.
_MOST_SCOPES = 16
_VALUES = frozenset({ReferenceKind.READ, ReferenceKind.ATTRIBUTE})
_ASK = ": ask refs"
# Files that weren't looked at.
_MOST_NAMED = 3


async def definitions(analysis: Analysis, position: Position, reason: str) -> Locations:
    """The definitions of the name in the workspace, those of the same file first."""
    uses = await _uses(analysis, position)
    coverage, defining = uses.coverage, _defining(uses, position)
    renamed = renamed_in(uses, position.name)
    at = [one for one in renamed if (one[0].path, one[0].line) == (position.path, position.line)]
    if at or not defining:
        # A re-export under another name is a definition, and so is that of what it passes on.
        defining = [use for use, _ in at]
        for use, original in at or renamed:
            named = await coroutine_of(analysis.find_references)(original)
            every = [one for one in named if one.kind == ReferenceKind.DEFINITION]
            defining += [one for one in every if one.path == use.path] or every
    places = tuple(map(_location, defining))
    symbol = None if defining else _symbol_at(analysis, position.path, position.line)
    if symbol is not None and symbol.name.endswith(position.name):
        # A definition without a name of its own, such as an initializer.
        start, end = position.column, position.column + len(position.name)
        location = Location(position.path, position.line, start, end, symbol.signature)
        places, coverage = (location,), COVERAGE
    elif not defining:
        reason = f"no definition of {position.name!r} in code; {reason}"
    return Locations(places, analysis.name, coverage, reason)


async def implementations(analysis: Analysis, position: Position, reason: str) -> Locations:
    """The types derived from this one by name; for a method, its overrides in them."""
    uses = await _uses(analysis, position)
    here = [use for use in _defining(uses, position) if use.kind == ReferenceKind.DEFINITION]
    owners = _owners(analysis, here, position.name)
    asked = (position.path, position.line)
    at = [_whole(use, position.name) for use in here if (use.path, use.line) == asked]
    heirs = await _derived(analysis, owners or at or [position.name])
    locations = [one.place for one in heirs.types]
    if owners:
        locations = [_location(use) for use in uses if heirs.defines(use)]
    locations = [location for location in locations if (location.path, location.line) != asked]
    locations.sort(key=order_of(locations))
    if not locations:
        base = " or ".join(owner.rpartition(".")[2] for owner in owners) or position.name
        reason = f"none found by name in {heirs.looked_at()} {base!r} in code; {reason}"
    told = {
        use.line
        for use in uses
        if use.kind == ReferenceKind.DEFINITION
        and use.path == position.path
        and _whole(use, position.name) in at
    }
    if not owners and len(told) > 1:
        lines = ", ".join(map(str, sorted(told)))
        reason = sentences(f"those of lines {lines} aren't told apart", reason)
    return Locations(tuple(locations), analysis.name, f"{uses.coverage}{heirs.unseen()}", reason)


async def hover(analysis: Analysis, position: Position, reason: str) -> Hover:
    """The signatures of the name's definitions, with the first lines of their documentation."""
    defined = await definitions(analysis, position, reason)
    parts = []
    for location in defined.locations[:_MOST_HOVERS]:
        symbol = _symbol_at(analysis, location.path, location.line)
        if symbol is None:
            line = f"{location.line} {location.context.strip()}"
        else:
            line = text_of(symbol_line(symbol, 0, docstring=True))
        parts.append(f"{location.path}:{line}")
    more = len(defined.locations) - _MOST_HOVERS
    if more > 0:
        parts.append(f"… {more} more of that name: ask for its definition")
    return Hover("\n".join(parts), defined.backend, defined.coverage, defined.reason)


async def callers(
    analysis: Analysis,
    position: Position,
    query: ReferencesQuery,
    reason: str = "",
    known: Calls | None = None,
) -> Calls:
    """The functions that call something of that name, where a server answered none or nothing.

    Of what a server knows, it says how much more there is by name. Only a server knows the callees.
    """
    uses = await _uses(analysis, position, query)
    every = [use for use in uses if use.kind == ReferenceKind.CALL]
    calls = [use for use in every if use.tier != "another"]
    values = sum(use.kind in _VALUES and use.tier != "another" for use in uses)
    used = [f"{values} {plural('use', values)} as a value"] if values else []
    if known and known.incoming:
        told = {(call.path, line) for call in known.incoming for line in call.lines}
        if more := len({(use.path, use.line) for use in calls} - told):
            least = "over " * (CUT_SHORT in uses.coverage)
            used.insert(0, f"{least}{more} more {plural('line', more)} by name")
        return replace(known, reason=sentences(known.reason, ", ".join(used) + _ASK * bool(used)))
    if known and not (calls or values):
        return known
    lines: dict[tuple[str, str], list[int]] = {}
    for use in calls:
        lines.setdefault((use.path, use.enclosing), []).append(use.line)
    incoming = tuple(
        Call(
            inside or path,
            path,
            _line_of(analysis, path, inside, calls_inside[0]),
            tuple(calls_inside),
        )
        for (path, inside), calls_inside in lines.items()
    )
    remarks = [uses.reason * bool(calls), *(one + _ASK for one in used)]
    if incoming and known:
        remarks.insert(0, f"possible callers: {known.backend} knows none")
    elif not incoming and uses.coverage.startswith(COVERAGE):
        remarks.insert(0, f"no calls{'' if known else ' found by name'}")
    if another := len(every) - len(calls):
        remarks.append(f"{another} {plural('call', another)} of another {position.name} left out")
    remarks += [] if known else [reason, "whom it calls is not known"]
    answer = known or Calls((), (), analysis.name)
    return replace(answer, incoming=incoming, coverage=uses.coverage, reason=sentences(*remarks))


def with_body(analysis: Analysis, position: Position) -> Position:
    """The position of the function with a body, where it is that of one of its overloads."""
    every = [one for one in _symbols(analysis, position.path) if one.symbol.name == position.name]
    at = next((one for one in every if one.symbol.name_line == position.line), None)
    if at is None or not _is_overload(at):
        return position
    after = every[every.index(at) :]
    same = [one for one in after if one.qualified_name == at.qualified_name]
    bodied = next((one for one in same if not _is_overload(one)), at)
    return replace(position, line=bodied.symbol.name_line)


def _is_overload(one: Located) -> bool:
    return any(mark.lstrip("@").rpartition(".")[2] == "overload" for mark in one.symbol.decorators)


def defined_at(position: Position, types: Hierarchy) -> list[Found]:
    """The definition of C at a position, with those of other branches of `#if`."""
    every = [one for one in types.symbols(position.path) if not one.declares]
    in_c = language_of(position.path) in {"c", "cpp"}
    at = {_form(one) for one in every if in_c and one.line == position.line}
    return [one for one in every if one.last == position.name and _form(one) in at]


def with_own(found: Locations, own: list[Found], types: Hierarchy, *, said: bool) -> Locations:
    """The places with all of `own`, and without those that don't define the name.

    Of a definition clangd knows its declaration, or only what one branch of `#if` defines.
    """
    by_place = {(one.path, one.line): one for one in found.locations}
    defining = {
        (one.path, one.line)
        for path, _ in by_place
        for one in types.symbols(path)
        if one.last == own[0].last
    }
    places = {(one.path, one.line): _place_of(one, types.read(one.path)[2]) for one in own}
    new = [str(line) for path, line in places if (path, line) not in by_place]
    others = {at: one for at, one in by_place.items() if one.outside or at in defining}
    lines = f"{plural('line', len(new))} {', '.join(new)}"
    reason = f"by name, not {found.backend}'s: {lines}" if new and said else found.reason
    return replace(found, locations=(*(places | others).values(),), reason=reason)


async def diagnostics(analysis: Analysis, path: str, reason: str) -> Diagnostics:
    """Return whether the file parses; only a server knows more."""
    outline = analysis.get_outline(path)
    broken = PARSED_WITH_ERRORS in outline.reason
    why = f"{outline.reason}; {reason}" if broken else reason
    return Diagnostics(path, (), analysis.name, "partial: no language server answered", why)


async def _uses(
    analysis: Analysis, position: Position, query: ReferencesQuery | None = None
) -> References:
    """The uses of the name; those of another thing are left out, unless a query has all."""
    if not is_name(key_of(position.name)):
        why = f"{position.name!r} is no identifier, and nothing was looked for"
        return References(position.name, (), 0, 0, coverage=f"partial: {why}")
    by_name = coroutine_of(analysis.find_references)
    usages = await (query.run() if query else by_name(position.name))
    uses = tuple(use for use in usages if query or use.tier != "another")
    coverage = sentences(COVERAGE, usages.coverage * (usages.coverage != COMPLETE))
    return replace(usages, references=uses, coverage=coverage)


def _defining(uses: Iterable[Reference], position: Position) -> list[Reference]:
    """The uses that define the name, or only the one at `position` where there is one."""
    uses = list(uses)
    defining = [use for use in uses if use.kind == ReferenceKind.DEFINITION]
    if not defining:
        defining = first_writes(uses)
    at = [use for use in defining if (use.path, use.line) == (position.path, position.line)]
    return at or sorted(defining, key=lambda use: (use.path != position.path, use.test))


def _owners(analysis: Analysis, here: Iterable[Reference], name: str) -> list[str]:
    """The types that the definitions are methods of; none where one is a type itself."""
    owners: dict[str, None] = {}
    lines = {(use.path, use.line) for use in here}
    for path in dict.fromkeys(path for path, _ in lines):
        for symbol, qualified, enclosing in _symbols(analysis, path):
            if fit(path, symbol.name, name) != 0 or (path, symbol.name_line) not in lines:
                continue
            if symbol.kind in TYPES:
                return []
            if enclosing and enclosing[-1].kind in TYPES:
                owners[qualified.rpartition(".")[0]] = None
    return [*owners]


class _Heirs:
    """The types derived from others by name, each once, and what wasn't looked at."""

    def __init__(self, analysis: Analysis, bases: Iterable[str]) -> None:
        self._analysis = analysis
        self.types: dict[TypeBases, None] = {}
        # All types of each file that was looked at; None where they aren't known.
        self.every: dict[str, FileTypes | None] = {}
        self.exported: dict[str, None] = {}
        self.waiting = deque(dict.fromkeys(bases))

    def looked_at(self) -> str:
        """Count the files that were looked at, up to "that have"."""
        paths = [path for path, types in self.every.items() if types is not None]
        kinds = ", ".join(dict.fromkeys(PurePath(path).suffix or path for path in paths))
        have = "has" if len(paths) == 1 else "have"
        files = f"{len(paths)} {kinds} {plural('file', len(paths))} that {have}"
        return files if paths else "any file with"

    def unseen(self) -> str:
        """Name what wasn't looked at, by the languages of the files."""
        remarks = [unseen_in(language_of(path)) for path in self.every]
        unread = [path for path, types in self.every.items() if types is None]
        remarks += [*unread[:_MOST_NAMED], f"{len(unread) - _MOST_NAMED} more files"][: len(unread)]
        remarks += [f"heirs of {len(self.waiting)} more types"] if self.waiting else []
        remarks += [f"importers of {path} by another name" for path in self.exported]
        broken = sum(types is not None and types.is_broken for types in self.every.values())
        remarks += [f"what doesn't parse in {broken} {plural('file', broken)}"] if broken else []
        # Elixir's implementations of protocols have none.
        named = (one.name or language_of(one.place.path) == "elixir" for one in self.types)
        nameless = [*named].count(False)
        alone = f"; {nameless} in blocks or without a name" if nameless else ""
        return (
            alone
            + "; not looked at: " * any(remarks)
            + ", ".join(filter(None, dict.fromkeys(remarks)))
        )

    def defines(self, use: Reference) -> bool:
        """Return whether a derived type is the innermost around a use that defines a member.

        The members of types that no outline has, local ones or without a name, count as read.
        """
        at = (use.line, use.column)
        every = types_here.types if (types_here := self.every.get(use.path)) else ()
        around = [one for one in every if one.inside[0] <= at < one.inside[1]]
        inner = max(around, key=lambda one: one.inside[0], default=None)
        if inner is None or inner not in self.types:
            return False
        if use.kind != ReferenceKind.READ:
            return use.kind == ReferenceKind.DEFINITION
        symbols = _symbols(self._analysis, use.path) if inner.name else ()
        types = (symbol for symbol, _, _ in symbols if symbol.kind in TYPES)
        return all(symbol.name_line != inner.place.line for symbol in types)


async def _derived(analysis: Analysis, bases: Sequence[str]) -> _Heirs:
    """The direct and indirect heirs by name, but for those that a namesake's scope explains."""
    heirs = _Heirs(analysis, bases)
    first, asked = {*bases}, set[str]()
    while heirs.waiting and len(asked) < _MOST_BASES:
        full_name = heirs.waiting.popleft()
        if full_name in asked:
            continue
        asked.add(full_name)
        base = full_name.rpartition(".")[2]
        names_in: dict[str, set[str]] = {}
        uses = await coroutine_of(analysis.find_references)(base)
        namesakes: dict[str, set[str]] = {}
        is_asked = False
        for use in uses:
            names_in.setdefault(use.path, {base}).add(use.alias or base)
            heirs.exported |= dict.fromkeys([use.path] if is_whole(use) else [])
            if use.kind == ReferenceKind.DEFINITION:
                is_asked |= _whole(use, base) == full_name in first
                # An `alias` of Elixir's may bind a plain name; a constructor has its class's.
                is_plain = not use.enclosing and language_of(use.path) == "elixir"
                if not is_plain and use.enclosing.rpartition(".")[2] != base:
                    namesakes.setdefault(_reach(use.path), set()).add(_whole(use, base))
        for path, names in names_in.items():
            if path not in heirs.every:
                heirs.every[path] = analysis.types_in(path)
            types_here = heirs.every[path]
            for one, around in _with_scopes(types_here.types if types_here else ()):
                direct_bases = [name for name in one.bases if name.rpartition(".")[2] in names]
                if one in heirs.types or not direct_bases:
                    continue
                # What a broken parse nests may stand elsewhere.
                scopes = around[-_MOST_SCOPES:] if types_here and not types_here.is_broken else ()
                scope = [outer.name for outer in scopes]
                others = namesakes.get(_reach(path), set()) - {
                    full_name,
                    ".".join((*scope, one.name)),
                }
                if is_asked and all(
                    _is_another(name, scope, others, full_name) for name in direct_bases
                ):
                    continue
                heirs.types[one] = None
                # What implements a trait in Rust implements those above it by itself.
                if one.name and language_of(path) != "rust":
                    heirs.waiting.append(one.name.rpartition(".")[2])
    return heirs


def _with_scopes(types: Iterable[TypeBases]) -> Iterator[tuple[TypeBases, list[TypeBases]]]:
    """Yield the types of a file, each with those around it."""
    around: list[TypeBases] = []
    for one in types:
        while around and around[-1].inside[1] <= one.inside[0]:
            around.pop()
        yield one, around
        around.append(one)


def _is_another(base: str, scope: list[str], others: set[str], whole: str) -> bool:
    """Return whether a base, as it is written in a scope, means another than the `whole` name."""
    names = (".".join((*scope[:count], base)) for count in range(len(scope), -1, -1))
    return next((name for name in names if name in others or name == whole), whole) != whole


def _reach(path: str) -> str:
    """The language of names that are known in all files, else the file."""
    language = language_of(path)
    return language if language in MARKED else path


def _whole(use: Reference, name: str) -> str:
    """The name with that of what is around it."""
    return f"{use.enclosing}.{name}".strip(".")


def _location(use: Reference) -> Location:
    return Location(use.path, use.line, use.column, use.column_end, use.context)


def _symbol_at(analysis: Analysis, path: str, line: int) -> SymbolInfo | None:
    symbols = _symbols(analysis, path)
    symbol_here = next((symbol for symbol, _, _ in symbols if symbol.name_line == line), None)
    return symbol_here and replace(symbol_here, children=())


def _line_of(analysis: Analysis, path: str, inside: str, use: int) -> int:
    """The line of the definition of that name around a use, or that of the use."""
    around = (
        symbol.name_line
        for symbol, name, _ in _symbols(analysis, path)
        if name == inside and symbol.line <= use <= symbol.line_end
    )
    return next(around, use)


def _symbols(analysis: Analysis, path: str) -> Iterable[Located]:
    """All symbols of a file; none where it has gone since its uses were found."""
    with suppress(PathError):
        return flatten(analysis.get_outline(path).symbols)
    return ()


def _form(one: Found) -> tuple[str, str]:
    """The part that alternatives of a definition share: functions of other parameters are none."""
    symbol = one.located.symbol
    is_function = symbol.kind in BODIES and not symbol.signature.startswith("#")
    return one.name, symbol.signature * is_function


def _place_of(one: Found, lines: Sequence[str]) -> Location:
    column = first_column(lines, one.line, one.last) or 1
    return Location(one.path, one.line, column, column + len(one.last), lines[one.line - 1])
