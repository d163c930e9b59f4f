"""Adapter for OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from foldline.prompts import runtime
from foldline.prompts.adapters import openai
from foldline.prompts.adapters.breakpoints import Cuts, keep_prefix, openai_rules
from foldline.prompts.adapters.protocol import ModelTurn
from foldline.prompts.adapters.schemas import openai_responses_tools
from foldline.prompts.adapters.sdk import Request, SdkExchange, plain_message
from foldline.prompts.errors import EvaluationFailure
from foldline.prompts.output.schema import JsonSchema
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.tool_calls import arguments_text, name_sent

if TYPE_CHECKING:
    from openai.types.responses import Response, ResponseStreamEvent


__all__ = ["OpenAIResponsesAdapter"]

ENCRYPTED_REASONING = "reasoning.encrypted_content"
_NOT_REASONING = ("gpt-3", "gpt-4", "chatgpt-4")
"""Models that answer a request for their reasoning with an error."""


class OpenAIResponsesAdapter(openai.OpenAISdkAdapter):
    """Evaluates prompts with OpenAI's Responses API.

    >>> adapter = OpenAIResponsesAdapter(model="gpt-5.6", options={"reasoning": {"effort": "low"}})

    The provider stores nothing (`store=False`): each request has the whole conversation, with the
    model's reasoning as it gave it, encrypted. The prompt's messages are sent with their roles. A
    declared output is requested by a JSON schema, in strict mode if that can express it. With
    `appending=Appending(tools="deferred")`, tools of opened sections come as an item
    `additional_tools`, for models that take it. Without `api_key`, the SDK reads `OPENAI_API_KEY`.
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
    adds_tools = True

    def converse(
        self, rendered: RenderedPrompt[object], conversation: runtime.Conversation
    ) -> SdkExchange:
        """Return a new exchange that continues this conversation."""
        return _Responses(self, rendered, conversation)


class _Responses(SdkExchange):
    _adapter: OpenAIResponsesAdapter
    result_key = "output"

    def __init__(
        self,
        adapter: OpenAIResponsesAdapter,
        rendered: RenderedPrompt[object],
        conversation: runtime.Conversation,
    ) -> None:
        deferred = openai_responses_tools(rendered, deferred=True)
        self._deferred = {str(tool["name"]): tool for tool in deferred}
        self._input: list[dict[str, Any]] = []
        super().__init__(adapter, conversation)
        self.request: dict[str, Any] = {
            **adapter.options,
            "model": adapter.model,
            "input": self._input,
            "store": False,
        }
        if not adapter.model.startswith(_NOT_REASONING):
            asked = [*(self.request.get("include") or ()), ENCRYPTED_REASONING]
            self.request["include"] = list(dict.fromkeys(asked))
        tools = openai_responses_tools(rendered)
        if tools:
            self.request["tools"] = tools
        cuts = Cuts(rendered, openai_rules(adapter.model), tools)
        keep_prefix(self._input, cuts, "input_text")
        output = openai.output_format(rendered)
        if output is not None:
            self.request["text"] = {
                **self.request.get("text", {}),
                "format": {"type": "json_schema", **output},
            }

    def _added(self, turn: runtime.Turn) -> Sequence[dict[str, Any]]:
        items = list(_items(turn, self._deferred))
        self._input += items
        return [item for item in items if item.get("type") == "function_call_output"]

    def _endpoint(self) -> Any:
        return self._adapter.client.responses

    def _send(self, request: Request) -> ModelTurn:
        if not request.streaming:
            response = self._whole(request)
            return self._turn(response.parse(), response.request_id)
        with self._begun(request) as stream:
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
        # Unchanged but for calls: reasoning is encrypted, and must be sent back as it is.
        items = tuple(item.to_dict(exclude_none=True, mode="json") for item in response.output)
        called = (item for item in items if item["type"] == "function_call")
        for item, call in zip(called, turn.tool_calls, strict=True):
            item |= {"name": name_sent(call.name), "call_id": call.id}
        self._input += items
        return replace(turn, native=items)


def _items(turn: runtime.Turn, deferred: Mapping[str, JsonSchema]) -> Iterator[dict[str, object]]:
    """Yield the items of a turn; those of the same turn are always the same.

    The tools that results can bring are `deferred`, by their names.
    """
    match turn:
        case runtime.SystemTurn() | runtime.DeveloperTurn() | runtime.UserTurn():
            yield plain_message(turn, _part)
        case runtime.AssistantTurn():
            yield from _assistant(turn)
        case runtime.ToolTurn():
            for answer in turn.answers:
                yield {
                    "type": "function_call_output",
                    "call_id": answer.call_id,
                    "output": openai.result_text(answer),
                }
            names = [name for answer in turn.answers for name in answer.tools]
            added = [deferred[name] for name in names if name in deferred]
            if added:
                yield {"type": "additional_tools", "role": "developer", "tools": added}


def _assistant(turn: runtime.AssistantTurn) -> Iterator[dict[str, object]]:
    if turn.provider == OpenAIResponsesAdapter.provider and turn.native is not None:
        yield from turn.native
        return
    if turn.text:
        yield {"role": "assistant", "content": turn.text}
    for call in turn.calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": name_sent(call.name),
            "arguments": arguments_text(call.arguments),
        }


def _part(part: str | runtime.Image | runtime.File) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    if isinstance(part, runtime.Image):
        return {"type": "input_image", "image_url": part.data_url, "detail": "auto"}
    if part.data is None:
        return {"type": "input_file", "file_url": part.url}
    return {"type": "input_file", "filename": part.name, "file_data": part.data_url}


def _answer(response: Response) -> openai.Answer:
    usage = openai.usage_of(response.usage, "input", "output")
    answer = openai.Answer(finish=_finish(response), usage=usage, model=response.model)
    for item in response.output:
        if item.type == "message":
            for part in item.content:
                if part.type == "output_text":
                    answer.text += part.text
                else:
                    answer.refusal += part.refusal
        elif item.type == "function_call":
            answer.calls.append(openai.Call(item.call_id, item.name, item.arguments))
    return answer


def _finish(response: Response) -> str | None:
    if response.status == "incomplete":
        details = response.incomplete_details
        filtered = details is not None and details.reason == "content_filter"
        return "content_filter" if filtered else "length"
    return "stop" if response.status == "completed" else None
