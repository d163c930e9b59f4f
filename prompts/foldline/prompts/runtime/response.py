"""Results of evaluations."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Generic, TypeVar

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.runtime.conversation import Conversation
from foldline.prompts.runtime.usage import NOTHING_USED, TokenUsage

if TYPE_CHECKING:
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.dispatch import ToolOutcome

OutputT_co = TypeVar("OutputT_co", covariant=True)


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
    """What was wrong with the JSON of the structured output, and put right."""
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
