"""Code at the cheapest level that answers: tree, outline, symbol, lines, references, file.

`SmartFileAccess.for_workspace(root)` is the usual way in; `foldline.backends.text` renders its
answers for models and people; `foldline.backends.errors` has what it raises.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
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
            "NoMatchError",
            "NotAFileError",
            "NotAFolderError",
            "OutsideWorkspaceError",
            "PathError",
            "SymbolError",
            "SymbolNotFoundError",
            "UnreadablePathError",
        ),
        "file_access": ("SmartFileAccess",),
        "files.base": ("FileBackend",),
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
        "text": (),
        "protocol": ("FileAnalysisBackend", "MinimalBackend"),
    },
)
