"""What only a language server knows of a place in a file, for callers who have none too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends import merging
from foldline.backends.errors import InvalidArgumentError
from foldline.backends.semantics import Calls, Diagnostics, Hover, Locations, Target

if TYPE_CHECKING:
    from foldline.backends.files.base import BaseFileBackend
    from foldline.backends.protocol import FileAnalysisBackend

_NONE = "partial: no language server answered"


class CodeNavigation:
    """Questions about the symbol at a place; without a server the answer is empty and says why.

    `at` is the name on that line, or a column counted from 1.
    """

    _files: BaseFileBackend
    _lsp: FileAnalysisBackend | None

    def goto_definition(
        self, file: str, line: int, at: str | int, *, seconds: float = merging.DEFAULT_SECONDS
    ) -> Locations:
        """Where the symbol is defined, also outside the workspace."""
        target = self._target(file, line, at)
        return merging.ask_navigator(
            self._lsp,
            lambda server: server.goto_definition(target, seconds=seconds),
            lambda reason: Locations((), "", _NONE, reason),
        )

    def find_implementations(
        self, file: str, line: int, at: str | int, *, seconds: float = merging.DEFAULT_SECONDS
    ) -> Locations:
        """What implements or overrides the symbol."""
        target = self._target(file, line, at)
        return merging.ask_navigator(
            self._lsp,
            lambda server: server.find_implementations(target, seconds=seconds),
            lambda reason: Locations((), "", _NONE, reason),
        )

    def hover(
        self, file: str, line: int, at: str | int, *, seconds: float = merging.DEFAULT_SECONDS
    ) -> Hover:
        """The type and documentation of the symbol."""
        target = self._target(file, line, at)
        return merging.ask_navigator(
            self._lsp,
            lambda server: server.hover(target, seconds=seconds),
            lambda reason: Hover("", "", _NONE, reason),
        )

    def diagnostics(self, file: str, *, seconds: float = merging.DEFAULT_SECONDS) -> Diagnostics:
        """The problems of the file."""
        path = self._files.resolve(file)
        return merging.ask_navigator(
            self._lsp,
            lambda server: server.diagnostics(path, seconds=seconds),
            lambda reason: Diagnostics(path, (), "", _NONE, reason),
        )

    def call_hierarchy(
        self, file: str, line: int, at: str | int, *, seconds: float = merging.DEFAULT_SECONDS
    ) -> Calls:
        """Who calls the function, and whom it calls."""
        target = self._target(file, line, at)
        return merging.ask_navigator(
            self._lsp,
            lambda server: server.call_hierarchy(target, seconds=seconds),
            lambda reason: Calls((), (), "", _NONE, reason),
        )

    def _target(self, file: str, line: int, at: str | int) -> Target:
        source = self._files.read_source(file)
        lines = source.lines
        if not 1 <= line <= len(lines):
            raise InvalidArgumentError("line", f"{source.path} has the lines 1 to {len(lines)}")
        if isinstance(at, int):
            return Target(source.path, line, at)
        column = merging.first_column(lines, line, at)
        if column is None:
            raise InvalidArgumentError("at", f"line {line} of {source.path} has no name {at!r}")
        return Target(source.path, line, column)
