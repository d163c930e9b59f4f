"""The parts of words that every match of a regular expression has."""

from __future__ import annotations

import re

# A class of characters, an escape, a group's ends, what else has a meaning, and plain words. Within
# a class, a bracket right at its beginning is a member of it.
_TOKEN = re.compile(
    r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\\(?P<escaped>.)"
    r"|(?P<open>\()|(?P<close>\))"
    r"|(?P<word>[A-Za-z0-9_]+)(?P<optional>[*?{])?"
    r"|.",
    re.DOTALL,
)
# Escapes of one character, which stand for no letter: others may be the beginning of a longer one.
_SINGLE = frozenset("AbBdDsSwWz")
_SHORTEST = 2
_MOST_PARTS = 8


def required_parts(pattern: str) -> list[str]:
    """Pieces of ASCII words, in every text that the pattern matches; maybe not all of them.

    There are none where the pattern has alternatives or flags, or is in no way simple.
    """
    if "|" in pattern or "(?" in pattern:
        return []
    parts: dict[str, None] = {}
    depth = 0
    for token in _TOKEN.finditer(pattern):
        escaped = token["escaped"]
        if escaped is not None and escaped.isalnum() and escaped not in _SINGLE:
            return []
        depth += bool(token["open"]) - bool(token["close"])
        if depth < 0:
            return []
        word = token["word"]
        # What a group has may be optional, as a group may.
        if word and not depth:
            parts[word[:-1] if token["optional"] else word] = None
    return [part for part in parts if len(part) >= _SHORTEST][:_MOST_PARTS]
