"""Adapter for OpenAI's Responses API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.prompts.adapters.openai_sdk import (
    Answer,
    Call,
    OpenAISdkAdapter,
    output_format,
    result_text,
)
from foldline.prompts.adapters.schemas import openai_responses_tools
from foldline.prompts.errors import EvaluationFailure
from foldline.prompts.runtime.usage import NOTHING_USED, TokenUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from openai.types.responses import Response, ResponseStreamEvent, ResponseUsage

    from foldline.prompts.adapters.protocol import Conversation, ModelTurn
    from foldline.prompts.adapters.sdk import Request
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.bounded import Cancellation
    from foldline.prompts.runtime.dispatch import ToolOutcome

__all__ = ["OpenAIResponsesAdapter"]

ENCRYPTED_REASONING = "reasoning.encrypted_content"
_NOT_REASONING = ("gpt-3", "gpt-4", "chatgpt-4")
"""Models that answer a request for their reasoning with an error."""


class OpenAIResponsesAdapter(OpenAISdkAdapter):
    """Evaluates prompts with OpenAI's Responses API.

    >>> adapter = OpenAIResponsesAdapter(model="gpt-5.6", options={"reasoning": {"effort": "low"}})

    The provider stores nothing (`store=False`): each request has the whole conversation, with the
    model's reasoning as it gave it, encrypted. The prompt's text is the user's message. A declared
    output is requested by a JSON schema, in strict mode if that can express it. Without `api_key`,
    the SDK reads `OPENAI_API_KEY`.
    """

    own_options = frozenset(
        {
            "background",
            "conversation",
            "input",
            "model",
            "previous_response_id",
            "store",
            "stream",
            "tools",
        }
    )
    limit_option = "max_output_tokens"

    def converse(self, rendered: RenderedPrompt[object]) -> Conversation:
        """Return a new conversation that starts with this prompt."""
        return _Responses(self, rendered)


class _Responses:
    def __init__(self, adapter: OpenAIResponsesAdapter, rendered: RenderedPrompt[object]) -> None:
        adapter.check_options(adapter.client.responses.create)
        self._adapter = adapter
        self._input: list[dict[str, object]] = [{"role": "user", "content": rendered.text}]
        self._results: list[dict[str, object]] = []
        self._request: dict[str, Any] = {
            **adapter.options,
            "model": adapter.model,
            "input": self._input,
            "store": False,
        }
        if not adapter.model.startswith(_NOT_REASONING):
            asked = [*(self._request.get("include") or ()), ENCRYPTED_REASONING]
            self._request["include"] = list(dict.fromkeys(asked))
        tools = openai_responses_tools(rendered)
        if tools:
            self._request["tools"] = tools
        output = output_format(rendered)
        if output is not None:
            self._request["text"] = {
                **self._request.get("text", {}),
                "format": {"type": "json_schema", **output},
            }

    def ask(
        self,
        *,
        deadline: Deadline | None,
        cancellation: Cancellation | None,
        on_text: Callable[[str], object] | None,
    ) -> ModelTurn:
        return self._adapter.asked(
            self._send, deadline=deadline, cancellation=cancellation, on_text=on_text
        )

    def tell(self, outcomes: Sequence[ToolOutcome]) -> None:
        for outcome in outcomes:
            result: dict[str, object] = {
                "type": "function_call_output",
                "call_id": outcome.call.id,
                "output": result_text(outcome),
            }
            self._results.append(result)
            self._input.append(result)

    def revise(self, texts: Mapping[int, str]) -> None:
        for number, text in texts.items():
            self._results[number]["output"] = text

    def _send(self, request: Request) -> ModelTurn:
        responses = self._adapter.client.responses
        if not request.streaming:
            response: Response = responses.create(
                **self._request, stream=False, timeout=request.timeout
            )
            return self._turn(response, getattr(response, "_request_id", None))
        with responses.create(**self._request, stream=True, timeout=request.timeout) as stream:
            request_id = stream.response.headers.get("x-request-id")
            return self._turn(self._last(stream, request.scope.emit, request_id), request_id)

    def _last(
        self,
        events: Iterable[ResponseStreamEvent],
        emit: Callable[[object], None],
        request_id: str | None,
    ) -> Response:
        """Return the whole response, which the last event of a stream has."""
        text = ""
        for event in events:
            match event.type:
                case "response.output_text.delta":
                    text += event.delta
                    emit(event.delta)
                case "response.completed" | "response.incomplete" | "response.failed":
                    return event.response
                case "error":
                    raise self._adapter.failed(
                        f"{self._adapter.provider} stopped with an error: {event.message}",
                        EvaluationFailure.PROVIDER,
                        request_id=request_id,
                        text=text,
                    )
        raise self._adapter.failed(
            "The answer ended before it was complete.",
            EvaluationFailure.CONNECTION,
            request_id=request_id,
            text=text,
        )

    def _turn(self, response: Response, request_id: str | None) -> ModelTurn:
        answer = _answer(response)
        if response.status == "failed":
            reason = "no reason given" if response.error is None else response.error.message
            raise self._adapter.failed(
                f"{self._adapter.provider} stopped with an error: {reason}",
                EvaluationFailure.PROVIDER,
                request_id=request_id,
                text=answer.text,
            )
        turn = self._adapter.turn(answer, request_id, number=len(self._input))
        # Unchanged: reasoning is encrypted, and must be sent back as it is.
        self._input += [item.to_dict(exclude_none=True) for item in response.output]
        return turn


def _answer(response: Response) -> Answer:
    answer = Answer(finish=_finish(response), usage=_usage(response.usage), model=response.model)
    for item in response.output:
        if item.type == "message":
            for part in item.content:
                if part.type == "output_text":
                    answer.text += part.text
                else:
                    answer.refusal += part.refusal
        elif item.type == "function_call":
            answer.calls.append(Call(item.call_id, item.name, item.arguments))
    return answer


def _finish(response: Response) -> str | None:
    if response.status == "incomplete":
        details = response.incomplete_details
        filtered = details is not None and details.reason == "content_filter"
        return "content_filter" if filtered else "length"
    return "stop" if response.status == "completed" else None


def _usage(usage: ResponseUsage | None) -> TokenUsage:
    if usage is None:
        return NOTHING_USED
    details = usage.input_tokens_details
    # Compatible servers leave the details out.
    cached = 0 if details is None else details.cached_tokens or 0
    written = 0 if details is None else details.cache_write_tokens or 0
    return TokenUsage(usage.input_tokens, usage.output_tokens, cached, written)
