"""Token usage of evaluations."""

from __future__ import annotations

from dataclasses import field

from foldline.prompts.cache.prices import CACHE_PRICES, CachePrices
from foldline.prompts.dataclasses import FrozenDataclass

__all__ = ["NOTHING_USED", "TokenUsage"]


@FrozenDataclass()
class TokenUsage:
    """Tokens as the provider counts them; those of several turns can be added.

    >>> usage = TokenUsage(1_000, 20, cached=800) + TokenUsage(1_200, 30, cached=900, written=250)
    >>> usage
    TokenUsage(input=2200, output=50, cached=1700, written=250)
    >>> usage.fresh, usage.billed()
    (250, 732.5)
    """

    input: int = 0
    """Tokens that the model read, including those read from or written to the provider's cache."""
    output: int = 0
    """Tokens that the model wrote, including reasoning."""
    cached: int = 0
    """Input tokens that were read from the provider's cache."""
    written: int = 0
    """Input tokens that were written to the provider's cache; 0 where it doesn't say."""
    cache_misses: tuple[str, ...] = field(default=(), repr=False)
    """Why earlier input wasn't read from the cache, such as `tools changed: about 1,200 tokens`;
    only where an adapter asks for it with `cache_diagnostics`."""

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input + self.output

    @property
    def fresh(self) -> int:
        """Input tokens that were neither read from the cache nor written to it."""
        return self.input - self.cached - self.written

    @property
    def cached_share(self) -> float:
        """The share of the input that was read from the cache, from 0 to 1; 0 without input."""
        return self.cached / self.input if self.input else 0.0

    def billed(self, prices: CachePrices = CACHE_PRICES) -> float:
        """The input as billed-equivalent tokens: as many fresh ones would cost the same."""
        return self.fresh * prices.fresh + self.cached * prices.read + self.written * prices.write

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.written + other.written,
            self.cache_misses + other.cache_misses,
        )


NOTHING_USED = TokenUsage()
"""The usage before the first request."""
