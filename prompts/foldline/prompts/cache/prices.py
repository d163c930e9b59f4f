"""Prices of input tokens as ratios, so that ways to send them can be compared."""

from __future__ import annotations

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError

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
        for name in ("read", "write", "fresh"):
            price = getattr(self, name)
            if not 0 <= price < float("inf"):
                raise PromptConfigurationError(f"`{name}` must be a ratio from 0 up, not {price}.")


CACHE_PRICES = CachePrices()
"""The usual prices: 0.1 for reading, 1.25 for writing."""
