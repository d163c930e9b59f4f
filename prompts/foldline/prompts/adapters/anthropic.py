"""Adapter for Anthropic's Messages API."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

from foldline.prompts.adapters.anthropic_messages import (
    EPHEMERAL,
    Messages,
    defers_tools,
    searches_tools,
    takes_system_messages,
)
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
    cache_miss,
    last_message_id,
)
from foldline.prompts.disclosure.opening import Appending
from foldline.prompts.errors import EvaluationFailure, PromptConfigurationError
from foldline.prompts.layout.layout import OPEN_SECTIONS
from foldline.prompts.runtime.conversation import AssistantTurn
from foldline.prompts.runtime.dispatch import ToolCall
from foldline.prompts.runtime.usage import NOTHING_USED, TokenUsage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import anthropic
    from anthropic.types import Message

    from foldline.prompts.adapters.tool_search import ToolSearch
    from foldline.prompts.context import ContextEditing, ContextPolicy
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.conversation import Conversation, Turn

__all__ = ["AnthropicAdapter"]

DEFAULT_MAX_TOKENS = 8_192
CONTEXT_EDITING = "context-management-2025-06-27"
"""The beta that has the provider clear old tool results."""
CLEARING = "clear_tool_uses_20250919"


class AnthropicAdapter(SdkAdapter["anthropic.Anthropic"]):
    """Evaluates prompts with Anthropic's Messages API.

    >>> adapter = AnthropicAdapter(model="claude-sonnet-5-5", max_tokens=4_096)

    The prompt's messages are sent with their roles; the API has no role `developer`, so those are
    the system's, too. A declared output is requested by a JSON schema; types
    that it can't express (mappings with arbitrary keys, arrays of different items) are errors.
    Without `api_key`, the SDK looks for credentials in its usual places.

    Args:
        model: The model's name.
        max_tokens: The most tokens of one message.
        client: A client of the SDK to use as it is. See `SdkAdapter` for this and the following.
        api_key: The key.
        base_url: Another endpoint that speaks the same protocol.
        max_turns: The most messages of the model per answer.
        timeout: Seconds without a byte after which a request fails.
        max_retries: How often the SDK repeats a request after a transient failure.
        options: Further arguments for the SDK's request function, such as
            `{"output_config": {"effort": "low"}}`.
        context_policy: How much a conversation keeps of its tool results.
        context_editing: Have the provider clear old tool results itself, in place of any policy.
        appending: The means to open sections without a change of what was sent; by default what
            the model supports, None to render prompts anew.
        tool_search: Which tools the model gets by the provider's tool search. The tools of folded
            sections then are called by `call_tool`, since a search would find deferred ones.
        cache_diagnostics: Ask why earlier input wasn't read from the cache.

    Raises:
        PromptConfigurationError: See `SdkAdapter`; or a policy and `context_editing` are given, or
            `tool_search` and deferred tools of folded sections.
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
        context_editing: ContextEditing | None = None,
        appending: Appending | Literal["auto"] | None = "auto",
        tool_search: ToolSearch | None = None,
        cache_diagnostics: bool = False,
    ) -> None:
        if (
            tool_search is not None
            and isinstance(appending, Appending)
            and appending.tools == "deferred"
        ):
            raise PromptConfigurationError(
                "A tool search would find the deferred tools of folded sections before they open; "
                'use Appending(tools="proxy") with it.'
            )
        if context_editing is not None and context_policy is not None:
            raise PromptConfigurationError(
                "`context_editing` takes the place of a context policy; give one of them."
            )
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
            tool_search=tool_search,
            cache_diagnostics=cache_diagnostics,
        )
        self.max_tokens = max_tokens
        self.context_editing = context_editing

    def converse(self, rendered: RenderedPrompt[object], conversation: Conversation) -> SdkExchange:
        """Return a new exchange that continues this conversation.

        Raises:
            PromptConfigurationError: The API can't express the declared output, or there is no
                message of the user, or the model takes no system message where there is one.
        """
        return _Exchange(self, rendered, conversation)

    def supported(self) -> Appending:
        """Return the means that the model supports; for an unknown name those of all models."""
        defers = defers_tools(self.model) and self.tool_search is None
        return Appending(
            tools="deferred" if defers else "proxy",
            system=takes_system_messages(self.model),
        )

    def searches_tools(self) -> bool:
        """Return True but for models before Claude 4.5."""
        return searches_tools(self.model)

    def diagnoses_cache(self) -> bool:
        """Return True: all models do."""
        return True

    def policy_for(
        self, rendered: RenderedPrompt[object], given: ContextPolicy | None
    ) -> ContextPolicy | None:
        """Return the context policy of an evaluation; None where the provider edits the context.

        Raises:
            PromptConfigurationError: A policy was given, but the provider edits the context.
        """
        if self.context_editing is None:
            return super().policy_for(rendered, given)
        if given is not None:
            raise PromptConfigurationError(
                "The adapter's `context_editing` takes the place of a context policy; evaluate "
                "with an adapter without it."
            )
        return None


class _Exchange(SdkExchange):
    _adapter: AnthropicAdapter

    def __init__(
        self,
        adapter: AnthropicAdapter,
        rendered: RenderedPrompt[object],
        conversation: Conversation,
    ) -> None:
        deferred = frozenset(tool.name for tool in rendered.deferred_tools)
        self._messages = Messages(deferred, system=takes_system_messages(adapter.model))
        super().__init__(adapter, conversation)
        self.request: dict[str, Any] = {
            **adapter.options,
            "model": adapter.model,
            "max_tokens": adapter.max_tokens,
            "messages": self._messages.checked(),
        }
        if self._messages.system:
            self.request["system"] = self._messages.system
        self._compare_with(last_message_id(conversation, adapter.provider))
        tools = anthropic_tools(rendered, search=adapter.tool_search)
        shown = [tool for tool in tools if not tool.get("defer_loading")]
        if tools:
            self.request["tools"] = tools
        if adapter.context_editing is not None:
            self.request |= _editing(adapter.context_editing, rendered)
        if self.request.get("cache_control", EPHEMERAL) is not None:
            cuts = Cuts(rendered, anthropic_rules(adapter.model), shown)
            self._messages.keep(cuts)
            if cuts.after_tools:
                shown[-1]["cache_control"] = EPHEMERAL
        if tools or conversation.turns[conversation.begun :]:
            _cache(self.request)
        schema = _schema(rendered)
        if schema is not None:
            self.request["output_config"] = {
                **self.request.get("output_config", {}),
                "format": {"type": "json_schema", "schema": schema},
            }

    def _added(self, turn: Turn) -> Sequence[dict[str, Any]]:
        return self._messages.add(turn)

    def _endpoint(self) -> Any:
        return self._adapter.client.messages

    def _send(self, request: Request) -> ModelTurn:
        """Ask for a message; one that the provider's own tools interrupt is continued."""
        parts: list[Message] = []
        begun = len(self._messages)
        while True:
            part, request_id = self._receive(request)
            self._compare_with(part.id)
            parts.append(part)
            said = self._turn(parts, request_id)
            del self._messages[begun:]
            self._messages.add(AssistantTurn(said.text, provider="anthropic", native=said.native))
            if part.stop_reason != "pause_turn":
                return said
            if len(parts) == self._adapter.max_turns:
                raise self._adapter.failed(
                    f"The model's message wasn't complete after {len(parts)} requests.",
                    EvaluationFailure.TURN_LIMIT,
                    request_id=request_id,
                    text=said.text,
                )

    def _compare_with(self, message_id: str | None) -> None:
        """Ask how the next request's beginning differs from that of an earlier one."""
        if self._adapter.cache_diagnostics:
            # Without an id, the provider only begins to keep what it compares with.
            self.request["diagnostics"] = {"previous_message_id": message_id}

    def _receive(self, request: Request) -> tuple[Message, str | None]:
        """Return the answer to one request, and the request's id."""
        messages = self._endpoint()
        if self._adapter.context_editing is not None:
            messages = self._adapter.client.beta.messages
        if not request.streaming:
            response = self._whole(messages, request)
            return response.parse(), response.request_id
        with ExitStack() as stack:
            with self._adapter.sending():
                stream = stack.enter_context(
                    messages.stream(**self.request, timeout=request.timeout)
                )
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
        cleared = [edit for part in parts for edit in _cleared(part)]
        return ModelTurn(
            text=text,
            tool_calls=tuple(
                ToolCall(block.id, block.name, block.input)
                for block in content
                if block.type == "tool_use"
            ),
            # Unchanged: thinking is signed, and must be sent back as it is.
            native=tuple(block.to_dict(mode="json") for block in content),
            usage=sum(map(_usage, parts), NOTHING_USED),
            model=message.model,
            request_id=request_id,
            cleared_results=sum(edit.cleared_tool_uses for edit in cleared),
            cleared_tokens=sum(edit.cleared_input_tokens for edit in cleared),
            found_tools=tuple(
                found.tool_name
                for block in content
                if block.type == "tool_search_tool_result"
                and block.content.type == "tool_search_tool_search_result"
                for found in block.content.tool_references
            ),
            message_id=message.id,
        )


def _editing(editing: ContextEditing, rendered: RenderedPrompt[object]) -> dict[str, Any]:
    edit: dict[str, Any] = {
        "type": CLEARING,
        "trigger": {"type": "input_tokens", "value": editing.trigger},
        "keep": {"type": "tool_uses", "value": editing.keep},
        "clear_at_least": {"type": "input_tokens", "value": editing.cleared_at_once},
    }
    # What was opened is a part of the prompt, and can't be opened again.
    opening = [tool.name for tool in rendered.tools if tool.name == OPEN_SECTIONS]
    if excluded := list(dict.fromkeys((*editing.exclude_tools, *opening))):
        edit["exclude_tools"] = excluded
    return {"betas": [CONTEXT_EDITING], "context_management": {"edits": [edit]}}


def _cleared(message: Message) -> list[Any]:
    """Return what the provider says that it cleared of the tools' results."""
    management = getattr(message, "context_management", None)
    edits = [] if management is None else management.applied_edits
    return [edit for edit in edits if edit.type == CLEARING]


def _cache(request: dict[str, Any]) -> None:
    """Let the provider keep what it reads, for a request that others are likely to follow.

    A breakpoint at the end of the request, which moves along, suits everything that is only
    appended to. Those of the prompt's own plan stay where they are.
    """
    request.setdefault("cache_control", EPHEMERAL)
    if request["cache_control"] is None:
        del request["cache_control"]


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


def _usage(message: Message) -> TokenUsage:
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    written = usage.cache_creation_input_tokens or 0
    # The provider counts the three kinds of input separately.
    return TokenUsage(
        usage.input_tokens + cached + written,
        usage.output_tokens,
        cached,
        written,
        _cache_misses(message),
    )


def _cache_misses(message: Message) -> tuple[str, ...]:
    """Return why earlier input wasn't read from the cache, if that was asked and is known."""
    reason = None if message.diagnostics is None else message.diagnostics.cache_miss_reason
    tokens = getattr(reason, "cache_missed_input_tokens", None)
    return () if reason is None or tokens is None else (cache_miss(reason.type, tokens),)
