"""Outlines, symbols and references from syntax trees: needs no set-up and is never down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.errors import SymbolNotFoundError
from foldline.backends.files.source import count_lines, from_text, split_lines
from foldline.backends.languages import language_of
from foldline.backends.models import FileOutline, SymbolDetail
from foldline.backends.outlines import outline_source
from foldline.backends.references import references_in
from foldline.backends.symbols import locate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.files.base import BaseFileBackend
    from foldline.backends.files.source import Source
    from foldline.backends.models import Reference

NAME = "ast"


class ASTFileAnalysisBackend:
    """The analysis that always answers, from tree-sitter and for plain text from indentation."""

    name = NAME

    def __init__(self, files: BaseFileBackend) -> None:
        self._files = files

    def get_outline(self, file_path: str, *, source: str | None = None) -> FileOutline:
        """The file's definitions, however broken the rest of it is."""
        return self._outline(self._source(file_path, source))

    def read_symbol(
        self, file_path: str, symbol_name: str, *, source: str | None = None
    ) -> SymbolDetail | None:
        """One definition with its decorators and leading comments."""
        read = self._source(file_path, source)
        outline = self._outline(read)
        try:
            symbol, qualified_name, enclosing = locate(read.path, outline.symbols, symbol_name)
        except SymbolNotFoundError:
            if source is None:
                raise
            return None
        lines = split_lines(read.text)
        first = _first_comment_line(lines, symbol.line)
        body = "\n".join(lines[first - 1 : symbol.line_end])
        return SymbolDetail(
            symbol.name,
            symbol.kind,
            symbol.line,
            symbol.line_end,
            symbol.signature,
            symbol.children,
            symbol.decorators,
            symbol.docstring,
            symbol.name_line,
            body=body,
            parent=enclosing[-1].name if enclosing else None,
            char_count=len(body),
            path=read.path,
            qualified_name=qualified_name,
            body_line=first,
            backend=NAME,
        )

    def find_references(
        self, symbol_name: str, scope: str | None = None, *, source: str | None = None
    ) -> Sequence[Reference]:
        """The identifiers that are the last part of `symbol_name`, in code only."""
        del source
        name = symbol_name.rpartition(".")[2]
        found: list[Reference] = []
        for stamp in self._files.walk(scope or "."):
            found.extend(references_in(self._files, stamp.path, name))
        return found

    def _source(self, path: str, text: str | None) -> Source:
        if text is None:
            return self._files.read_source(path)
        return from_text(self._files.resolve(path), text)

    def _outline(self, source: Source) -> FileOutline:
        data = source.parse_data
        language = language_of(source.path, data[:128])
        found = outline_source(language, data)
        return FileOutline(
            source.path,
            language,
            tuple(found.imports),
            found.symbols,
            count_lines(data),
            found.docstring,
            tuple(found.exports),
            "; ".join(filter(None, (found.reason, source.note))),
            NAME,
        )


def _first_comment_line(lines: list[str], line: int) -> int:
    """The line where the comments start that stand right above `line` at its own depth."""
    if line > len(lines):
        return line
    first = lines[line - 1]
    indent = first[: len(first) - len(first.lstrip())]
    while line > 1:
        above = lines[line - 2]
        if not above.startswith((f"{indent}#", f"{indent}//")) or above.startswith("#!"):
            break
        line -= 1
    return line
