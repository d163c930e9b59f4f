"""The texts of a module at a place, for editors that ask at each move of the cursor."""

from __future__ import annotations

from functools import lru_cache

from foldline.ide.adopt.find import Candidate, candidates, parse
from foldline.ide.adopt.model import AdoptError

LONGEST = 200_000
"""The longest module that is parsed for this, in characters."""


def candidates_at(text: str, start: int, end: int) -> list[Candidate]:
    """Return the likely prompts of a module that a range touches."""
    if len(text) > LONGEST:
        return []
    return [
        candidate for candidate in _likely(text) if candidate.start <= end and start < candidate.end
    ]


@lru_cache(maxsize=4)
def _likely(text: str) -> tuple[Candidate, ...]:
    try:
        found = candidates(parse(text))
    except AdoptError:
        return ()
    return tuple(candidate for candidate in found if candidate.is_likely)
