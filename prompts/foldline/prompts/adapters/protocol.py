"""Protocols of adapters, for their callers and authors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypedDict, TypeVar, Unpack

from foldline.prompts import runtime
from foldline.prompts.deadline import Deadline
from foldline.prompts.prompt import Prompt
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.response import NOTHING_USED
from foldline.prompts.template import PromptTemplate

OutputT = TypeVar("OutputT")

Evaluable: TypeAlias = Prompt[OutputT] | PromptTemplate[OutputT] | RenderedPrompt[OutputT]
"""Anything that can be evaluated. A rendered prompt is sent as is, its chapters closed."""


class ProviderAdapter(Protocol):
    """Evaluates prompts with a provider's model."""

    def evaluate(
        self,
        prompt: Evaluable[OutputT],
        *params: object,
        **options: Unpack[runtime.EvaluationKeywords],
    ) -> runtime.PromptResponse[OutputT]:
        """Send a prompt, run the model's tool calls, and return its answer.

        See `EvaluationOptions` for the keyword arguments, and `BaseAdapter.evaluate` for errors.
        """
        ...


CAPTURE: ContextVar[Callable[[Mapping[str, object]], None]] = ContextVar("foldline_capture")
"""Publishes a request; in the context, so that exchanges that wrap others needn't pass it on."""


def report_request(body: Mapping[str, object]) -> None:
    """Say in an exchange's `ask` which body is about to be sent; it mustn't change any more."""
    if (capture := CAPTURE.get(None)) is not None:
        capture(body)


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One message of a model: text, tool calls, or both."""

    text: str = ""
    tool_calls: tuple[runtime.ToolCall, ...] = ()
    usage: runtime.TokenUsage = NOTHING_USED
    model: str | None = None
    request_id: str | None = None
    native: tuple[dict[str, object], ...] | None = None
    """The message in the provider's own form, as it is sent back; see `AssistantTurn`."""


class Bounds(TypedDict):
    """The keyword arguments of `ModelExchange.ask`."""

    deadline: Deadline | None
    cancellation: runtime.Cancellation | None
    on_text: Callable[[str], object] | None


class ModelExchange(Protocol):
    """The requests of one evaluation, from what was said so far to the answer."""

    def ask(
        self,
        *,
        deadline: Deadline | None,
        cancellation: runtime.Cancellation | None,
        on_text: Callable[[str], object] | None,
    ) -> ModelTurn:
        """Request the model's next message.

        Raises:
            PromptEvaluationError: The provider couldn't be reached or gave no usable answer.
        """
        ...

    def tell(self, outcomes: Sequence[runtime.ToolOutcome]) -> None:
        """Add the results of the last message's calls, in order, to the next request."""
        ...

    def add(self, turn: runtime.SystemTurn | runtime.DeveloperTurn) -> None:
        """Add a message after the results; called only if the adapter's `appending` allows it."""
        ...

    def revise(self, texts: Mapping[int, str]) -> None:
        """Send these texts in place of results that were given earlier.

        The results of the conversation are numbered from 0 in the order in which they were given.
        """
        ...
