"""Prices of input tokens as ratios, so that ways to send them can be compared."""

from __future__ import annotations

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import check_at_least

__all__ = ["CACHE_PRICES", "CachePrices"]


@FrozenDataclass()
class CachePrices:
    """The price of an input token, with that of one outside the cache as 1.

    The defaults are those of most models of Anthropic and of OpenAI from GPT-5.6 on. OpenAI's
    models before it charge nothing extra for writing: `CachePrices(write=1)`. Anthropic's cache of
    one hour is `CachePrices(write=2)`.

    Raises:
        PromptConfigurationError: A price is negative, or not a number.
    """

    read: float = 0.1
    """A token that is read from the provider's cache."""
    write: float = 1.25
    """A token that is written to it."""
    fresh: float = 1.0
    """A token that is neither."""

    def __post_init__(self) -> None:
        check_at_least(0, read=self.read, write=self.write, fresh=self.fresh)


CACHE_PRICES = CachePrices()
"""The usual prices: 0.1 for reading, 1.25 for writing."""
