"""Code at the cheapest level that answers: tree, outline, symbol, lines, references, file.

`SmartFileAccess.for_workspace(root)` is the usual way in; `foldline.backends.text` renders its
answers for models and people; `foldline.backends.errors` has what it raises.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from foldline.backends.errors import (
    AmbiguousSymbolError,
    BackendError,
    BinaryFileError,
    FileTooLargeError,
    IgnoredPathError,
    InvalidArgumentError,
    LSPError,
    MissingPathError,
    NotAFileError,
    NotAFolderError,
    OutsideWorkspaceError,
    PathError,
    SymbolError,
    SymbolNotFoundError,
    UnreadablePathError,
)
from foldline.backends.protocol import FileAnalysisBackend, FileBackend, MinimalBackend

if TYPE_CHECKING:
    from foldline.backends.ast_backend import ASTFileAnalysisBackend
    from foldline.backends.async_access import AsyncSmartFileAccess
    from foldline.backends.file_access import SmartFileAccess
    from foldline.backends.files.local import LocalFileBackend
    from foldline.backends.files.memory import MemoryFileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import (
        FileOutline,
        FileText,
        FileTree,
        GrepMatch,
        GrepResults,
        Reference,
        ReferenceKind,
        References,
        SearchHit,
        SearchResults,
        SymbolDetail,
        SymbolDetails,
        SymbolHit,
        SymbolInfo,
        SymbolKind,
        SymbolResults,
        TreeEntry,
    )

__all__ = [
    "ASTFileAnalysisBackend",
    "AmbiguousSymbolError",
    "AsyncSmartFileAccess",
    "BackendError",
    "BinaryFileError",
    "FileAnalysisBackend",
    "FileBackend",
    "FileOutline",
    "FileText",
    "FileTooLargeError",
    "FileTree",
    "GrepMatch",
    "GrepResults",
    "IgnoredPathError",
    "InvalidArgumentError",
    "LSPError",
    "LocalFileBackend",
    "MemoryFileBackend",
    "MinimalBackend",
    "MissingPathError",
    "NotAFileError",
    "NotAFolderError",
    "OutsideWorkspaceError",
    "PathError",
    "Reference",
    "ReferenceKind",
    "References",
    "SearchHit",
    "SearchResults",
    "SmartFileAccess",
    "SymbolDetail",
    "SymbolDetails",
    "SymbolError",
    "SymbolHit",
    "SymbolInfo",
    "SymbolKind",
    "SymbolNotFoundError",
    "SymbolResults",
    "TreeEntry",
    "UnreadablePathError",
    "WorkspaceIndex",
]


# Everything but the errors is loaded when first used: a program that only catches them, or a server
# that reads files later, does not wait for the rest.
_HOMES = {
    "ASTFileAnalysisBackend": "ast_backend",
    "AsyncSmartFileAccess": "async_access",
    "FileOutline": "models",
    "FileText": "models",
    "FileTree": "models",
    "GrepMatch": "models",
    "GrepResults": "models",
    "LocalFileBackend": "files.local",
    "MemoryFileBackend": "files.memory",
    "Reference": "models",
    "ReferenceKind": "models",
    "References": "models",
    "SearchHit": "models",
    "SearchResults": "models",
    "SmartFileAccess": "file_access",
    "SymbolDetail": "models",
    "SymbolDetails": "models",
    "SymbolHit": "models",
    "SymbolInfo": "models",
    "SymbolKind": "models",
    "SymbolResults": "models",
    "TreeEntry": "models",
    "WorkspaceIndex": "index",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
