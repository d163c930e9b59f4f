"""The analysis behind `SmartFileAccess`: it always answers, whichever backend stands behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.models import ReferenceKind
from foldline.backends.outlines.own_backend import OwnBackend
from foldline.backends.outlines.symbols import flatten

if TYPE_CHECKING:
    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import FileOutline, References, SymbolDetail
    from foldline.backends.protocol import MinimalBackend

Analysis: TypeAlias = ASTFileAnalysisBackend
"""Syntax trees, or `OwnAnalysis` of a user's own backend."""
# Files whose outlines tell definitions from other uses.
_MOST_OUTLINES = 50


class OwnAnalysis(ASTFileAnalysisBackend):
    """A user's own backend as the analysis; searches parse the files themselves."""

    def __init__(
        self, backend: MinimalBackend, files: FileBackend, index: WorkspaceIndex | None
    ) -> None:
        super().__init__(files, index)
        self._own = OwnBackend(backend, files, "custom")
        self.name = self._own.name

    @property
    def knows_types(self) -> bool:
        # What a type is, its outlines alone say.
        return False

    def get_outline(self, file_path: str, *, source: str | None = None) -> FileOutline:
        del source
        return self._own.get_outline(file_path)

    def read_symbol(
        self, file_path: str, symbol_name: str, *, source: str | None = None
    ) -> SymbolDetail | None:
        del source
        return self._own.read_symbol(file_path, symbol_name)

    def find_references(
        self,
        symbol_name: str,
        scope: str | None = None,
        *,
        source: str | None = None,
        since: float | None = None,
        most: int | None = None,
        labelled: set[str] | None = None,
    ) -> References:
        del source, since, most, labelled
        references = self._own.find_references(symbol_name, scope)
        return self._with_definitions(self._own.with_columns(references))

    def _with_definitions(self, found: References) -> References:
        """The references; those that the backend's own outlines define are definitions."""
        paths = dict.fromkeys(use.path for use in found if not use.kind)
        name = found.name.rpartition(".")[2].strip()
        defined = {
            (path, symbol.name_line)
            for path in list(paths)[:_MOST_OUTLINES]
            for symbol, _, _ in flatten(self.get_outline(path))
            if symbol.name == name
        }
        references = tuple(
            replace(use, kind=ReferenceKind.DEFINITION)
            if not use.kind and (use.path, use.line) in defined
            else use
            for use in found
        )
        return replace(found, references=references)


def analysis_of(
    backend: MinimalBackend, files: FileBackend, index: WorkspaceIndex | None
) -> Analysis:
    """The backend with every method of an analysis."""
    if isinstance(backend, ASTFileAnalysisBackend):
        return backend
    return OwnAnalysis(backend, files, index)
