"""The outline of a source in any language."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from foldline.backends import parsers
from foldline.backends.base.languages import DOCUMENTS, SCRIPTS, has_grammar
from foldline.backends.formatting.text import plural
from foldline.backends.models import SymbolKind
from foldline.backends.outlines.syntax import (
    ParseCostlyError,
    ParseRefusedError,
    ParseStoppedError,
    parse,
)
from foldline.backends.parsers.brackets import mend_outline, mended
from foldline.backends.parsers.markup import MARKUP, only_scripts, read_cells, with_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tree_sitter import Node

    from foldline.backends.models import SymbolInfo
    from foldline.backends.parsers.outline_builder import Outline


PARSED_WITH_ERRORS = "parsed with errors"
"""The beginning of the reason of an outline that may lack something."""


def outline_source(language: str, data: bytes, *, guarded: bool = False) -> Outline:
    """The outline of `data`, UTF-8 with newlines only, in that language.

    Raises:
        ParseCostlyError: It has so many errors that a `guarded` parse is given up.
    """
    if not has_grammar(language):
        return parsers.outline_by_indentation(data, language)
    if language == "notebook":
        code, headings = read_cells(data)
        outline = outline_source("python", code, guarded=guarded)
        outline.symbols = tuple(sorted((*outline.symbols, *headings), key=lambda one: one.line))
        return outline
    try:
        root = parse(language, data, guarded=guarded).root_node
    except ParseCostlyError:
        raise
    except ParseRefusedError as refused:
        stopped = isinstance(refused, ParseStoppedError)
        return outline_unparsed(data, str(refused), provisional=stopped)
    return outline_of_tree(language, data, root, guarded=guarded)


def outline_unparsed(data: bytes, why: str, *, provisional: bool = False) -> Outline:
    """The outline by indentation of a file that isn't parsed, and why."""
    outline = parsers.outline_by_indentation(data)
    outline.reason = f"{why}; shown are the lines with indented lines below them"
    outline.provisional = provisional
    return outline


def outline_of_tree(language: str, data: bytes, root: Node, *, guarded: bool = False) -> Outline:
    """The outline of a parsed source; `guarded` applies to the parses of its parts."""
    if language in MARKUP:
        outline = outline_of_tree("typescript", only_scripts(language, data), root, guarded=guarded)
        outline.symbols = with_tags(data, outline.symbols)
        if not root.has_error and outline.symbols:
            outline.reason = ""
        return outline
    root, error_row = reparsed(language, data, root, guarded=guarded)
    outline = _parser_of(language)(data, root)
    if error_row is not None:
        if language in SCRIPTS:
            outline.symbols = _mended(language, data, outline, guarded=guarded)
        rows = data.split(b"\n")
        outline.symbols = tuple(_beside(rows, outline.symbols))
        missing = _missing(rows, outline.symbols, error_row)
        outline.reason = f"{PARSED_WITH_ERRORS} (line {error_row + 1}): {missing}"
    elif not outline.symbols:
        outline.reason = "defines nothing"
    return outline


def _beside(rows: Sequence[bytes], symbols: Iterable[SymbolInfo]) -> list[SymbolInfo]:
    """The symbols of a broken source: one ends before the next that isn't indented below it."""
    flat: list[SymbolInfo] = []
    for symbol in symbols:
        is_open, indent = symbol.kind == SymbolKind.NAMESPACE, _indent(rows, symbol)
        sides: tuple[list[SymbolInfo], list[SymbolInfo]] = [], []
        for one in _beside(rows, symbol.children):
            is_inside = is_open or one.line == symbol.line or _indent(rows, one) > indent
            sides[is_inside].append(one)
        flat += [replace(symbol, children=tuple(sides[True])), *sides[False]]
    for at, (one, after) in enumerate(pairwise(flat)):
        if one.name_line < after.line <= one.line_end:
            kept = tuple(inner for inner in one.children if inner.line < after.line)
            flat[at] = replace(one, line_end=after.line - 1, children=kept)
    return flat


def _indent(rows: Sequence[bytes], symbol: SymbolInfo) -> int:
    row = rows[symbol.line - 1]
    return len(row) - len(row.lstrip())


def _missing(rows: Sequence[bytes], symbols: Iterable[SymbolInfo], error_row: int) -> str:
    """Say how many lines from the first error on are in no symbol."""
    outlined = {line for one in symbols for line in range(one.line, one.line_end + 1)}
    lines = [
        row.strip() for line, row in enumerate(rows, 1) if line > error_row and line not in outlined
    ]
    code = sum(line[:1] not in (b"", b"#", b"*", b"/") for line in lines)
    return f"{code} {plural('line', code)} left out" if code else "something may be missing"


def _first_error(root: Node) -> int | None:
    """The row where the parser first failed; None where it didn't."""
    if not root.has_error:
        return None
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    return node.start_point[0]


def reparsed(
    language: str, data: bytes, root: Node, *, guarded: bool = False
) -> tuple[Node, int | None]:
    """The tree of a source, and the row where its parser failed.

    That of one without what the grammar misreads, if the parser then gets as far.
    """
    error_row = _first_error(root)
    if error_row is None:
        return root, None
    text = mended(data, language)
    again = _root(language, text, guarded=guarded) if text != data else None
    if again is None:
        return root, error_row
    new_row = _first_error(again)
    return (again, new_row) if new_row is None or new_row >= error_row else (root, error_row)


def _root(language: str, data: bytes, *, guarded: bool) -> Node | None:
    """The tree of a part, or of a changed source; None where it isn't parsed."""
    try:
        return parse(language, data, guarded=guarded).root_node
    except ParseCostlyError:
        raise
    except ParseRefusedError:
        return None


def _mended(language: str, data: bytes, found: Outline, *, guarded: bool) -> tuple[SymbolInfo, ...]:
    outline = _parser_of(language)

    def outline_piece(piece: bytes) -> tuple[SymbolInfo, ...]:
        root = _root(language, piece, guarded=guarded)
        return outline(piece, root).symbols if root is not None else ()

    return mend_outline(data, found.symbols, outline_piece)


def _parser_of(language: str) -> Callable[[bytes, Node], Outline]:
    """The function that reads a tree of the language, its module imported when first needed."""
    if language == "python":
        return parsers.outline_python
    if language in SCRIPTS:
        return parsers.outline_typescript
    if language in DOCUMENTS:
        return parsers.DOCUMENT_PARSERS[language]
    return parsers.parser_of(language)
