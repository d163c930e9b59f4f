"""Definitions, hovers, diagnostics and calls: from a language server, or else from syntax trees."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from foldline.backends import fallback, models, outlines, references
from foldline.backends.base.languages import UNKNOWN, language_of
from foldline.backends.base.waiting import coroutine_of, waits
from foldline.backends.engine import NO_ENGINE
from foldline.backends.errors import InvalidArgumentError
from foldline.backends.formatting import navigation as pages
from foldline.backends.formatting.text import sentences
from foldline.backends.search.walks import Scope, left_out

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from foldline.backends.engine import Engine
    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.outlines.locations import (
        Calls,
        Diagnostics,
        Hover,
        Location,
        Locations,
        Position,
    )
    from foldline.backends.references.hierarchy import Hierarchy
    from foldline.backends.references.meaning import Meaning, Names
    from foldline.backends.references.references_cache import ReferencesCache
    from foldline.backends.references.two_tier_references import ReferencesQuery
    from foldline.backends.search.walks import Walks


# Code that no parser of names reads, by the language of its names.
_GRAMMAR = re.compile(r"\.[yl](?:y|l|pp|xx|\+\+)?\Z")
_UNREAD = {"c": _GRAMMAR, "cpp": _GRAMMAR, "python": re.compile(r"\.ipynb\Z")}
_OVERLOAD = re.compile(r"typing(?:_extensions)?\.pyi? overload\Z")
# A hover of an engine that doesn't know the type.
_SAYS_NOTHING = re.compile(r"\s*(?:`{3}\w*)?\s*(?:unknown|any)?\s*(?:`{3})?\s*", re.IGNORECASE)


class CodeNavigation:
    """Queries about the symbol at a position.

    `at` is the name on that line, or a column counted from 1. A language server gets `seconds`;
    with 0, without one, or when it is late, syntax trees answer by name alone, `coverage` says so,
    and `reason` why. A `budget` is in bytes of the answer's text form
    (`foldline.backends.formatting.navigation`); `cursor` asks for the rest of the last answer.
    """

    _files: FileBackend
    _index: WorkspaceIndex | None
    _walks: Walks
    _answers: ReferencesCache

    @property
    def _analysis(self) -> Analysis:
        """The syntax trees that answer by name."""
        raise NotImplementedError

    @property
    def _engine(self) -> Engine:
        """The servers, or who else is asked."""
        raise NotImplementedError

    def names(self, *, thorough: bool = True) -> Names:
        """Meanings of names, for queries that share the outlines which they read."""
        return references.Names(self._files, self._analysis, self._index, thorough=thorough)

    @waits
    async def definitions_of(
        self, name: str, *, seconds: float = fallback.DEFAULT_SECONDS
    ) -> Meaning:
        """The definitions in the workspace that a name means, in any usual spelling of it.

        Of a place such as `cart.py:12` it is the definition around it, and with a column that of
        the name there, for which a language server gets `seconds`.
        """
        names = self.names()
        at = names.place(name)
        if at is None or (at.name and at.line is None):
            path, name = (None, name) if at is None else (at.path, at.name)
            return await self._meaning(names, name, path)
        path, line = self._files.resolve(at.path), at.line
        if line is None or at.column is not None:
            position = await coroutine_of(self.find_position)(None, name)
            line = position.line
            if at.column is not None:
                locations = await coroutine_of(self.goto_definition)(*position.at, seconds=seconds)
                inside = [one for one in locations.locations if not one.outside]
                path, line = (inside[0].path, inside[0].line) if inside else (path, 0)
        return names.around(path, line, name)

    @waits
    async def find_position(
        self,
        file: str | None,
        name: str | None = None,
        *,
        line: int | None = None,
        column: int | None = None,
    ) -> Position:
        """The position that the other queries take, from what a caller knows of it.

        With `line`, the `name` or the `column` on it, or else its definition. Without, the
        definition of `name` as `read_symbol` takes it, or where the file imports or first uses it;
        without a name, the file's first symbol. Without a file, the name is that of the only
        definition in the workspace, or a place such as `cart.py:12` or `cart.py:Cart.total`.

        Raises:
            SymbolNotFoundError: with the nearest names.
            AmbiguousSymbolError: with the candidates' names, or their places.
            InvalidArgumentError: There is no such line, or no such name on it.
        """
        names = self.names()
        if file is None:
            if not name:
                raise InvalidArgumentError("name", "a `path` or a name is required")
            written = names.place(name)
            if written is None:
                meant = await self._meaning(names, name, None)
                return names.position(meant.one(), meant.told())
            file, name, line, column = (
                written.path,
                written.name or None,
                written.line,
                written.column,
            )
        if name is not None and line is None and column is None:
            meant = await names.meaning(name, self._files.resolve(file))
            if len({one.name for one in meant.found}) == 1:
                return names.position(meant.found[0], meant.told())
        return outlines.find_position(
            self._files, self._analysis, file, name, line=line, column=column
        )

    @waits
    async def goto_definition(
        self,
        file: str,
        line: int,
        at: str | int,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        seconds: float = fallback.DEFAULT_SECONDS,
    ) -> Locations:
        """The definitions of the symbol, also outside the workspace."""
        engine, position = self._engine_for(seconds), self._position(file, line, at)
        locations = await self._or_by_name(
            engine.goto_definition(position, seconds=seconds),
            references.name_fallback.definitions,
            position,
        )
        types, by_engine = self.names().types, locations.backend != self._analysis.name
        if defined := references.name_fallback.defined_at(position, types):
            locations = references.name_fallback.with_own(locations, defined, types, said=by_engine)
        kept = _with_bodies(locations, types, position.name)
        if by_engine and locations.locations and not kept:
            why = f"possible ones: {locations.backend} knows no body"
            by_name = await references.name_fallback.definitions(self._analysis, position, why)
            if kept := _with_bodies(by_name, types, position.name):
                locations = by_name
        if kept:
            locations = replace(locations, locations=kept)
        return pages.page_locations(locations, budget, cursor)

    @waits
    async def find_implementations(
        self,
        file: str,
        line: int,
        at: str | int,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        seconds: float = fallback.DEFAULT_SECONDS,
    ) -> Locations:
        """The implementations and overrides of the symbol."""
        engine, position = self._engine_for(seconds), self._position(file, line, at)

        async def others() -> Locations:
            implementations = await engine.find_implementations(position, seconds=seconds)
            asked = (position.path, position.line)
            kept = tuple(one for one in implementations if (one.path, one.line) != asked)
            reason = implementations.reason if kept else f"{implementations.backend} knows none"
            return replace(implementations, locations=kept, reason=reason)

        locations = await self._or_by_name(
            others(), references.name_fallback.implementations, position
        )
        locations = replace(
            locations, reason=sentences(locations.reason, await self._unread(position))
        )
        return pages.page_locations(locations, budget, cursor)

    @waits
    async def hover(
        self,
        file: str,
        line: int,
        at: str | int,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        seconds: float = fallback.DEFAULT_SECONDS,
    ) -> Hover:
        """The type and documentation of the symbol."""
        position = self._position(file, line, at)
        answer = await fallback.by_engine(
            self._engine_for(seconds).hover(position, seconds=seconds),
            lambda reason: references.name_fallback.hover(self._analysis, position, reason),
        )
        if position.name and _SAYS_NOTHING.fullmatch(answer.text):
            by_name = await references.name_fallback.hover(
                self._analysis, position, f"{answer.backend} has nothing"
            )
            answer = by_name if by_name.text else answer
        return pages.page_hover(answer, budget, cursor)

    @waits
    async def diagnostics(
        self,
        file: str,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        seconds: float = fallback.DEFAULT_SECONDS,
    ) -> Diagnostics:
        """The diagnostics of the file."""
        path = self._files.resolve(file)
        answer = await fallback.by_engine(
            self._engine_for(seconds).diagnostics(path, seconds=seconds),
            lambda reason: references.name_fallback.diagnostics(self._analysis, path, reason),
        )
        return pages.page_diagnostics(answer, budget, cursor)

    @waits
    async def call_hierarchy(
        self,
        file: str,
        line: int,
        at: str | int,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        seconds: float = fallback.DEFAULT_SECONDS,
    ) -> Calls:
        """Callers and callees of the function."""
        position = references.name_fallback.with_body(
            self._analysis, self._position(file, line, at)
        )
        query = self._references_query(self.names(), name=position.name, target=position)
        by_name = self._analysis, position, query
        calls = await fallback.by_engine(
            self._engine_for(seconds).call_hierarchy(position, seconds=seconds),
            lambda reason: references.name_fallback.callers(*by_name, reason),
        )
        if position.name and calls.backend != self._analysis.name:
            calls = await references.name_fallback.callers(*by_name, known=calls)
        # A decorator of stubs is nothing that the body calls.
        callees = [one for one in calls.outgoing if not _OVERLOAD.search(f"{one.path} {one.name}")]
        reason = sentences(calls.reason, await self._unread(position))
        calls = replace(calls, outgoing=tuple(callees), reason=reason)
        return pages.page_calls(calls, budget, cursor)

    def _references_query(self, names: Names, **asked: Any) -> ReferencesQuery:
        """The query about the uses of a name; unless it has `seconds`, no engine is asked."""
        asked = {"scope": None, "seconds": 0.0, "most": 0, "since": time.monotonic(), **asked}
        return references.ReferencesQuery(
            self._files, self._analysis, self._engine, self._answers, names, **asked
        )

    async def _unread(self, position: Position) -> str:
        """Name what may use a name, and isn't read: yacc, lex, notebooks and texts of a shell."""
        language = self._analysis.get_outline(position.path).language
        if language == "bash" and position.name:
            usages = await coroutine_of(self._analysis.find_references)(position.name)
            return await references.said_of_strings(
                usages, self._files, self._index, time.monotonic()
            )
        kinds = _UNREAD.get(language)
        if kinds is None or not position.name:
            return ""
        uses = models.References(position.name, (), 0, 0)
        text = (await references.with_text(uses, self._files, self._index, time.monotonic())).text
        unread = ", ".join(one.path for one in text if kinds.search(one.path))
        return unread and f"not looked at: {unread}"

    async def _or_by_name(
        self,
        answer: Awaitable[Locations],
        by_name: Callable[[Analysis, Position, str], Awaitable[Locations]],
        position: Position,
    ) -> Locations:
        """The engine's places, or those by name where it fails or knows none."""
        locations = await fallback.by_engine(
            answer, lambda reason: by_name(self._analysis, position, reason)
        )
        if position.name and not locations.locations and locations.backend != self._analysis.name:
            why = f"{locations.backend} knows none"
            possible = await by_name(self._analysis, position, why)
            if possible.locations:
                return replace(possible, reason=f"possible ones: {why}")
            locations = replace(possible, backend=locations.backend)
        return locations

    async def _meaning(self, names: Names, name: str, path: str | None) -> Meaning:
        meant = await names.meaning(name, path and self._files.resolve(path))
        if not meant.found and language_of(name) != UNKNOWN:
            # Raises an error with near files.
            self._files.resolve(name)
        if not meant.found:
            broken = await names.unparsed(name)
            meant = meant._replace(left_out=await self.left_out(path, *broken, of_code=True))
        return meant

    async def left_out(self, scope: str | None = None, *others: str, of_code: bool = False) -> str:
        """Says which files of a scope an empty answer isn't about, and how to look there."""
        walked = await Scope(self._files, scope).walked(self._walks)
        counts = references.not_looked_at(self._files, walked) if of_code else ()
        return left_out(self._files, walked, [*others, *counts])

    def _engine_for(self, seconds: float) -> Engine:
        fallback.check_seconds(seconds)
        return self._engine if seconds > 0 else NO_ENGINE

    def _position(self, file: str, line: int, at: str | int) -> Position:
        source = self._files.read_source(file)
        lines = source.lines
        if not 1 <= line <= len(lines):
            raise InvalidArgumentError("line", f"{source.path} has the lines 1 to {len(lines)}")
        if isinstance(at, int):
            return outlines.Position(
                source.path, line, at, outlines.name_at(source.path, lines[line - 1], at)
            )
        column = outlines.first_column(lines, line, at)
        if column is None:
            raise InvalidArgumentError("at", f"line {line} of {source.path} has no name {at!r}")
        return outlines.Position(source.path, line, column, at)


def _with_bodies(found: Locations, types: Hierarchy, name: str) -> tuple[Location, ...]:
    """The places without prototypes, and of C without the types of a variable that has the name."""
    left_out = {
        (path, one.line)
        for path in {place.path for place in found.locations if not place.outside}
        for one in types.symbols(path)
        if one.declares or (one.is_type and one.last != name and language_of(path) in {"c", "cpp"})
    }
    return tuple(one for one in found.locations if (one.path, one.line) not in left_out)
