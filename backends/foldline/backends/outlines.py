"""The outline of a source in any language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.languages import DOCUMENTS, UNKNOWN, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from foldline.backends.models import SymbolInfo
    from foldline.backends.parsers.draft import Outline


_SCRIPTS = frozenset({"javascript", "typescript", "tsx"})

PARSED_WITH_ERRORS = "parsed with errors: something may be missing"


def outline_source(language: str, data: bytes) -> Outline:
    """What the file of that language defines; `data` is UTF-8 with newlines only."""
    if language == UNKNOWN:
        from foldline.backends.parsers.indentation import outline_by_indentation

        return outline_by_indentation(data)
    return outline_of_tree(language, data, parse(language, data).root_node)


def outline_of_tree(language: str, data: bytes, root: Node) -> Outline:
    """The same for a source that is parsed already."""
    found = _parser_of(language)(data, root)
    if root.has_error:
        if language in _SCRIPTS:
            found.symbols = _mended(language, data, found)
        found.reason = PARSED_WITH_ERRORS
    elif not found.symbols:
        found.reason = "defines nothing"
    return found


def _mended(language: str, data: bytes, found: Outline) -> tuple[SymbolInfo, ...]:
    from foldline.backends.parsers.ts_mend import mend_outline

    outline = _parser_of(language)
    return mend_outline(
        data, found.symbols, lambda piece: outline(piece, parse(language, piece).root_node).symbols
    )


def _parser_of(language: str) -> Callable[[bytes, Node], Outline]:
    """The function that reads a tree of the language, its module imported when first needed."""
    if language == "python":
        from foldline.backends.parsers.python_parser import outline_python

        return outline_python
    if language in _SCRIPTS:
        from foldline.backends.parsers.ts_parser import outline_typescript

        return outline_typescript
    if language in DOCUMENTS:
        from foldline.backends.parsers.documents import DOCUMENT_PARSERS

        return DOCUMENT_PARSERS[language]
    from foldline.backends.parsers.table import table_parser

    return table_parser(language)
