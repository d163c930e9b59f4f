"""Names of a workspace that are like one that it doesn't have."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldline.backends.models import References

_MOST_NEAR = 3
# Comparing takes time with the square of the length.
_LONGEST_NAME = 100
_LIKE = 0.8


def near_names(name: str, defined: Iterable[bytes]) -> list[str]:
    """The defined names that are most like `name`, those that differ only in case first."""
    word = name.strip().rpartition(".")[2]
    folded = word.casefold()
    if not folded or len(folded) > _LONGEST_NAME:
        return []
    names: dict[str, list[str]] = {}
    for raw in defined:
        # No name that differs more in its length is as like.
        if 3 * len(raw) >= len(folded) and len(raw) <= _LONGEST_NAME:
            known = raw.decode("utf-8", "replace")
            names.setdefault(known.casefold(), []).append(known)
    like = difflib.get_close_matches(folded, sorted(names), n=_MOST_NEAR, cutoff=_LIKE)
    every = [known for match in like for known in sorted(names[match])]
    return [known for known in every if known != word][:_MOST_NEAR]


def with_near_names(found: References, defined: Iterable[bytes]) -> References:
    """The answer that there are no references, with the names that may be meant."""
    near = near_names(found.name, defined)
    if not near:
        return found
    return replace(found, reason=f"{found.reason}; did you mean {' or '.join(map(repr, near))}?")
