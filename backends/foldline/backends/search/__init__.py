"""Searches: by questions, for symbols, and for patterns."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "grep": ("grep_files",),
        "search": ("rank_files", "search_files"),
        "symbol_search": ("search_symbols",),
    },
)
