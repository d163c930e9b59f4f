"""Answers as text, for models and for people: small, and each says what comes next."""

from foldline.backends.formatting.text import (
    format_file_text,
    format_grep,
    format_outline,
    format_references,
    format_search,
    format_size,
    format_symbol,
    format_tree,
)

__all__ = [
    "format_file_text",
    "format_grep",
    "format_outline",
    "format_references",
    "format_search",
    "format_size",
    "format_symbol",
    "format_tree",
]
