"""Definitions, hovers, diagnostics and calls: from a language server, or else from syntax trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends import fallback
from foldline.backends.base.waiting import waits
from foldline.backends.engine import NO_ENGINE
from foldline.backends.errors import InvalidArgumentError
from foldline.backends.formatting import navigation as pages

if TYPE_CHECKING:
    from foldline.backends.engine import Engine
    from foldline.backends.files.base import FileBackend
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.outlines.locations import Calls, Diagnostics, Hover, Locations, Position


class CodeNavigation:
    """Queries about the symbol at a position.

    `at` is the name on that line, or a column counted from 1. A language server gets `seconds`;
    with 0, without one, or when it is late, syntax trees answer by name alone, `coverage` says so,
    and `reason` why. A `budget` is in bytes of the answer's text form
    (`foldline.backends.formatting.navigation`); `cursor` asks for the rest of the last answer.
    """

    _files: FileBackend
    _engine: Engine

    @property
    def _analysis(self) -> Analysis:
        """The syntax trees that answer by name."""
        raise NotImplementedError

    def find_position(
        self,
        file: str,
        name: str | None = None,
        *,
        line: int | None = None,
        column: int | None = None,
    ) -> Position:
        """The position that the other queries take, from what a caller knows of it.

        With `line`, the `name` or the `column` on it, or else its definition. Without, the
        definition of `name` as `read_symbol` takes it, or where the file imports or first uses it;
        without a name, the file's first symbol.

        Raises:
            SymbolNotFoundError: with the nearest names.
            AmbiguousSymbolError: with the candidates' names.
            InvalidArgumentError: There is no such line, or no such name on it.
        """
        from foldline.backends.outlines.symbols import find_position

        return find_position(self._files, self._analysis, file, name, line=line, column=column)

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
        from foldline.backends.references import name_fallback

        position = self._position(file, line, at)
        found = await fallback.by_engine(
            self._engine_for(seconds).goto_definition(position, seconds=seconds),
            lambda reason: name_fallback.definitions(self._analysis, position, reason),
        )
        return pages.page_locations(found, budget, cursor)

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
        from foldline.backends.references import name_fallback

        position = self._position(file, line, at)
        found = await fallback.by_engine(
            self._engine_for(seconds).find_implementations(position, seconds=seconds),
            lambda reason: name_fallback.implementations(self._analysis, position, reason),
        )
        return pages.page_locations(found, budget, cursor)

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
        from foldline.backends.references import name_fallback

        position = self._position(file, line, at)
        found = await fallback.by_engine(
            self._engine_for(seconds).hover(position, seconds=seconds),
            lambda reason: name_fallback.hover(self._analysis, position, reason),
        )
        return pages.page_hover(found, budget, cursor)

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
        from foldline.backends.references import name_fallback

        path = self._files.resolve(file)
        found = await fallback.by_engine(
            self._engine_for(seconds).diagnostics(path, seconds=seconds),
            lambda reason: name_fallback.diagnostics(self._analysis, path, reason),
        )
        return pages.page_diagnostics(found, budget, cursor)

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
        from foldline.backends.references import name_fallback

        position = self._position(file, line, at)
        found = await fallback.by_engine(
            self._engine_for(seconds).call_hierarchy(position, seconds=seconds),
            lambda reason: name_fallback.callers(self._analysis, position, reason),
        )
        return pages.page_calls(found, budget, cursor)

    def _engine_for(self, seconds: float) -> Engine:
        return self._engine if seconds > 0 else NO_ENGINE

    def _position(self, file: str, line: int, at: str | int) -> Position:
        from foldline.backends.outlines.locations import Position
        from foldline.backends.outlines.symbols import first_column, name_at

        source = self._files.read_source(file)
        lines = source.lines
        if not 1 <= line <= len(lines):
            raise InvalidArgumentError("line", f"{source.path} has the lines 1 to {len(lines)}")
        if isinstance(at, int):
            return Position(source.path, line, at, name_at(lines, line, at))
        column = first_column(lines, line, at)
        if column is None:
            raise InvalidArgumentError("at", f"line {line} of {source.path} has no name {at!r}")
        return Position(source.path, line, column, at)
