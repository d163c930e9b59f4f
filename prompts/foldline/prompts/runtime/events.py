"""Events of evaluations, and those that listen to them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Self

from foldline.prompts.bus import EventBus, Subscription
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.forms.json_values import to_json
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.tool import ToolContext, ToolResult
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from foldline.prompts.context import Savings
    from foldline.prompts.runtime.dispatch import ToolCall
    from foldline.prompts.runtime.response import TokenUsage

# Sizes and keys (`facts`) are apart from texts (`content`): a store keeps texts only if it's told
# to. An event holds the objects themselves, so that publishing costs nothing where nobody listens.

NO_METADATA: Mapping[str, object] = MappingProxyType({})


@FrozenDataclass(kw_only=True)
class Event:
    """Base class of an evaluation's events.

    `evaluation_id` is shared by the events of one `evaluate`; `session_id` by all evaluations
    with one session.
    """

    texts: ClassVar[tuple[str, ...]] = ()
    """The fields with content."""

    prompt_ns: str
    prompt_key: str
    evaluation_id: str
    session_id: str | None = None
    provider: str | None = None
    event_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def facts(self) -> dict[str, object]:
        """Return sizes, keys and counts as JSON: what every `EventStore` keeps."""
        return {}

    def content(self) -> dict[str, object]:
        """Return the texts as JSON: what an `EventStore` keeps besides if it keeps content."""
        return {name: _plain(getattr(self, name)) for name in self.texts}


@FrozenDataclass(kw_only=True)
class PromptRendered(Event):
    """A prompt was rendered, and is about to be sent."""

    rendered: RenderedPrompt[object]
    visibility_overrides: Mapping[SectionPath, SectionVisibility] = field(default_factory=dict)

    def facts(self) -> dict[str, object]:
        rendered = self.rendered
        overrides = self.visibility_overrides.items()
        return {
            "characters": len(rendered.text),
            "sections": {b.dotted_key: b.visibility.name for b in rendered.blocks if b.enabled},
            "overrides": {".".join(path): visibility.name for path, visibility in overrides},
            "tools": [tool.name for tool in rendered.tools],
            "content_hash": getattr(rendered.descriptor, "content_hash", None),
        }

    def content(self) -> dict[str, object]:
        return {"text": self.rendered.text}


@FrozenDataclass(kw_only=True)
class RequestSent(Event):
    """A request is about to leave; only evaluations with `capture_requests` publish it.

    That the SDK repeats one after a failure isn't told.
    """

    texts: ClassVar[tuple[str, ...]] = ("body",)

    turn: int
    """The number of the message that it asks for, from 1."""
    body: Mapping[str, object]
    """The body as the provider gets it, without headers, each text as the hook returned it."""

    def facts(self) -> dict[str, object]:
        return {"turn": self.turn, "characters": len(json.dumps(self.body, ensure_ascii=False))}


@FrozenDataclass(kw_only=True)
class ToolInvoked(Event):
    """A model called a tool.

    Published after the call; for an `open_sections`, or a call cut off by the deadline or a
    cancellation, that ends the evaluation instead of returning, right before that. The `metadata`
    of an `open_sections` call, also of a refused one, are `requested_sections` (a list of the keys
    as the model gave them), `reason`, and `current_visibility_state`: "SUMMARY" or "FULL" by dotted
    key, for each enabled section. A section below a summarized one has the visibility that it gets
    when that one is opened.
    """

    texts: ClassVar[tuple[str, ...]] = ("params", "message", "value")

    name: str
    turn: int
    """The number of the model's message that called it, from 1."""
    call_id: str
    params: object = None
    """The decoded parameters; the raw arguments if decoding failed."""
    success: bool = True
    message: str = ""
    value: object = None
    metadata: Mapping[str, object] = field(default_factory=lambda: NO_METADATA)
    seconds: float = 0.0
    """How long the call took."""

    def facts(self) -> dict[str, object]:
        facts: dict[str, object] = {
            "tool": self.name,
            "turn": self.turn,
            "success": self.success,
            "message_characters": len(self.message),
        }
        state = self.metadata.get("current_visibility_state")
        if isinstance(state, Mapping):
            facts["summarised"] = [key for key, shown in state.items() if shown == "SUMMARY"]
        return facts


def publish_call(
    context: ToolContext,
    name: str,
    params: object,
    result: ToolResult[object],
    metadata: Mapping[str, object],
    *,
    seconds: float = 0.0,
) -> None:
    """Publish the `ToolInvoked` of a call on the bus of its context, if there is one."""
    if context.bus is None:
        return
    descriptor = getattr(context.rendered, "descriptor", None)
    identity = context.prompt if descriptor is None else descriptor
    context.bus.publish(
        ToolInvoked(
            prompt_ns=getattr(identity, "ns", ""),
            prompt_key=getattr(identity, "key", ""),
            evaluation_id=context.evaluation_id or uuid.uuid4().hex,
            session_id=getattr(context.session, "session_id", None),
            provider=context.provider,
            name=name,
            turn=context.turn,
            call_id=context.call_id or "",
            params=params,
            success=result.success,
            message=result.message,
            value=result.value,
            metadata=metadata,
            seconds=seconds,
        )
    )


@FrozenDataclass(kw_only=True)
class ModelAnswered(Event):
    """A model's message arrived: an answer, or calls of tools."""

    texts: ClassVar[tuple[str, ...]] = ("text",)

    turn: int
    """The number of the message in the evaluation, from 1."""
    text: str
    tool_calls: tuple[str, ...]
    """The names of the tools that it calls, in order."""
    usage: TokenUsage
    """The tokens of this request."""
    calls: tuple[ToolCall, ...] = ()
    """Those calls with their arguments; none if the message is the answer."""
    model: str | None = None
    """The model's name, as the provider says it."""
    requested_model: str | None = None
    """The model's name, as the adapter asked for it."""
    request_id: str | None = None
    seconds: float = 0.0
    """How long the request took."""

    def facts(self) -> dict[str, object]:
        return {
            "characters": len(self.text),
            "turn": self.turn,
            "tools": self.tool_calls,
            "model": self.model,
            "seconds": round(self.seconds, 3),
            **_tokens(self.usage),
        }


@FrozenDataclass(kw_only=True)
class ModelFailed(Event):
    """No message of the model arrived: its provider couldn't be reached, or gave none."""

    turn: int
    """The number that the message would have, from 1."""
    error: BaseException
    requested_model: str | None = None
    """The model's name, as the adapter asked for it."""
    seconds: float = 0.0
    """How long the request took."""

    def facts(self) -> dict[str, object]:
        kind = {"error": type(self.error).__name__, "turn": self.turn}
        return {**kind, "seconds": round(self.seconds, 3)}

    def content(self) -> dict[str, object]:
        return {"message": str(self.error)}


@FrozenDataclass(kw_only=True)
class ContextReplaced(Event):
    """A context policy replaced or removed old results of tools in a conversation."""

    turn: int
    """The number of the model's last message, from 1."""
    results: tuple[int, ...]
    """The results that changed, numbered from 0 in the order in which they were given."""
    savings: Savings | None = None
    """The bytes and the billed-equivalent tokens that it saves and costs."""

    def facts(self) -> dict[str, object]:
        facts: dict[str, object] = {"turn": self.turn, "results": self.results}
        if self.savings is not None:
            facts |= {
                "bytes_removed": self.savings.removed,
                "bytes_rewritten": self.savings.rewritten,
                "billed_tokens_once": round(self.savings.cost),
                "billed_tokens_saved_per_request": round(self.savings.saved_per_request),
            }
        return facts


@FrozenDataclass(kw_only=True)
class PromptStopped(Event):
    """An evaluation ended without an answer.

    `error` is what its caller gets: a failure, or a `VisibilityExpansionRequired`, after which the
    prompt is rendered again.
    """

    error: BaseException
    turns: int
    usage: TokenUsage

    def facts(self) -> dict[str, object]:
        kind = {"error": type(self.error).__name__, "turns": self.turns}
        return {**kind, **_tokens(self.usage)}

    def content(self) -> dict[str, object]:
        return {"message": str(self.error)}


@FrozenDataclass(kw_only=True)
class SectionsOpened(Event):
    """`evaluate_with_disclosure` opened sections that the model asked for."""

    texts: ClassVar[tuple[str, ...]] = ("reason",)

    section_keys: tuple[str, ...]
    reason: str
    appended: bool
    """True if the text was appended to the conversation; False if the prompt is rendered anew."""
    why: str = ""
    """The reason why the prompt is rendered anew."""
    tools: tuple[str, ...] = ()
    """The tools that the model can call from then on, if appended."""

    def facts(self) -> dict[str, object]:
        return {
            "sections": self.section_keys,
            "appended": self.appended,
            "why": self.why,
            "tools": self.tools,
        }


@FrozenDataclass(kw_only=True)
class PromptExecuted(Event):
    """An evaluation ended with an answer."""

    texts: ClassVar[tuple[str, ...]] = ("text",)

    text: str
    turns: int
    usage: TokenUsage
    output: object = None

    def facts(self) -> dict[str, object]:
        return {"characters": len(self.text), "turns": self.turns, **_tokens(self.usage)}


def _tokens(usage: TokenUsage) -> dict[str, object]:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": usage.cached,
        "written_tokens": usage.written,
    }


def _plain(value: object) -> object:
    """Return a value as JSON, or its `repr` if JSON can't represent it."""
    try:
        plain = to_json(value)
        json.dumps(plain)
    except (TypeError, ValueError):
        return repr_of(value)
    except RecursionError:
        return f"<{type(value).__name__}, nested too deeply>"
    return plain


def repr_of(value: object) -> str:
    """Return the `repr` of a value that JSON can't represent."""
    try:
        return repr(value)
    except Exception:
        # A number of thousands of digits has none, and one's own class may have a broken one.
        return f"<{type(value).__name__} without a text>"


class Listener:
    """Something that gets the events of buses until it is closed, also as a context manager."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def attach(self, bus: EventBus) -> None:
        """Add the events of this bus from now on."""
        self._subscriptions.append(bus.subscribe(Event, self.add))

    def add(self, event: Event) -> None:
        """Add one event."""
        raise NotImplementedError

    def close(self) -> None:
        """Unsubscribe from all buses."""
        for subscription in self._subscriptions:
            subscription.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
