"""The terms of words: an identifier as a whole and in its parts, without endings."""

from __future__ import annotations

import re
from functools import lru_cache

# `HTTPServer2` is HTTP, Server, 2.
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ENDINGS = (
    ("sses", "ss"),
    ("ies", "y"),
    ("ied", "y"),
    ("ing", ""),
    ("ed", ""),
    ("es", ""),
    ("s", ""),
    ("ly", ""),
)
_SHORTEST_STEM = 3
_DOUBLED = frozenset("bdgmnprt")
# Longer ones are data.
LONGEST_WORD = 80
_MOST_PARTS = 12


def read_terms(word: str) -> tuple[str, ...]:
    """The terms of a word: `UserLogins` is `userlogin`, `user` and `login`.

    Text that isn't a word, such as a long number, has none.
    """
    if len(word) > LONGEST_WORD:
        return ()
    if not word.isascii():
        return (word.replace("_", "").casefold(),)
    parts = _PARTS.findall(word)
    joined = word.replace("_", "").lower()
    if len(parts) < 2:
        return (stem(joined),) if joined and not joined.isdigit() else ()
    return (stem(joined), *[_stem_of(part) for part in parts[:_MOST_PARTS] if len(part) > 1])


_kept = lru_cache(maxsize=1 << 14)(read_terms)


def terms_of(word: str) -> tuple[str, ...]:
    """The terms of a word, kept for the next time."""
    return _kept(word) if len(word) <= LONGEST_WORD else ()


@lru_cache(maxsize=1 << 15)
def _stem_of(part: str) -> str:
    # Of a vocabulary's parts most are in several words.
    return stem(part.lower())


def stem(word: str) -> str:
    """A lower-case English word without its ending.

    >>> [stem(word) for word in ("queries", "stopped", "caching", "cache", "class", "css")]
    ['query', 'stop', 'cach', 'cach', 'class', 'css']
    """
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            if len(word) - len(ending) + len(instead) >= _SHORTEST_STEM and word[-2:] != "ss":
                word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] in _DOUBLED:
        word = word[:-1]
    if len(word) > _SHORTEST_STEM and word[-1] == "e":
        word = word[:-1]
    return word
