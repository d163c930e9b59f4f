"""A user's own backend, of which only the three specified methods are known."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from foldline.backends.base.languages import language_of
from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.errors import LSPError, PathError, cut
from foldline.backends.models import FileOutline, Reference, References, SymbolDetail, SymbolInfo
from foldline.backends.outlines.symbols import first_column, flatten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.protocol import MinimalBackend

Model = TypeVar("Model", Reference, SymbolDetail, SymbolInfo)


class OwnBackend:
    """The three methods of a user's own backend, answered in complete models of ours.

    It may return plain lists, and leave out every field that the specification doesn't name: the
    line of a name, the path of a symbol, columns.
    """

    def __init__(self, backend: MinimalBackend, files: FileBackend, name: str) -> None:
        self._backend = backend
        self._files = files
        self.name = str(getattr(backend, "name", name))

    def get_outline(self, file_path: str) -> FileOutline:
        """The file's outline.

        Raises:
            PathError: The workspace doesn't show the file; the backend isn't asked.
        """
        path = self._files.resolve(file_path)
        outline = self._backend.get_outline(file_path)
        lines = self._lines(path)
        symbols = tuple(_symbol(symbol, lines) for symbol in outline)
        if isinstance(outline, FileOutline):
            return replace(outline, symbols=symbols, backend=outline.backend or self.name)
        head = lines[0].encode("utf-8", "replace")[:128] if lines else b""
        return FileOutline(
            path,
            language_of(path, head),
            (),
            symbols,
            len(lines),
            reason="" if symbols else f"{self.name} names no symbols",
            backend=self.name,
        )

    def check_lines(self, path: str, symbols: Iterable[SymbolInfo]) -> None:
        """Return where the symbols can be those of the file.

        Raises:
            LSPError: One of them starts outside of it.
        """
        count = len(self._lines(path))
        for symbol, name, _ in flatten(symbols):
            if not 1 <= symbol.line <= count:
                problem = f"has {cut(name)!r} on line {symbol.line} of {path}, which has {count}"
                raise LSPError(problem, self.name)

    def existing(self, references: Sequence[Reference]) -> tuple[Reference, ...]:
        """The references on lines of files that the workspace shows."""
        counts = {path: len(self._lines(path)) for path in {use.path for use in references}}
        return tuple(use for use in references if 1 <= use.line <= counts[use.path])

    def read_symbol(self, file_path: str, symbol_name: str) -> SymbolDetail | None:
        """One definition with its source; None where the backend knows none.

        Raises:
            PathError: The workspace doesn't show the file; the backend isn't asked.
        """
        path = self._files.resolve(file_path)
        read = self._backend.read_symbol(file_path, symbol_name)
        if read is None:
            return None
        detail = _model(SymbolDetail, read)
        lines = self._lines(detail.path or path)
        return replace(
            detail,
            children=tuple(_symbol(child, lines) for child in detail.children),
            name_line=detail.name_line or _name_line(detail, lines),
            char_count=detail.char_count or len(detail.body),
            path=detail.path or path,
            body_line=detail.body_line or detail.line,
            backend=detail.backend or self.name,
        )

    def find_references(self, symbol_name: str, scope: str | None = None) -> References:
        """The uses of the name."""
        uses = self._backend.find_references(symbol_name, scope)
        references = tuple(
            _model(Reference, one, test=getattr(one, "test", False) or is_test_path(one.path))
            for one in uses
        )
        if isinstance(uses, References):
            return replace(uses, references=references, backend=uses.backend or self.name)
        return References(
            symbol_name,
            references,
            len(references),
            len({reference.path for reference in references}),
            scope,
            reason="" if references else f"{self.name} knows no use of {symbol_name!r}",
            backend=self.name,
        )

    def with_columns(self, found: References) -> References:
        """The references, each with the column of the name on its line."""
        name = found.name.rpartition(".")[2].strip()
        lines = {path: self._lines(path) for path in {reference.path for reference in found}}
        references = tuple(
            _with_column(reference, name, lines[reference.path]) for reference in found
        )
        return replace(found, references=references)

    def _lines(self, path: str) -> list[str]:
        try:
            return self._files.read_source(path).lines
        except PathError:
            return []


def _model(model: type[Model], found: object, **changes: object) -> Model:
    """The model with the fields that `found` has, lists as tuples."""
    values: dict[str, Any] = {
        field.name: tuple(value) if isinstance(value, list) else value
        for field in fields(model)
        if (value := getattr(found, field.name, None)) is not None
    }
    return model(**{**values, **changes})


def _symbol(found: SymbolInfo, lines: Sequence[str]) -> SymbolInfo:
    symbol = _model(SymbolInfo, found)
    return replace(
        symbol,
        children=tuple(_symbol(child, lines) for child in symbol.children),
        name_line=symbol.name_line or _name_line(symbol, lines),
    )


def _name_line(symbol: SymbolInfo, lines: Sequence[str]) -> int:
    """The first line of the symbol that has its name: decorators stand above it."""
    numbers = range(symbol.line, symbol.line_end + 1)
    return next((line for line in numbers if first_column(lines, line, symbol.name)), symbol.line)


def _with_column(reference: Reference, name: str, lines: Sequence[str]) -> Reference:
    column = first_column(lines, reference.line, name)
    if reference.column or column is None:
        return reference
    return replace(reference, column=column, column_end=column + len(name))
