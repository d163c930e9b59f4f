"""Evaluations as OpenTelemetry spans, by the conventions for generative AI.

It needs the extra `otel`, and an application that sets OpenTelemetry's SDK up: without that, spans
go nowhere. The conventions are in development (https://github.com/open-telemetry/
semantic-conventions-genai); these are their names as of November 2026.
"""

from __future__ import annotations

import importlib.util
import json
import os
import threading
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from foldline.prompts.errors import PromptConfigurationError, VisibilityExpansionRequired
from foldline.prompts.forms.json_values import to_json
from foldline.prompts.runtime import events
from foldline.prompts.runtime.redaction import Redact, redacted
from foldline.prompts.runtime.response import TokenUsage

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, SpanKind, TracerProvider

    from foldline.plugins.stores.postgres_store import PostgresEventStore

__all__ = ["OpenTelemetryExporter", "observe_store"]

CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_Attributes = dict[str, str | int | bool | list[str]]


class OpenTelemetryExporter(events.Listener):
    """Turns the events of a bus into spans.

    >>> from foldline.prompts.runtime import InProcessEventBus, Session
    >>> bus = InProcessEventBus()
    >>> with OpenTelemetryExporter() as exporter:
    ...     exporter.attach(bus)
    ...     session = Session(bus=bus)  # Evaluate with it, or with `bus=bus`.

    An evaluation is a span `invoke_agent`, a child of the span that is current when it begins; each
    message of the model is a span `chat` below it, and each call of a tool a span `execute_tool`.
    They have names, counts of tokens and kinds of errors; prompts, answers, arguments and results
    only if `content` is true.

    Args:
        tracer_provider: Where the spans go; by default OpenTelemetry's global one.
        content: Record texts, too; a function, such as `Redaction()`, redacts them. By default the
            environment variable `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` decides;
            unset, it records none.

    Raises:
        PromptConfigurationError: The package `opentelemetry-api` isn't installed.
    """

    def __init__(
        self, tracer_provider: TracerProvider | None = None, *, content: bool | Redact | None = None
    ) -> None:
        if importlib.util.find_spec("opentelemetry") is None:
            raise PromptConfigurationError(
                "OpenTelemetryExporter needs the package 'opentelemetry-api': "
                "install foldline[otel]."
            )
        from opentelemetry.trace import SpanKind, get_tracer

        super().__init__()
        self._tracer = get_tracer("foldline.prompts", tracer_provider=tracer_provider)
        self._kinds = SpanKind
        self._content = _captures() if content is None else content
        self._lock = threading.Lock()
        self._open: dict[str, Span] = {}

    def add(self, event: events.Event) -> None:
        """Begin, add or end the spans of one event."""
        if isinstance(event, events.PromptRendered):
            self._begin(event)
        elif isinstance(event, events.ModelAnswered):
            self._answered(event)
        elif isinstance(event, events.ModelFailed):
            self._failed(event)
        elif isinstance(event, events.ToolInvoked):
            self._called(event)
        elif isinstance(event, events.PromptExecuted):
            self._end(event, event.usage)
        elif isinstance(event, events.PromptStopped):
            self._stopped(event)

    def close(self) -> None:
        """Unsubscribe from all buses, and end the spans of evaluations that still run."""
        super().close()
        with self._lock:
            left = list(self._open.values())
            self._open.clear()
        for span in left:
            span.end()

    def _begin(self, event: events.PromptRendered) -> None:
        rendered = event.rendered
        attributes: _Attributes = {
            "gen_ai.agent.name": event.prompt_key,
            "gen_ai.prompt.name": f"{event.prompt_ns}/{event.prompt_key}",
        }
        if rendered.descriptor is not None:
            attributes["gen_ai.prompt.version"] = rendered.descriptor.content_hash
        if rendered.structured_output is not None:
            attributes["gen_ai.output.type"] = "json"
        if self._content:
            attributes["gen_ai.input.messages"] = self._messages("user", _text(rendered.text))
        span = self._tracer.start_span(
            f"invoke_agent {event.prompt_key}",
            kind=self._kinds.INTERNAL,
            attributes=_common(event, "invoke_agent") | attributes,
            start_time=_nanoseconds(event.created_at),
        )
        with self._lock:
            self._open[event.evaluation_id] = span

    def _answered(self, event: events.ModelAnswered) -> None:
        attributes: _Attributes = {
            "gen_ai.response.finish_reasons": ["tool_call" if event.tool_calls else "stop"],
            **_tokens(event.usage),
        }
        requested = event.requested_model or event.model
        if requested is not None:
            attributes["gen_ai.request.model"] = requested
        if event.model is not None:
            attributes["gen_ai.response.model"] = event.model
        if self._content:
            calls = [{"type": "tool_call", "name": name} for name in event.tool_calls]
            attributes["gen_ai.output.messages"] = self._messages(
                "assistant", *([_text(event.text)] if event.text else []), *calls
            )
        self._chat(event, requested, attributes).end(_nanoseconds(event.created_at))

    def _failed(self, event: events.ModelFailed) -> None:
        requested = event.requested_model
        attributes: _Attributes = {} if requested is None else {"gen_ai.request.model": requested}
        span = self._chat(event, requested, attributes)
        self._fail(span, _kind_of(event.error), str(event.error))
        span.end(_nanoseconds(event.created_at))

    def _chat(
        self,
        event: events.ModelAnswered | events.ModelFailed,
        model: str | None,
        attributes: _Attributes,
    ) -> Span:
        name = "chat" if model is None else f"chat {model}"
        return self._add(event, "chat", name=name, kind=self._kinds.CLIENT, attributes=attributes)

    def _called(self, event: events.ToolInvoked) -> None:
        attributes: _Attributes = {
            "gen_ai.tool.name": event.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": event.call_id,
        }
        if self._content:
            result = event.message if event.value is None else event.value
            attributes["gen_ai.tool.call.arguments"] = self._json(event.params)
            attributes["gen_ai.tool.call.result"] = self._json(result)
        span = self._add(
            event,
            "execute_tool",
            name=f"execute_tool {event.name}",
            kind=self._kinds.INTERNAL,
            attributes=attributes,
        )
        if not event.success:
            self._fail(span, "tool_error", event.message)
        span.end(_nanoseconds(event.created_at))

    def _stopped(self, event: events.PromptStopped) -> None:
        error = event.error
        with self._lock:
            span = self._open.get(event.evaluation_id)
        if span is not None and isinstance(error, VisibilityExpansionRequired):
            # Not an error: the prompt is rendered again, with these sections.
            keys = [".".join(path) for path in error.requested_overrides]
            span.set_attribute("foldline.opened_sections", keys)
        elif span is not None:
            self._fail(span, _kind_of(error), str(error))
        self._end(event, event.usage)

    def _end(self, event: events.PromptExecuted | events.PromptStopped, usage: TokenUsage) -> None:
        with self._lock:
            span = self._open.pop(event.evaluation_id, None)
        if span is None:
            return
        span.set_attributes({**_tokens(usage), "foldline.turns": event.turns})
        if self._content and isinstance(event, events.PromptExecuted):
            span.set_attribute(
                "gen_ai.output.messages", self._messages("assistant", _text(event.text))
            )
        span.end(_nanoseconds(event.created_at))

    def _add(
        self,
        event: events.ModelAnswered | events.ModelFailed | events.ToolInvoked,
        operation: str,
        *,
        name: str,
        kind: SpanKind,
        attributes: _Attributes,
    ) -> Span:
        from opentelemetry.trace import set_span_in_context

        with self._lock:
            parent = self._open.get(event.evaluation_id)
        return self._tracer.start_span(
            name,
            context=None if parent is None else set_span_in_context(parent),
            kind=kind,
            attributes=_common(event, operation) | attributes | {"foldline.turn": event.turn},
            start_time=_nanoseconds(event.created_at) - int(event.seconds * 1e9),
        )

    def _fail(self, span: Span, kind: str, message: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        span.set_attribute("error.type", kind)
        # A message can quote what the model or the user wrote.
        told = str(redacted(message, self._content)) if self._content else None
        span.set_status(Status(StatusCode.ERROR, told))

    def _messages(self, role: str, *parts: dict[str, str]) -> str:
        return self._json([{"role": role, "parts": parts}])

    def _json(self, value: object) -> str:
        try:
            return json.dumps(redacted(to_json(value), self._content), ensure_ascii=False)
        except (TypeError, ValueError):
            return str(redacted(repr(value), self._content))


def _kind_of(error: BaseException) -> str:
    return str(getattr(error, "kind", None) or type(error).__qualname__)


def _common(event: events.Event, operation: str) -> _Attributes:
    attributes: _Attributes = {"gen_ai.operation.name": operation}
    if event.provider is not None:
        attributes["gen_ai.provider.name"] = event.provider
    if event.session_id is not None:
        attributes["gen_ai.conversation.id"] = event.session_id
    return attributes


def _tokens(usage: TokenUsage) -> _Attributes:
    attributes: _Attributes = {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
    }
    if usage.cached:
        attributes["gen_ai.usage.cache_read.input_tokens"] = usage.cached
    if usage.written:
        attributes["gen_ai.usage.cache_write.input_tokens"] = usage.written
        # Its name until 2026, which most backends still read.
        attributes["gen_ai.usage.cache_creation.input_tokens"] = usage.written
    return attributes


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "content": text}


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1e9)


def observe_store(store: PostgresEventStore, meter_provider: MeterProvider | None = None) -> None:
    """Have OpenTelemetry ask how many events of a store wait on this machine, or were dropped.

    They are `foldline.store.events.waiting` and `foldline.store.events.dropped`, from the first
    event of this process on.
    """
    from opentelemetry.metrics import Observation, get_meter

    def observed(_options: object, name: str) -> list[Observation]:
        return [] if store.outbox is None else [Observation(getattr(store.outbox, name))]

    meter = get_meter("foldline.prompts", meter_provider=meter_provider)
    for name, create in (
        ("waiting", meter.create_observable_gauge),
        ("dropped", meter.create_observable_counter),
    ):
        create(f"foldline.store.events.{name}", [partial(observed, name=name)], "{event}")


def _captures() -> bool:
    value = os.environ.get(CONTENT_VARIABLE, "").strip().lower()
    return value in ("1", "true", "span_only", "span_and_event")
