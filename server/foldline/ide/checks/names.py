"""Names that resemble others."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def near_names(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those names that resemble one, the most alike first, at most three."""
    return tuple(get_close_matches(name, list(dict.fromkeys(names)), n=3, cutoff=0.5))
