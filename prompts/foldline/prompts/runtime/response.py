"""Results of evaluations, and the tokens that they used."""

from __future__ import annotations

from dataclasses import field
from typing import Generic, TypeVar

from foldline.prompts.cache.prices import CACHE_PRICES, CachePrices
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.conversation import Conversation
from foldline.prompts.runtime.dispatch import ToolOutcome

__all__ = ["NOTHING_USED", "Expansion", "PromptResponse", "TokenUsage"]

OutputT_co = TypeVar("OutputT_co", covariant=True)


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
        )


def count_of(told: object) -> int:
    """Return a count that a provider told; 0 for what is none."""
    return told if type(told) is int and told > 0 else 0


NOTHING_USED = TokenUsage()
"""The usage before the first request."""


@FrozenDataclass()
class Expansion:
    """A granted request of the model to open sections."""

    section_keys: tuple[str, ...]
    reason: str
    tokens: int | None = None
    """Tokens by which the prompt grew; None if not counted."""
    appended: bool = False
    """True if the text was appended to the conversation; False if the prompt was rendered anew."""
    why: str = ""
    """The reason why the prompt was rendered anew."""


@FrozenDataclass(kw_only=True)
class PromptResponse(Generic[OutputT_co]):
    """A model's answer, with its tool calls and token usage."""

    prompt_ns: str
    prompt_key: str
    text: str
    """The text of the model's last message."""
    rendered: RenderedPrompt[OutputT_co]
    """The prompt that the model got; sections that were opened by appending are shown in it."""
    output: OutputT_co | None = None
    """The parsed structured output; None if none is declared or parsing is off."""
    repairs: tuple[str, ...] = ()
    """The defects in the JSON of the structured output that were repaired."""
    usage: TokenUsage = NOTHING_USED
    """The total of all turns of this evaluation."""
    turns: int = 1
    tool_outcomes: tuple[ToolOutcome, ...] = ()
    """Every tool call of this evaluation, in order."""
    provider: str = ""
    model: str | None = None
    request_id: str | None = None
    """The id of the last request."""
    expansions: tuple[Expansion, ...] = ()
    """The expansions that `evaluate_with_disclosure` granted before this answer."""
    conversation: Conversation = field(default_factory=Conversation, repr=False)
    """All that was said, to be continued: `conversation=response.conversation.user("…")`."""
