from foldline.backends.search.grep import grep_files
from foldline.backends.search.search import rank_files, search_files
from foldline.backends.search.symbol_search import search_symbols

__all__ = [
    "grep_files",
    "rank_files",
    "search_files",
    "search_symbols",
]
__version__: str
