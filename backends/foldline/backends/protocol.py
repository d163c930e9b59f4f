"""The two parts that `SmartFileAccess` composes: files, and the analysis of their code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from foldline.backends.files.source import Source
    from foldline.backends.files.walk import FileStamp
    from foldline.backends.models import (
        FileOutline,
        FileTree,
        Reference,
        References,
        SymbolDetail,
        SymbolInfo,
    )


class FileBackend(Protocol):
    """Files below one root; `LocalFileBackend` and `MemoryFileBackend` are such backends."""

    @property
    def root(self) -> Path:
        """The real path of the workspace root."""
        ...

    def resolve(self, path: str, *, no_ignore: bool = False) -> str:
        """The path relative to the root with `/`; raises `PathError` for what may not be read."""
        ...

    def read_source(self, path: str, *, no_ignore: bool = False) -> Source:
        """The decoded content; an overlay wins over the disk."""
        ...

    def read_file(self, path: str, *, no_ignore: bool = False) -> str:
        """The whole text, line endings as they are."""
        ...

    def read_lines(self, path: str, start: int, end: int, *, no_ignore: bool = False) -> str:
        """The lines `start` to `end`, joined by newlines."""
        ...

    def get_tree(
        self,
        path: str = ".",
        *,
        depth: int | None = None,
        budget: int | None = None,
        cursor: str | None = None,
        no_ignore: bool = False,
    ) -> FileTree:
        """The folder's tree, collapsed until its text form fits `budget` bytes."""
        ...

    def walk(self, path: str = ".", *, no_ignore: bool = False) -> Iterator[FileStamp]:
        """Every file below `path` that is not ignored, overlays included."""
        ...

    def stamp(self, path: str) -> FileStamp | None:
        """The version of the file; None if it doesn't exist."""
        ...


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
