"""The answers of the backends, frozen; lines count from 1, ranges include both ends."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "common": ("COMPLETE", "CUT_SHORT", "TEXT_ALONE", "ReferenceKind", "SymbolKind"),
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
        "references": ("NamedIn", "Reference", "References", "TextUses"),
        "symbols": ("FileOutline", "Inherited", "SymbolDetail", "SymbolDetails", "SymbolInfo"),
    },
)
