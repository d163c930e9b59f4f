"""Adapter for OpenAI's Chat Completions API, and the base of both adapters for OpenAI."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foldline.prompts import runtime
from foldline.prompts.adapters.breakpoints import Cuts, keep_prefix, openai_rules
from foldline.prompts.adapters.protocol import ModelTurn
from foldline.prompts.adapters.schemas import allowed_name, openai_tools, output_schema
from foldline.prompts.adapters.sdk import Request, SdkAdapter, SdkExchange, plain_message
from foldline.prompts.disclosure.opening import Appending
from foldline.prompts.errors import EvaluationFailure, PromptConfigurationError
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.response import NOTHING_USED, count_of
from foldline.prompts.tool_calls import arguments_text, distinct_ids, name_sent

if TYPE_CHECKING:
    import openai  # noqa: F401 - For the string in the base class.
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDelta


__all__ = ["OpenAIAdapter"]


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
    usage: runtime.TokenUsage = NOTHING_USED
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
        ids = distinct_ids([call.id for call in answer.calls], number)
        return ModelTurn(
            text=answer.text,
            tool_calls=tuple(
                runtime.ToolCall(id_, str(call.name), call.arguments)
                for id_, call in zip(ids, answer.calls, strict=True)
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


def usage_of(usage: object, read: str, wrote: str) -> runtime.TokenUsage:
    """Return the usage of a request; compatible servers leave it out, or the details of the input.

    The API calls its input `read` and its output `wrote`.
    """
    details = getattr(usage, f"{read}_tokens_details", None)
    counts = ((usage, f"{read}_tokens"), (usage, f"{wrote}_tokens"))
    of_cache = ((details, "cached_tokens"), (details, "cache_write_tokens"))
    return runtime.TokenUsage(
        *(count_of(getattr(at, name, 0)) for at, name in (*counts, *of_cache))
    )


def result_text(answer: runtime.ToolAnswer) -> str:
    """Return a tool's result as text; the protocols have no flag for failures, so it says so."""
    return answer.text if answer.success else f"Error: {answer.text}"


class OpenAIAdapter(OpenAISdkAdapter):
    """Evaluates prompts with OpenAI's Chat Completions API.

    >>> adapter = OpenAIAdapter(model="gpt-4o")
    >>> local = OpenAIAdapter(model="qwen3", base_url="http://localhost:8000/v1", api_key="none")

    The prompt's messages are sent with their roles. A declared output is requested by a JSON
    schema, in strict mode if that can express it. Without `api_key`, the SDK reads
    `OPENAI_API_KEY`.
    """

    own_options = frozenset({"messages", "model", "tools", "response_format", "stream", "n"})
    limit_option = "max_completion_tokens"

    def converse(
        self, rendered: RenderedPrompt[object], conversation: runtime.Conversation
    ) -> SdkExchange:
        """Return a new exchange that continues this conversation.

        Raises:
            PromptConfigurationError: It has a file that is only a URL.
        """
        return _Chat(self, rendered, conversation)


class _Chat(SdkExchange):
    _adapter: OpenAIAdapter

    def __init__(
        self,
        adapter: OpenAIAdapter,
        rendered: RenderedPrompt[object],
        conversation: runtime.Conversation,
    ) -> None:
        self._messages: list[dict[str, Any]] = []
        super().__init__(adapter, conversation)
        self.request: dict[str, Any] = {
            **adapter.options,
            "model": adapter.model,
            "messages": self._messages,
        }
        tools = openai_tools(rendered)
        if tools:
            self.request["tools"] = tools
        keep_prefix(self._messages, Cuts(rendered, openai_rules(adapter.model), tools), "text")
        output = output_format(rendered)
        if output is not None:
            self.request["response_format"] = {"type": "json_schema", "json_schema": output}

    def _added(self, turn: runtime.Turn) -> Sequence[dict[str, Any]]:
        messages = list(_messages(turn))
        self._messages += messages
        return messages if isinstance(turn, runtime.ToolTurn) else ()

    def _endpoint(self) -> Any:
        return self._adapter.client.chat.completions

    def _send(self, request: Request) -> ModelTurn:
        if not request.streaming:
            response = self._whole(request)
            return self._turn(_whole(response.parse()), response.request_id)
        options = {"include_usage": True, **self.request.get("stream_options", {})}
        with self._begun(request, stream_options=options) as stream:
            answer = _pieced(stream, request.scope.emit)
            return self._turn(answer, stream.response.headers.get("x-request-id"))

    def _turn(self, answer: Answer, request_id: str | None) -> ModelTurn:
        turn = self._adapter.turn(answer, request_id, number=len(self._messages))
        self._messages += _assistant(turn.text, turn.tool_calls)
        return turn


def _messages(turn: runtime.Turn) -> Iterator[dict[str, object]]:
    """Yield the messages of a turn; those of the same turn are always the same."""
    match turn:
        case runtime.SystemTurn() | runtime.DeveloperTurn() | runtime.UserTurn():
            yield plain_message(turn, _part)
        case runtime.AssistantTurn():
            yield from _assistant(turn.text, turn.calls)
        case runtime.ToolTurn():
            for answer in turn.answers:
                yield {
                    "role": "tool",
                    "tool_call_id": answer.call_id,
                    "content": result_text(answer),
                }


def _assistant(
    text: str, calls: Sequence[runtime.ToolCall] | Sequence[runtime.CallMade]
) -> Iterator[dict[str, object]]:
    if not text and not calls:
        return
    message: dict[str, object] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": name_sent(call.name),
                    "arguments": arguments_text(call.arguments),
                },
            }
            for call in calls
        ]
    yield message


def _part(part: str | runtime.Image | runtime.File) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, runtime.Image):
        return {"type": "image_url", "image_url": {"url": part.data_url}}
    if part.data is None:
        raise PromptConfigurationError(
            f"Chat completions take the content of a file, not its URL {part.url!r}; give `data`."
        )
    return {"type": "file", "file": {"filename": part.name, "file_data": part.data_url}}


def _whole(completion: ChatCompletion) -> Answer:
    choice = completion.choices[0]
    message = choice.message
    return Answer(
        text=message.content or "",
        refusal=message.refusal or "",
        calls=[
            Call(call.id, call.function.name, call.function.arguments)
            for call in message.tool_calls or ()
            if call.type == "function"
        ],
        finish=choice.finish_reason,
        usage=usage_of(completion.usage, "prompt", "completion"),
        model=completion.model,
    )


def _pieced(chunks: Iterable[ChatCompletionChunk], emit: Callable[[object], None]) -> Answer:
    answer = Answer()
    # In the order of arrival: servers that give all calls one index send them one after the other.
    calls: list[tuple[int, Call]] = []
    for chunk in chunks:
        answer.model = chunk.model or answer.model
        if chunk.usage is not None:
            answer.usage = usage_of(chunk.usage, "prompt", "completion")
        # The last chunk has only the usage.
        for choice in chunk.choices[:1]:
            answer.finish = choice.finish_reason or answer.finish
            _add(answer, calls, choice.delta)
            if choice.delta.content:
                emit(choice.delta.content)
    answer.calls = [call for _, call in sorted(calls, key=lambda numbered: numbered[0])]
    return answer


def _add(answer: Answer, calls: list[tuple[int, Call]], delta: ChoiceDelta) -> None:
    answer.text += delta.content or ""
    answer.refusal += delta.refusal or ""
    for piece in delta.tool_calls or ():
        begun = [call for index, call in calls if index == piece.index]
        call = begun[-1] if begun else Call()
        # Compatible servers may give all calls one index, each with an id of its own.
        if not begun or (piece.id and call.id and piece.id != call.id):
            call = Call()
            calls.append((piece.index, call))
        call.id = call.id or piece.id or ""
        if piece.function is not None:
            call.name += piece.function.name or ""
            call.arguments += piece.function.arguments or ""
