"""The library's own count of tokens, an estimate that needs no tokenizer."""

from __future__ import annotations

import unicodedata

__all__ = ["estimated_tokens", "longest_prefix"]

# In twentieths of a token, so that sums are exact.
TOKEN = 20
"""A token in twentieths."""
_NARROW = 5
_WIDE = 16
_FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_FIRST_WIDE = 0x2E80
"""The first character of East Asian scripts, which take about a token each."""


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text from its length; off by a quarter for code.

    Four characters are a token; of East Asian scripts, five are four tokens.
    """
    return -(-twentieths(text) // TOKEN)


def twentieths(text: str) -> int:
    """Return the same estimate in twentieths of a token: those of two texts add up."""
    wide = 0 if text.isascii() else sum(ord(character) >= _FIRST_WIDE for character in text)
    return _NARROW * (len(text) - wide) + _WIDE * wide


def longest_prefix(text: str, tokens: int, *, room: int = 0) -> int:
    """Return the length of the longest prefix that has at most `tokens`, by the same estimate.

    What is shown as one character, such as a letter with its accents or a family emoji, isn't cut.
    There is `room` for so many narrow characters behind it.
    """
    left = TOKEN * tokens - _NARROW * room
    if text.isascii():
        return min(len(text), max(left, 0) // _NARROW)
    for index, character in enumerate(text):
        left -= _WIDE if ord(character) >= _FIRST_WIDE else _NARROW
        if left < 0:
            ends = range(index, 0, -1)
            return next((end for end in ends if not _is_joined(text, end)), 0)
    return len(text)


def _is_joined(text: str, index: int) -> bool:
    """Return True if a character is shown as one with that in front of it."""
    before, character = text[index - 1], text[index]
    if before in _FLAGS and character in _FLAGS:
        # Two of them are a flag.
        return (index - len(text[:index].rstrip(_FLAGS))) % 2 == 1
    return (
        before == "\u200d"
        # Accents, joiners and tags; skin tones.
        or unicodedata.category(character) in {"Mn", "Mc", "Me", "Cf"}
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or ("\ud800" <= before < "\udc00" <= character < "\ue000")
    )
