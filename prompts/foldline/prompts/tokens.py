"""Token estimates, for programs that have no tokenizer."""

from __future__ import annotations

__all__ = ["estimated_tokens"]


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text; off by a quarter for code and by more for some languages."""
    return -(-len(text) // 4)
