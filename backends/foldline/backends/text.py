"""Answers as text, for models and for people: small, and each says what comes next."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

from foldline.backends.formatting import text
from foldline.backends.formatting.outline_text import outline_lines
from foldline.backends.formatting.parts import plain
from foldline.backends.formatting.reference_text import references_lines
from foldline.backends.formatting.text import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from foldline.backends.formatting.parts import Code, Line

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
P = ParamSpec("P")


def _as_text(lines: Callable[P, Iterable[Line | Code]]) -> Callable[P, str]:
    """The function whose result is the text of these lines."""

    @wraps(lines)
    def format_answer(*args: P.args, **kwargs: P.kwargs) -> str:
        return plain(lines(*args, **kwargs))

    return format_answer


format_file_text = _as_text(text.file_lines)
format_grep = _as_text(text.grep_lines)
format_outline = _as_text(outline_lines)
format_references = _as_text(references_lines)
format_search = _as_text(text.search_lines)
format_symbol = _as_text(text.symbol_lines)
format_tree = _as_text(text.tree_lines)
