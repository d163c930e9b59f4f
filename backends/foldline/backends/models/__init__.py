"""The answers of the backends, frozen; lines count from 1, ranges include both ends."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.backends.models.coverage import COMPLETE, CUT_SHORT
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
_LATER = {
    "coverage": ("COMPLETE", "CUT_SHORT"),
    "files": ("FileText", "FileTree", "TreeEntry"),
    "hits": (
        "GrepMatch",
        "GrepResults",
        "SearchHit",
        "SearchResults",
        "SymbolHit",
        "SymbolResults",
    ),
    "kinds": ("ReferenceKind", "SymbolKind"),
    "references": ("Reference", "References"),
    "symbols": ("FileOutline", "SymbolDetail", "SymbolDetails", "SymbolInfo"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from foldline.backends.references.exports import load

        return load(__name__, _LATER, name)
