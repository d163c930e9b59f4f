"""Spans of evaluations, with the SDK's exporter into memory."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from foldline.plugins.stores import SQLiteEventStore, outbox
from foldline.plugins.stores.otel import CONTENT_VARIABLE, OpenTelemetryExporter, observe_store
from foldline.plugins.stores.postgres_store import PostgresEventStore
from foldline.prompts import (
    MarkdownSection,
    PromptTemplate,
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError, PromptEvaluationError
from foldline.prompts.runtime import (
    InProcessEventBus,
    Redaction,
    Session,
    TokenUsage,
    evaluate_with_disclosure,
)


@FrozenDataclass()
class City:
    name: str


def weather(params: City, *, context: ToolContext) -> ToolResult[str]:
    if params.name == "Atlantis":
        raise LookupError("no secret city")
    return ToolResult(value=f"secret rain in {params.name}")


TEMPLATE = PromptTemplate[None](
    ns="trips",
    key="plan",
    disclosure="open",
    sections=[
        MarkdownSection[None](
            title="Task",
            key="task",
            template="A secret task.",
            tools=[Tool[City, str](name="weather", description="Tells it.", handler=weather)],
        ),
        MarkdownSection[None](
            title="Docs",
            key="docs",
            template="Secret docs.",
            summary="Some.",
            visibility=SectionVisibility.SUMMARY,
        ),
    ],
)
OPENING = ScriptedCall("open_sections", {"section_keys": ["docs"], "reason": "r"})
SCRIPT = Transcript.of(
    [
        ScriptedTurn(
            "Secretly.",
            (
                ScriptedCall("weather", {"name": "Oslo"}),
                ScriptedCall("weather", {"name": "Atlantis"}),
            ),
            usage=TokenUsage(100, 9, 60, 30),
            model="m-1",
        ),
        ScriptedTurn("", (OPENING,), usage=TokenUsage(120, 4, 100)),
    ],
    [ScriptedTurn("The secret answer.", usage=TokenUsage(150, 7), model="m-1")],
)


@pytest.fixture
def memory() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(memory: InMemorySpanExporter) -> Iterator[TracerProvider]:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(memory))
    yield made
    made.shutdown()


def run(provider: TracerProvider, **settings: Any) -> Session:
    bus = InProcessEventBus()
    session = Session(bus=bus)
    with OpenTelemetryExporter(provider, **settings) as exporter:
        exporter.attach(bus)
        evaluate_with_disclosure(ScriptedAdapter(SCRIPT), TEMPLATE, session=session)
    return session


def named(memory: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in memory.get_finished_spans() if span.name == name]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_an_evaluation_is_a_tree_of_spans(
    memory: InMemorySpanExporter, provider: TracerProvider
) -> None:
    with provider.get_tracer("test").start_as_current_span("outer") as outer:
        session = run(provider)
    assert [span.name for span in memory.get_finished_spans()] == [
        "chat m-1",
        "execute_tool weather",
        "execute_tool weather",
        "chat",
        "execute_tool open_sections",
        "invoke_agent plan",
        "chat m-1",
        "invoke_agent plan",
        "outer",
    ]
    first, second = named(memory, "invoke_agent plan")
    for root in (first, second):
        assert root.parent is not None
        assert root.parent.span_id == outer.get_span_context().span_id
        assert root.kind is SpanKind.INTERNAL
        assert root.status.status_code is StatusCode.UNSET
        found = attributes(root)
        assert found["gen_ai.operation.name"] == "invoke_agent"
        assert found["gen_ai.provider.name"] == "scripted"
        assert found["gen_ai.prompt.name"] == "trips/plan"
        assert found["gen_ai.conversation.id"] == session.session_id
    assert attributes(first)["foldline.opened_sections"] == ("docs",)
    assert attributes(first)["gen_ai.usage.input_tokens"] == 220
    for name, parent in (("execute_tool weather", first), ("chat", first)):
        for span in named(memory, name):
            assert span.parent is not None
            assert span.parent.span_id == parent.context.span_id
    for span in memory.get_finished_spans():
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.start_time <= span.end_time


def test_a_message_has_its_tokens_by_what_they_are_billed_as(
    memory: InMemorySpanExporter, provider: TracerProvider
) -> None:
    run(provider)
    chat = named(memory, "chat m-1")[0]
    assert chat.kind is SpanKind.CLIENT
    found = attributes(chat)
    assert {key: value for key, value in found.items() if "usage" in key} == {
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 9,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.cache_write.input_tokens": 30,
        "gen_ai.usage.cache_creation.input_tokens": 30,
    }
    assert found["gen_ai.response.model"] == "m-1"
    assert found["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert found["foldline.turn"] == 1


def test_a_tool_that_fails_is_a_span_with_an_error(
    memory: InMemorySpanExporter, provider: TracerProvider
) -> None:
    run(provider)
    right, wrong = named(memory, "execute_tool weather")
    assert right.status.status_code is StatusCode.UNSET
    assert wrong.status.status_code is StatusCode.ERROR
    assert attributes(wrong)["error.type"] == "tool_error"
    assert attributes(right)["gen_ai.tool.call.id"] == "call_1_1"


def test_a_hook_redacts_every_text_of_a_span(
    memory: InMemorySpanExporter, provider: TracerProvider
) -> None:
    run(provider, content=Redaction({"hidden": "(?i:secret)|Oslo"}))
    spans = memory.get_finished_spans()
    kept = str([(attributes(span), span.status.description) for span in spans])
    assert "[hidden] rain in [hidden]" in kept
    assert "no [hidden] city" in kept
    assert "secret" not in kept.lower()
    assert "Oslo" not in kept


def test_no_text_is_recorded_unless_asked_for(
    memory: InMemorySpanExporter, provider: TracerProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CONTENT_VARIABLE, raising=False)
    run(provider)
    assert "ecret" not in "".join(span.to_json() for span in memory.get_finished_spans())
    memory.clear()
    monkeypatch.setenv(CONTENT_VARIABLE, "true")
    run(provider)
    first, second = named(memory, "invoke_agent plan")
    (asked,) = json.loads(attributes(first)["gen_ai.input.messages"])
    assert asked["role"] == "user"
    assert "A secret task." in asked["parts"][0]["content"]
    (answer,) = json.loads(attributes(second)["gen_ai.output.messages"])
    assert answer["parts"] == [{"type": "text", "content": "The secret answer."}]
    right, wrong = named(memory, "execute_tool weather")
    assert json.loads(attributes(right)["gen_ai.tool.call.arguments"]) == {"name": "Oslo"}
    assert json.loads(attributes(right)["gen_ai.tool.call.result"]) == "secret rain in Oslo"
    assert wrong.status.description == "no secret city"
    memory.clear()
    run(provider, content=False)
    assert "ecret" not in "".join(span.to_json() for span in memory.get_finished_spans())


def test_a_failed_evaluation_is_a_span_with_the_kind_of_its_error(
    memory: InMemorySpanExporter, provider: TracerProvider
) -> None:
    bus = InProcessEventBus()
    with OpenTelemetryExporter(provider) as exporter:
        exporter.attach(bus)
        adapter = ScriptedAdapter(SCRIPT, max_turns=1)
        with pytest.raises(PromptEvaluationError):
            adapter.evaluate(TEMPLATE, bus=bus)
    (root,) = named(memory, "invoke_agent plan")
    assert root.status.status_code is StatusCode.ERROR
    assert root.status.description is None
    assert attributes(root)["error.type"] == "turn_limit"
    assert attributes(root)["gen_ai.usage.input_tokens"] == 100


def test_a_message_that_never_came_is_a_span_with_its_error(
    memory: InMemorySpanExporter, provider: TracerProvider
) -> None:
    bus = InProcessEventBus()
    with OpenTelemetryExporter(provider) as exporter, SQLiteEventStore(":memory:") as store:
        exporter.attach(bus)
        store.attach(bus)
        with pytest.raises(PromptEvaluationError):
            ScriptedAdapter(Transcript.of([SCRIPT.exchanges[0].turns[0]])).evaluate(
                TEMPLATE, bus=bus
            )
        (failed,) = [event for event in store.events() if event.kind == "ModelFailed"]
    (root,) = named(memory, "invoke_agent plan")
    (chat,) = named(memory, "chat")
    assert chat.parent is not None
    assert chat.parent.span_id == root.context.span_id
    assert chat.status.status_code is StatusCode.ERROR
    assert attributes(chat)["error.type"] == "script"
    assert attributes(chat)["foldline.turn"] == failed.data["turn"] == 2


def test_closing_ends_what_still_runs_and_unsubscribes(
    memory: InMemorySpanExporter, provider: TracerProvider
) -> None:
    bus = InProcessEventBus()
    exporter = OpenTelemetryExporter(provider)
    exporter.attach(bus)

    def answer(*_: object) -> str:
        exporter.close()
        return "Late."

    ScriptedAdapter(answer).evaluate(TEMPLATE, bus=bus)
    assert [span.name for span in memory.get_finished_spans()] == ["invoke_agent plan"]


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(PromptConfigurationError, match=r"install foldline\[otel\]"):
        OpenTelemetryExporter()


def test_the_events_of_a_store_that_wait_are_told_and_those_that_were_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CLOSE_SECONDS", 0.0)
    reader = InMemoryMetricReader()
    meters = MeterProvider([reader])

    def told() -> dict[str, int | float]:
        data = reader.get_metrics_data()
        return {
            metric.name.rpartition(".")[2]: point.value
            for resource in (data.resource_metrics if data is not None else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
            if isinstance(point, NumberDataPoint)
        }

    # Nobody listens there.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"postgresql://127.0.0.1:{taken.getsockname()[1]}/runs"
        with PostgresEventStore(url, spool=tmp_path) as store:
            observe_store(store, meters)
            assert told() == {}
            bus = InProcessEventBus()
            store.attach(bus)
            evaluate_with_disclosure(ScriptedAdapter(SCRIPT), TEMPLATE, session=Session(bus=bus))
            assert store.outbox is not None
            assert told() == {"waiting": store.outbox.waiting, "dropped": 0}
            assert store.outbox.waiting > 0
            store.outbox.dropped = 2
            assert told()["dropped"] == 2
    meters.shutdown()
