"""The answers of the backends, frozen; lines count from 1, ranges include both ends."""

from importlib import import_module
from typing import TYPE_CHECKING

from foldline.backends.models.coverage import COMPLETE, CUT_SHORT

if TYPE_CHECKING:
    from foldline.backends.models.files import (
        FileText,
        FileTree,
        TreeEntry,
    )
    from foldline.backends.models.hits import (
        GrepMatch,
        GrepResults,
        SearchHit,
        SearchResults,
        SymbolHit,
        SymbolResults,
    )
    from foldline.backends.models.kinds import ReferenceKind, SymbolKind
    from foldline.backends.models.references import (
        Reference,
        References,
    )
    from foldline.backends.models.symbols import (
        FileOutline,
        SymbolDetail,
        SymbolDetails,
        SymbolInfo,
    )

__all__ = [
    "COMPLETE",
    "CUT_SHORT",
    "FileOutline",
    "FileText",
    "FileTree",
    "GrepMatch",
    "GrepResults",
    "Reference",
    "ReferenceKind",
    "References",
    "SearchHit",
    "SearchResults",
    "SymbolDetail",
    "SymbolDetails",
    "SymbolHit",
    "SymbolInfo",
    "SymbolKind",
    "SymbolResults",
    "TreeEntry",
]

# To make such a class takes a millisecond: a command makes those of its own answer.
_HOMES = {
    "FileOutline": "symbols",
    "FileText": "files",
    "FileTree": "files",
    "GrepMatch": "hits",
    "GrepResults": "hits",
    "Reference": "references",
    "ReferenceKind": "kinds",
    "References": "references",
    "SearchHit": "hits",
    "SearchResults": "hits",
    "SymbolDetail": "symbols",
    "SymbolDetails": "symbols",
    "SymbolHit": "hits",
    "SymbolInfo": "symbols",
    "SymbolKind": "kinds",
    "SymbolResults": "hits",
    "TreeEntry": "files",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
