"""Names that resemble one that there isn't, and names that nothing has yet."""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import chain, count

_MOST = 3
_LIKE = 0.65
# Comparing takes time with the square of the length.
_LONGEST = 100


def near_names(name: str, names: Iterable[str], like: float = _LIKE) -> tuple[str, ...]:
    """Return at most three of `names` that resemble `name`, best first; case counts for nothing.

    They are at least `like` it, from 0 to 1.
    """
    from difflib import get_close_matches

    folded = name.casefold()
    if not folded or len(folded) > _LONGEST:
        return ()
    by_form: dict[str, dict[str, None]] = {}
    letters, longest = frozenset(folded), min(_LONGEST, int(len(folded) * (2 - like) / like))
    for one in names:
        if len(one) <= longest:
            other = one.casefold()
            # So many letters they need in common: comparing takes a hundred times as long.
            common = like * (len(folded) + len(other)) / 2
            if len(other) >= common <= len(folded) - len(letters.difference(other)):
                by_form.setdefault(other, {})[one] = None
    matches = get_close_matches(folded, sorted(by_form), n=_MOST, cutoff=like)
    every = (one for match in matches for one in sorted(by_form[match]) if one != name)
    return tuple(every)[:_MOST]


def did_you_mean(near: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a message that suggests these names; `otherwise` if there are none."""
    names = " or ".join(map(repr, near))
    return f"; did you mean {names}?" if names else otherwise


def free_name(name: str, taken: Container[str], separator: str) -> str:
    """Return a name, with a number behind it if it is taken."""
    numbered = (f"{name}{separator}{number}" for number in count(2))
    return next(free for free in chain((name,), numbered) if free not in taken)
