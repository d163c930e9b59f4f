"""Adapter for OpenAI's Chat Completions API, and for compatible endpoints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foldline.prompts.adapters.protocol import Conversation, ModelTurn
from foldline.prompts.adapters.schemas import openai_tools, output_schema
from foldline.prompts.adapters.sdk import Request, SdkAdapter, SdkErrors
from foldline.prompts.errors import EvaluationFailure
from foldline.prompts.runtime.dispatch import ToolCall, tool_text
from foldline.prompts.runtime.usage import NOTHING_USED, TokenUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import httpx2
    import openai
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDelta

    from foldline.prompts.deadline import Deadline
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.bounded import Cancellation
    from foldline.prompts.runtime.dispatch import ToolOutcome

__all__ = ["OpenAIAdapter"]

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class OpenAIAdapter(SdkAdapter["openai.OpenAI"]):
    """Evaluates prompts with OpenAI's Chat Completions API.

    >>> adapter = OpenAIAdapter(model="gpt-4o")
    >>> local = OpenAIAdapter(model="qwen3", base_url="http://localhost:8000/v1", api_key="none")

    The prompt's text is the user's message. A declared output is requested by a JSON schema, in
    strict mode if that can express it. Without `api_key`, the SDK reads `OPENAI_API_KEY`.
    """

    provider = "openai"
    sdk = "openai"
    own_options = frozenset({"messages", "model", "tools", "response_format", "stream", "n"})

    def converse(self, rendered: RenderedPrompt[object]) -> Conversation:
        """Return a new conversation that starts with this prompt."""
        return _Chat(self, rendered)

    def make_client(self, http_client: httpx2.Client) -> openai.OpenAI:
        """Return a client of the SDK that uses this HTTP client."""
        from openai import OpenAI

        return OpenAI(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=self._max_retries,
            http_client=http_client,
        )

    def client_settings(self) -> type[httpx2.Client]:
        """Return the SDK's class of HTTP clients, which has its defaults."""
        from openai import DefaultHttpxClient

        return DefaultHttpxClient

    def errors(self) -> SdkErrors:
        """Return the SDK's error classes."""
        import openai

        return SdkErrors(
            timeout=openai.APITimeoutError,
            connection=openai.APIConnectionError,
            status=openai.APIStatusError,
            validation=openai.APIResponseValidationError,
            api=openai.APIError,
            root=openai.OpenAIError,
        )


class _Chat:
    def __init__(self, adapter: OpenAIAdapter, rendered: RenderedPrompt[object]) -> None:
        adapter.check_options(adapter.client.chat.completions.create)
        self._adapter = adapter
        self._messages: list[dict[str, object]] = [{"role": "user", "content": rendered.text}]
        self._results: list[dict[str, object]] = []
        self._request: dict[str, Any] = {
            **adapter.options,
            "model": adapter.model,
            "messages": self._messages,
        }
        tools = openai_tools(rendered)
        if tools:
            self._request["tools"] = tools
        output = output_schema(rendered)
        if output is not None:
            name = getattr(rendered.output_type, "__name__", "output")
            self._request["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": _NOT_IN_A_NAME.sub("_", name)[:64],
                    "schema": output.schema,
                    "strict": output.strict,
                },
            }

    def ask(
        self,
        *,
        deadline: Deadline | None,
        cancellation: Cancellation | None,
        on_text: Callable[[str], object] | None,
    ) -> ModelTurn:
        said = self._adapter.asked(
            self._send, deadline=deadline, cancellation=cancellation, on_text=on_text
        )
        message: dict[str, object] = {"role": "assistant", "content": said.text or None}
        if said.tool_calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in said.tool_calls
            ]
        self._messages.append(message)
        return said

    def tell(self, outcomes: Sequence[ToolOutcome]) -> None:
        for outcome in outcomes:
            text = tool_text(outcome.result)
            result: dict[str, object] = {
                "role": "tool",
                "tool_call_id": outcome.call.id,
                # The protocol has no flag for failures, so the text says it.
                "content": text if outcome.result.success else f"Error: {text}",
            }
            self._results.append(result)
            self._messages.append(result)

    def revise(self, texts: Mapping[int, str]) -> None:
        for number, text in texts.items():
            self._results[number]["content"] = text

    def _send(self, request: Request) -> ModelTurn:
        completions = self._adapter.client.chat.completions
        if not request.streaming:
            completion: ChatCompletion = completions.create(
                **self._request, stream=False, timeout=request.timeout
            )
            return self._turn(_whole(completion), getattr(completion, "_request_id", None))
        options = {"include_usage": True, **self._request.get("stream_options", {})}
        with completions.create(
            **{**self._request, "stream_options": options}, stream=True, timeout=request.timeout
        ) as stream:
            answer = _pieced(stream, request.scope.emit)
            return self._turn(answer, stream.response.headers.get("x-request-id"))

    def _turn(self, answer: _Answer, request_id: str | None) -> ModelTurn:
        problem = _problem(answer)
        if problem is not None:
            kind, message = problem
            raise self._adapter.failed(
                message, kind, request_id=request_id, text=answer.refusal or answer.text
            )
        number = len(self._messages)
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


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Answer:
    """A message being assembled."""

    text: str = ""
    refusal: str = ""
    calls: list[_Call] = field(default_factory=list)
    finish: str | None = None
    usage: TokenUsage = NOTHING_USED
    model: str | None = None


def _problem(answer: _Answer) -> tuple[EvaluationFailure, str] | None:
    if answer.refusal:
        return EvaluationFailure.REFUSAL, f"The model declined: {answer.refusal}"
    if answer.finish == "content_filter":
        return EvaluationFailure.REFUSAL, "The provider's content filter stopped the answer."
    if answer.finish == "length":
        return (
            EvaluationFailure.TRUNCATED,
            "The answer reached its length limit; raise `max_completion_tokens` in `options`.",
        )
    if answer.finish is None:
        return EvaluationFailure.CONNECTION, "The answer ended before it was complete."
    return None


def _whole(completion: ChatCompletion) -> _Answer:
    choice = completion.choices[0]
    message = choice.message
    return _Answer(
        text=message.content or "",
        refusal=message.refusal or "",
        calls=[
            _Call(call.id, call.function.name, call.function.arguments)
            for call in message.tool_calls or ()
            if call.type == "function"
        ],
        finish=choice.finish_reason,
        usage=_usage(completion.usage),
        model=completion.model,
    )


def _pieced(chunks: Iterable[ChatCompletionChunk], emit: Callable[[object], None]) -> _Answer:
    answer = _Answer()
    calls: dict[int, _Call] = {}
    for chunk in chunks:
        answer.model = chunk.model or answer.model
        if chunk.usage is not None:
            answer.usage = _usage(chunk.usage)
        # The last chunk has only the usage.
        for choice in chunk.choices[:1]:
            answer.finish = choice.finish_reason or answer.finish
            _add(answer, calls, choice.delta)
            if choice.delta.content:
                emit(choice.delta.content)
    answer.calls = [calls[index] for index in sorted(calls)]
    return answer


def _add(answer: _Answer, calls: dict[int, _Call], delta: ChoiceDelta) -> None:
    answer.text += delta.content or ""
    answer.refusal += delta.refusal or ""
    for piece in delta.tool_calls or ():
        call = calls.setdefault(piece.index, _Call())
        call.id = call.id or piece.id or ""
        if piece.function is not None:
            call.name += piece.function.name or ""
            call.arguments += piece.function.arguments or ""


def _usage(usage: CompletionUsage | None) -> TokenUsage:
    if usage is None:
        return NOTHING_USED
    details = usage.prompt_tokens_details
    return TokenUsage(
        usage.prompt_tokens,
        usage.completion_tokens,
        (details.cached_tokens or 0) if details is not None else 0,
    )
