"""Adapter for Anthropic's Messages API."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

from foldline.prompts import runtime
from foldline.prompts.adapters.base import DEFAULT_MAX_TURNS
from foldline.prompts.adapters.breakpoints import Cuts, anthropic_rules
from foldline.prompts.adapters.protocol import ModelTurn
from foldline.prompts.adapters.schemas import anthropic_tools, output_schema
from foldline.prompts.adapters.sdk import (
    DEFAULT_MAX_RETRIES,
    DEFAULT_TIMEOUT,
    Request,
    SdkAdapter,
    SdkExchange,
    plain_message,
)
from foldline.prompts.context import ContextPolicy
from foldline.prompts.disclosure.opening import Appending
from foldline.prompts.errors import EvaluationFailure, PromptConfigurationError
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.response import NOTHING_USED, count_of
from foldline.prompts.tool_calls import distinct_ids, name_sent, object_of

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message


__all__ = ["AnthropicAdapter"]

DEFAULT_MAX_TOKENS = 8_192

_MODEL = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_SYSTEM_SINCE: Mapping[str, tuple[int, int]] = {
    "opus": (4, 8),
    "sonnet": (5, 5),
    "haiku": (5, 5),
    "fable": (5, 0),
    "mythos": (5, 0),
}
"""The first model of each family that takes system messages within a conversation."""
# The first models whose tools can be loaded on demand.
_DEFERS_SINCE = (4, 5)
EPHEMERAL: Mapping[str, object] = {"type": "ephemeral"}
"""A breakpoint."""


class AnthropicAdapter(SdkAdapter["anthropic.Anthropic"]):
    """Evaluates prompts with Anthropic's Messages API.

    >>> adapter = AnthropicAdapter(model="claude-sonnet-5-5", max_tokens=4_096)

    The prompt's messages are sent with their roles; the API has no role `developer`, so those are
    the system's, too. A declared output is requested by a JSON schema; types that it can't express
    (mappings with arbitrary keys, arrays of different items) are errors. Without `api_key`, the SDK
    looks for credentials in its usual places.

    The arguments that aren't listed are those of `SdkAdapter`.

    Args:
        max_tokens: The most tokens of one message.

    Raises:
        PromptConfigurationError: See `SdkAdapter`.
    """

    provider = "anthropic"
    sdk = "anthropic"
    client_class = "Anthropic"
    adds_tools = True
    own_options = frozenset({"messages", "model", "tools", "max_tokens", "stream"})

    def __init__(
        self,
        model: str,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        client: anthropic.Anthropic | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        options: Mapping[str, object] | None = None,
        context_policy: ContextPolicy | None = None,
        appending: Appending | Literal["auto"] | None = "auto",
        max_concurrency: int | None = None,
    ) -> None:
        super().__init__(
            model,
            client=client,
            api_key=api_key,
            base_url=base_url,
            max_turns=max_turns,
            timeout=timeout,
            max_retries=max_retries,
            options=options,
            context_policy=context_policy,
            appending=appending,
            max_concurrency=max_concurrency,
        )
        self.max_tokens = max_tokens

    def converse(
        self, rendered: RenderedPrompt[object], conversation: runtime.Conversation
    ) -> SdkExchange:
        """Return a new exchange that continues this conversation.

        Raises:
            PromptConfigurationError: The API can't express the declared output, or there is no
                message of the user, or the model takes no system message where there is one.
        """
        return _Exchange(self, rendered, conversation)

    def supported(self) -> Appending:
        """Return the means that the model supports; for an unknown name those of all models."""
        return Appending(
            tools="deferred" if defers_tools(self.model) else "proxy",
            system=takes_system_messages(self.model),
        )


class _Exchange(SdkExchange):
    _adapter: AnthropicAdapter

    def __init__(
        self,
        adapter: AnthropicAdapter,
        rendered: RenderedPrompt[object],
        conversation: runtime.Conversation,
    ) -> None:
        self._deferred = frozenset(tool.name for tool in rendered.deferred_tools)
        self._takes_system = takes_system_messages(adapter.model)
        self._system: list[dict[str, object]] = []
        self._messages: list[dict[str, object]] = []
        super().__init__(adapter, conversation)
        if not self._messages:
            raise PromptConfigurationError(
                "The prompt has no message of the user, which Anthropic's API needs: give it a "
                "section with the role `user`, or a conversation with `.user(…)`."
            )
        self.request: dict[str, Any] = {
            **adapter.options,
            "model": adapter.model,
            "max_tokens": adapter.max_tokens,
            "messages": self._messages,
        }
        if self._system:
            self.request["system"] = self._system
        tools = anthropic_tools(rendered)
        shown = [tool for tool in tools if not tool.get("defer_loading")]
        if tools:
            self.request["tools"] = tools
        if self.request.get("cache_control", EPHEMERAL) is not None:
            cuts = Cuts(rendered, anthropic_rules(adapter.model), shown)
            self._set_breakpoints(cuts)
            if cuts.after_tools:
                shown[-1]["cache_control"] = EPHEMERAL
        if tools or conversation.turns[conversation.begun :]:
            # Others are likely to follow: a breakpoint at the end of the request moves along. Those
            # of the prompt's own plan stay where they are.
            self.request.setdefault("cache_control", EPHEMERAL)
            if self.request["cache_control"] is None:
                del self.request["cache_control"]
        schema = _schema(rendered)
        if schema is not None:
            self.request["output_config"] = {
                **self.request.get("output_config", {}),
                "format": {"type": "json_schema", "schema": schema},
            }

    def _added(self, turn: runtime.Turn) -> Sequence[dict[str, Any]]:
        match turn:
            case runtime.SystemTurn() | runtime.DeveloperTurn():
                self._add_system(turn.text)
            case runtime.UserTurn():
                self._add_user(turn)
            case runtime.AssistantTurn():
                content = _assistant(turn)
                if content:
                    self._messages.append({"role": "assistant", "content": content})
            case runtime.ToolTurn():
                return self._add_results(turn)
        return ()

    def _add_system(self, text: str) -> None:
        if not self._messages:
            self._system.append({"type": "text", "text": text})
            return
        if not self._takes_system:
            raise PromptConfigurationError(
                "The model takes instructions only at the beginning of a conversation; say it in "
                "the user's turn, or choose a model that takes system messages in between."
            )
        if self._messages[-1]["role"] == "assistant":
            raise PromptConfigurationError(
                "An instruction within a conversation comes after the user's turn, not after the "
                "model's."
            )
        self._messages.append({"role": "system", "content": text})

    def _add_user(self, turn: runtime.UserTurn) -> None:
        if self._messages and self._messages[-1]["role"] == "system":
            raise PromptConfigurationError(
                "Only the model's turn can follow an instruction within a conversation: say it "
                "after the user's turn."
            )
        self._messages.append(plain_message(turn, _part))

    def _add_results(self, turn: runtime.ToolTurn) -> Sequence[dict[str, Any]]:
        results: list[dict[str, object]] = []
        texts: list[dict[str, object]] = []
        for answer in turn.answers:
            references = [name for name in answer.tools if name in self._deferred]
            results.append(_result(answer, references))
            if references:
                # The API takes no other content beside references, so the text follows the results.
                texts.append({"type": "text", "text": answer.text})
        self._messages.append({"role": "user", "content": [*results, *texts]})
        return results

    def _set_breakpoints(self, cuts: Cuts) -> None:
        """Set the breakpoints of the prompt that the conversation begins with."""
        mark = {"cache_control": EPHEMERAL}
        self._system[:] = [
            part
            for block in self._system
            for part in cuts.parts(block["text"], "text", mark) or (block,)
        ]
        for message in self._messages:
            parts = cuts.parts(message["content"], "text", mark)
            if message["role"] == "user" and parts:
                message["content"] = parts
                return

    def _endpoint(self) -> Any:
        return self._adapter.client.messages

    def _send(self, request: Request) -> ModelTurn:
        """Ask for a message; one that the provider's own tools interrupt is continued."""
        parts: list[Message] = []
        # Each part replaces the model's message of the last one: it is sent back whole.
        begun = len(self._messages)
        while True:
            part, request_id = self._receive(request)
            parts.append(part)
            turn = self._turn(parts, request_id)
            del self._messages[begun:]
            self._added(runtime.AssistantTurn(turn.text, provider="anthropic", native=turn.native))
            if part.stop_reason != "pause_turn":
                return turn
            if len(parts) == self._adapter.max_turns:
                raise self._adapter.failed(
                    f"The model's message wasn't complete after {len(parts)} requests.",
                    EvaluationFailure.TURN_LIMIT,
                    request_id=request_id,
                    text=turn.text,
                )

    def _receive(self, request: Request) -> tuple[Message, str | None]:
        """Return the answer to one request, and the request's id."""
        if not request.streaming:
            response = self._whole(request)
            return response.parse(), response.request_id
        messages = self._endpoint()
        with ExitStack() as stack:
            with self._adapter.sending():
                sent = self._sent(request, stream=True)
                del sent["stream"]
                stream = stack.enter_context(messages.stream(**sent, timeout=request.timeout))
            for piece in stream.text_stream:
                request.scope.emit(piece)
            return stream.get_final_message(), stream.request_id

    def _turn(self, parts: Sequence[Message], request_id: str | None) -> ModelTurn:
        """Return a message that came in these parts."""
        message = parts[-1]
        content = [block for part in parts for block in part.content]
        text = "".join(block.text for block in content if block.type == "text")
        problem = _problem(message)
        if problem is not None:
            kind, explanation = problem
            raise self._adapter.failed(explanation, kind, request_id=request_id, text=text)
        calls = [block for block in content if block.type == "tool_use"]
        ids = distinct_ids([block.id for block in calls], len(self._messages))
        for block, id_ in zip(calls, ids, strict=True):
            block.id = id_
        return ModelTurn(
            text=text,
            tool_calls=tuple(
                # Input that isn't an object is passed on as text, which decoding refuses.
                runtime.ToolCall(
                    block.id,
                    str(block.name),
                    block.input if isinstance(block.input, dict) else json.dumps(block.input),
                )
                for block in calls
            ),
            native=tuple(_native(block.to_dict(mode="json", warnings=False) for block in content)),
            usage=sum(map(_usage, parts), NOTHING_USED),
            model=message.model,
            request_id=request_id,
        )


def _problem(message: Message) -> tuple[EvaluationFailure, str] | None:
    match message.stop_reason:
        case "refusal":
            return EvaluationFailure.REFUSAL, "The model declined to answer."
        case "max_tokens":
            return (
                EvaluationFailure.TRUNCATED,
                "The answer reached its length limit; raise the adapter's `max_tokens`.",
            )
        case "model_context_window_exceeded":
            return (
                EvaluationFailure.TRUNCATED,
                "The conversation has outgrown the model's context window.",
            )
        case None:
            return EvaluationFailure.CONNECTION, "The answer ended before it was complete."
    return None


def _schema(rendered: RenderedPrompt[object]) -> dict[str, Any] | None:
    from anthropic import transform_schema

    output = output_schema(rendered)
    if output is None:
        return None
    if not output.strict:
        raise PromptConfigurationError(
            "Anthropic's structured outputs cannot express the declared output: "
            f"{'; '.join(output.obstacles)}.",
            dataclass_type=rendered.output_type,
        )
    return transform_schema(dict(output.schema))


def _usage(message: Message) -> runtime.TokenUsage:
    usage = message.usage
    cached = count_of(usage.cache_read_input_tokens)
    written = count_of(usage.cache_creation_input_tokens)
    # The provider counts the three kinds of input separately.
    return runtime.TokenUsage(
        count_of(usage.input_tokens) + cached + written,
        count_of(usage.output_tokens),
        cached,
        written,
    )


def defers_tools(model: str) -> bool:
    """Return True if a model has tools with `defer_loading` and references to them."""
    family, version = _generation(model)
    return bool(family) and version >= _DEFERS_SINCE


def takes_system_messages(model: str) -> bool:
    """Return True if a model takes system messages within a conversation."""
    family, version = _generation(model)
    return family in _SYSTEM_SINCE and version >= _SYSTEM_SINCE[family]


def _generation(model: str) -> tuple[str, tuple[int, int]]:
    version = _MODEL.search(model)
    if version is None:
        return "", (0, 0)
    return version[1], (int(version[2]), int(version[3] or 0))


def _result(answer: runtime.ToolAnswer, references: Sequence[str]) -> dict[str, object]:
    content: object = answer.text
    if references:
        content = [{"type": "tool_reference", "tool_name": name} for name in references]
    return {
        "type": "tool_result",
        "tool_use_id": answer.call_id,
        "content": content,
        "is_error": not answer.success,
    }


def _assistant(turn: runtime.AssistantTurn) -> Sequence[Mapping[str, object]]:
    if turn.provider == "anthropic" and turn.native is not None:
        return list(turn.native)
    content: list[Mapping[str, object]] = []
    if turn.text.strip():
        content.append({"type": "text", "text": turn.text})
    content += [
        {
            "type": "tool_use",
            "id": call.id,
            "name": name_sent(call.name),
            "input": object_of(call.arguments),
        }
        for call in turn.calls
    ]
    return content


def _native(blocks: Iterable[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Yield blocks as they're sent back: thinking is signed, so only what the API refuses changes.

    It refuses texts of blanks alone, names of other characters, and inputs that aren't objects.
    """
    for block in blocks:
        if block["type"] == "tool_use":
            accepted = {"name": name_sent(str(block["name"])), "input": object_of(block["input"])}
            yield block | accepted
        elif block["type"] != "text" or str(block["text"]).strip():
            yield block


def _part(part: str | runtime.Image | runtime.File) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source: dict[str, object] = (
        {"type": "url", "url": part.url}
        if part.data is None
        else {"type": "base64", "media_type": part.media_type, "data": part.data}
    )
    if isinstance(part, runtime.Image):
        return {"type": "image", "source": source}
    if part.data is not None and part.media_type.startswith("text/"):
        text = base64.b64decode(part.data).decode("utf-8", "replace")
        source = {"type": "text", "media_type": "text/plain", "data": text}
    elif part.data is not None and part.media_type != "application/pdf":
        raise PromptConfigurationError(
            f"Anthropic's API takes PDF and text files, not {part.media_type!r} ({part.name!r})."
        )
    document: dict[str, object] = {"type": "document", "source": source}
    return document | ({"title": part.name} if part.name else {})
