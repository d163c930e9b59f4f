"""The context of one generating call: some files in full, the others as outlines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.errors import BackendError
from foldline.backends.formatting.budget import FILE_BUDGET, size_of
from foldline.backends.text import format_outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foldline.backends import SmartFileAccess

OUTLINES_BUDGET = 6_000
"""Bytes of the outlines of all supporting files."""


def scoped_context(
    access: SmartFileAccess,
    primary: Iterable[str],
    supporting: Iterable[str] = (),
    *,
    file_budget: int = FILE_BUDGET,
    outlines_budget: int = OUTLINES_BUDGET,
) -> str:
    """Return `primary` files in full and `supporting` ones as outlines, as one text.

    A primary file over `file_budget` bytes is shown up to there, and the text says so.
    """
    primary = tuple(dict.fromkeys(primary))
    others = tuple(path for path in dict.fromkeys(supporting) if path not in primary)
    parts = [_file(access, path, file_budget) for path in primary]
    if others:
        parts.append(outlines_within(access, others, outlines_budget))
    return "\n\n".join(parts)


def outlines_within(access: SmartFileAccess, paths: Sequence[str], budget: int) -> str:
    """Return the outlines of all files within `budget` bytes.

    What a small one leaves is for those after it.
    """
    texts: list[str] = []
    left = budget
    for place, path in enumerate(paths):
        share = max(left // (len(paths) - place) - 2, 1)
        try:
            text = format_outline(access.get_outline(path), share)
        except BackendError as error:
            text = f"({error})"
        texts.append(text)
        left -= size_of(text) + 2
    return "\n\n".join(texts)


def _file(access: SmartFileAccess, path: str, budget: int) -> str:
    try:
        text = access.read_text(path, budget=budget)
    except BackendError as error:
        return f"({error})"
    rest = "" if text.end == text.line_count else f" of {text.line_count} lines"
    return f"{text.path}:{text.start}-{text.end}{rest}\n{text.text}"
