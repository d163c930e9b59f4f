"""Token usage of evaluations."""

from __future__ import annotations

from foldline.prompts.dataclasses import FrozenDataclass

__all__ = ["NOTHING_USED", "TokenUsage"]


@FrozenDataclass()
class TokenUsage:
    """Tokens as the provider counts them; those of several turns can be added.

    >>> TokenUsage(10, 2) + TokenUsage(20, 3, cached=8)
    TokenUsage(input=30, output=5, cached=8)
    """

    input: int = 0
    """Tokens that the model read, including those from the provider's cache."""
    output: int = 0
    """Tokens that the model wrote, including reasoning."""
    cached: int = 0
    """Input tokens from the provider's cache."""

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input + self.output

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input + other.input, self.output + other.output, self.cached + other.cached
        )


NOTHING_USED = TokenUsage()
"""The usage before the first request."""
