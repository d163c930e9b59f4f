from foldline.backends.models.common import (
    COMPLETE,
    CUT_SHORT,
    TEXT_ALONE,
    ReferenceKind,
    SymbolKind,
)
from foldline.backends.models.files import FileText, FileTree, TreeEntry
from foldline.backends.models.hits import (
    GrepMatch,
    GrepResults,
    SearchHit,
    SearchResults,
    SymbolHit,
    SymbolPlace,
    SymbolResults,
)
from foldline.backends.models.references import NamedIn, Reference, References, TextUses
from foldline.backends.models.symbols import (
    FileOutline,
    Inherited,
    SymbolDetail,
    SymbolDetails,
    SymbolInfo,
)

__all__ = [
    "COMPLETE",
    "CUT_SHORT",
    "TEXT_ALONE",
    "FileOutline",
    "FileText",
    "FileTree",
    "GrepMatch",
    "GrepResults",
    "Inherited",
    "NamedIn",
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
    "SymbolPlace",
    "SymbolResults",
    "TextUses",
    "TreeEntry",
]
__version__: str
