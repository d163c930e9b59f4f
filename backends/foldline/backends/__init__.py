"""Code at the cheapest level that answers: tree, outline, symbol, lines, references, file.

`SmartFileAccess.for_workspace(root)` is the usual way in; `foldline.backends.text` renders its
answers for models and people; `foldline.backends.errors` has what it raises.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.backends.ast_backend import ASTFileAnalysisBackend
    from foldline.backends.async_access import AsyncSmartFileAccess
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
    from foldline.backends.protocol import FileAnalysisBackend, FileBackend, MinimalBackend

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

# A program that only catches errors, or a server that reads files later, doesn't wait for the rest.
_LATER = {
    "ast_backend": ("ASTFileAnalysisBackend",),
    "async_access": ("AsyncSmartFileAccess",),
    "errors": (
        "AmbiguousSymbolError",
        "BackendError",
        "BinaryFileError",
        "FileTooLargeError",
        "IgnoredPathError",
        "InvalidArgumentError",
        "LSPError",
        "MissingPathError",
        "NotAFileError",
        "NotAFolderError",
        "OutsideWorkspaceError",
        "PathError",
        "SymbolError",
        "SymbolNotFoundError",
        "UnreadablePathError",
    ),
    "file_access": ("SmartFileAccess",),
    "files.local": ("LocalFileBackend",),
    "files.memory": ("MemoryFileBackend",),
    "index": ("WorkspaceIndex",),
    "models": (
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
    ),
    "protocol": (
        "FileAnalysisBackend",
        "FileBackend",
        "MinimalBackend",
    ),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from foldline.backends.references.exports import load

        return load(__name__, _LATER, name)
