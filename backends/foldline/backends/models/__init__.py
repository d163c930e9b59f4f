"""The answers of the backends, frozen; lines count from 1, ranges include both ends."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "coverage": ("COMPLETE", "CUT_SHORT", "TEXT_ALONE"),
        "files": ("FileText", "FileTree", "TreeEntry"),
        "hits": (
            "GrepMatch",
            "GrepResults",
            "SearchHit",
            "SearchResults",
            "SymbolHit",
            "SymbolPlace",
            "SymbolResults",
        ),
        "kinds": ("ReferenceKind", "SymbolKind"),
        "references": ("NamedIn", "Reference", "References", "TextUses"),
        "symbols": ("FileOutline", "Inherited", "SymbolDetail", "SymbolDetails", "SymbolInfo"),
    },
)
