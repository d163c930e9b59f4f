"""Names that resemble one that there isn't."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST = 3
_LIKE = 0.65
# Comparing takes time with the square of the length.
_LONGEST = 100


def near_names(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return at most three of `names` that resemble `name`, best first; case counts for nothing."""
    from difflib import get_close_matches

    folded = name.casefold()
    if not folded or len(folded) > _LONGEST:
        return ()
    known: dict[str, dict[str, None]] = {}
    for one in names:
        # No name that differs more in its length is as like.
        if len(folded) < 3 * len(one) and len(one) < 3 * len(folded) and len(one) <= _LONGEST:
            known.setdefault(one.casefold(), {})[one] = None
    like = get_close_matches(folded, sorted(known), n=_MOST, cutoff=_LIKE)
    every = (one for match in like for one in sorted(known[match]) if one != name)
    return tuple(every)[:_MOST]


def did_you_mean(near: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a message that suggests these names; `otherwise` if there are none."""
    names = " or ".join(map(repr, near))
    return f"; did you mean {names}?" if names else otherwise
