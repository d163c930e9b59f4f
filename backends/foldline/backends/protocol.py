"""Backends that a user may write: the methods that `SmartFileAccess` needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from foldline.backends.models import FileOutline, Reference, References, SymbolDetail, SymbolInfo


class MinimalBackend(Protocol):
    """The three methods that `SmartFileAccess` needs of a backend; yours may have no others.

    Whatever a backend in front of the analysis raises, except `PathError` and `SymbolError`, the
    analysis answers. A `close()` is called with that of the access. Answers name the backend by its
    `name`, if it has one.
    """

    def get_outline(self, file_path: str) -> FileOutline | Sequence[SymbolInfo]:
        """The file's definitions."""
        ...

    def read_symbol(self, file_path: str, symbol_name: str) -> SymbolDetail | None:
        """One definition with its source; None where the file has no such symbol."""
        ...

    def find_references(
        self, symbol_name: str, scope: str | None
    ) -> References | Sequence[Reference]:
        """The uses of the name below `scope`; `path`, `line` and `context` of each are enough."""
        ...


class FileAnalysisBackend(Protocol):
    """A `MinimalBackend` that analyses `source` in place of the file's own text."""

    def get_outline(self, file_path: str, *, source: str | None = None) -> FileOutline:
        """The file's definitions, iterable."""
        ...

    def read_symbol(
        self, file_path: str, symbol_name: str, *, source: str | None = None
    ) -> SymbolDetail | None:
        """One definition with its source; None where the file has no such symbol."""
        ...

    def find_references(
        self, symbol_name: str, scope: str | None = None, *, source: str | None = None
    ) -> References | Sequence[Reference]:
        """The uses of the name below `scope`."""
        ...
