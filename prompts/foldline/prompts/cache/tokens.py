"""The library's own count of tokens, an estimate that needs no tokenizer."""

from __future__ import annotations

__all__ = ["estimated_tokens", "longest_prefix"]

# In twentieths of a token, so that sums are exact.
_TOKEN = 20
_NARROW = 5
_WIDE = 16
_FIRST_WIDE = 0x2E80
"""The first character of East Asian scripts, which take about a token each."""


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text from its length; off by a quarter for code.

    Four characters are a token; of East Asian scripts, five are four tokens.
    """
    wide = 0 if text.isascii() else sum(ord(character) >= _FIRST_WIDE for character in text)
    return -(-(_NARROW * (len(text) - wide) + _WIDE * wide) // _TOKEN)


def longest_prefix(text: str, tokens: int, *, room: int = 0) -> int:
    """Return the length of the longest prefix that has at most `tokens`, by the same estimate.

    Args:
        text: The text.
        tokens: The most tokens.
        room: Narrow characters that must fit as well.
    """
    left = _TOKEN * tokens - _NARROW * room
    if text.isascii():
        return min(len(text), max(left, 0) // _NARROW)
    for index, character in enumerate(text):
        left -= _WIDE if ord(character) >= _FIRST_WIDE else _NARROW
        if left < 0:
            return index
    return len(text)
