"""What an evaluation gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.runtime.usage import NOTHING_USED, TokenUsage

if TYPE_CHECKING:
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.dispatch import ToolOutcome

__all__ = ["Expansion", "PromptResponse"]

OutputT_co = TypeVar("OutputT_co", covariant=True)


@FrozenDataclass()
class Expansion:
    """One request of the model that was granted on the way to an answer."""

    section_keys: tuple[str, ...]
    reason: str
    tokens: int | None = None
    """By how much the prompt grew; None where nobody counted."""


@FrozenDataclass(kw_only=True)
class PromptResponse(Generic[OutputT_co]):
    """A model's answer, and what it took."""

    prompt_ns: str
    prompt_key: str
    text: str
    """The last message of the model."""
    rendered: RenderedPrompt[OutputT_co]
    """What the model saw."""
    output: OutputT_co | None = None
    """The parsed structured output; None where none is declared, or parsing was not wanted."""
    usage: TokenUsage = NOTHING_USED
    """Of all turns of this evaluation together."""
    turns: int = 1
    tool_outcomes: tuple[ToolOutcome, ...] = ()
    """Every tool call of this evaluation, in order."""
    provider: str = ""
    model: str | None = None
    request_id: str | None = None
    """Of the last request."""
    expansions: tuple[Expansion, ...] = ()
    """What `evaluate_with_disclosure` opened before this answer."""
