"""What the adapters on OpenAI's SDK share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foldline.prompts.adapters.protocol import ModelTurn
from foldline.prompts.adapters.schemas import allowed_name, output_schema
from foldline.prompts.adapters.sdk import SdkAdapter
from foldline.prompts.disclosure.opening import Appending
from foldline.prompts.errors import EvaluationFailure
from foldline.prompts.runtime.dispatch import ToolCall
from foldline.prompts.runtime.usage import NOTHING_USED, TokenUsage

if TYPE_CHECKING:
    import openai  # noqa: F401 - For the string in the base class.

    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.conversation import ToolAnswer


@dataclass(slots=True)
class Call:
    """A tool call being assembled."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Answer:
    """A message being assembled.

    `finish` is why it ended, in the words of chat completions; None if it isn't complete.
    """

    text: str = ""
    refusal: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str | None = None
    usage: TokenUsage = NOTHING_USED
    model: str | None = None


class OpenAISdkAdapter(SdkAdapter["openai.OpenAI"]):
    """An adapter on OpenAI's SDK; subclasses define `converse`."""

    provider = "openai"
    sdk = "openai"
    client_class = "OpenAI"
    limit_option: str
    """The option that bounds the length of an answer."""

    def supported(self) -> Appending:
        """Return the means that the models support: one tool that calls the others.

        Compatible endpoints often allow a system message only at the beginning.
        """
        return Appending(tools="proxy", system=self._base_url is None)

    def turn(self, answer: Answer, request_id: str | None, *, number: int) -> ModelTurn:
        """Return a complete answer as a message, the `number`th of its conversation.

        Raises:
            PromptEvaluationError: It is a refusal, or isn't complete.
        """
        problem = self._problem(answer)
        if problem is not None:
            kind, message = problem
            raise self.failed(
                message, kind, request_id=request_id, text=answer.refusal or answer.text
            )
        return ModelTurn(
            text=answer.text,
            tool_calls=tuple(
                # Some compatible servers send no ids.
                ToolCall(call.id or f"call_{number}_{index}", call.name, call.arguments)
                for index, call in enumerate(answer.calls)
            ),
            usage=answer.usage,
            model=answer.model,
            request_id=request_id,
        )

    def _problem(self, answer: Answer) -> tuple[EvaluationFailure, str] | None:
        if answer.refusal:
            return EvaluationFailure.REFUSAL, f"The model declined: {answer.refusal}"
        if answer.finish == "content_filter":
            return EvaluationFailure.REFUSAL, "The provider's content filter stopped the answer."
        if answer.finish == "length":
            return (
                EvaluationFailure.TRUNCATED,
                f"The answer reached its length limit; raise `{self.limit_option}` in `options`.",
            )
        if answer.finish is None:
            return EvaluationFailure.CONNECTION, "The answer ended before it was complete."
        return None


def output_format(rendered: RenderedPrompt[object]) -> dict[str, object] | None:
    """Return the declared output as a named JSON schema; None for plain text."""
    output = output_schema(rendered)
    if output is None:
        return None
    name = getattr(rendered.output_type, "__name__", "output")
    return {
        "name": allowed_name(name),
        "schema": output.schema,
        "strict": output.strict,
    }


def usage_of(read: int, wrote: int, details: Any) -> TokenUsage:
    """Return the usage of a request; compatible servers leave the details of the input out."""
    cached, written = (
        getattr(details, name, None) or 0 for name in ("cached_tokens", "cache_write_tokens")
    )
    return TokenUsage(read, wrote, cached, written)


def result_text(answer: ToolAnswer) -> str:
    """Return a tool's result as text; the protocols have no flag for failures, so it says so."""
    return answer.text if answer.success else f"Error: {answer.text}"
