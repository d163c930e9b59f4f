"""What OpenTelemetry gets of requests over HTTP, once an operator has its SDK there."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import threading
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    HistogramDataPoint,
    InMemoryMetricReader,
    NumberDataPoint,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from foldline.agent.folders import open_folders
from foldline.agent.mcp.server import AgentServer
from foldline.agent.mcp.stdio import Options
from foldline.backends.base.waiting import WALKS
from foldline.plugins.remote import measures

from .apps import BEHIND_A_PROXY, HEADER, foldline, one_tool, served
from .replicas import ask, call, message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(metrics, "get_meter", provider.get_meter)
    yield reader
    provider.shutdown()


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def points(reader: InMemoryMetricReader, name: str) -> list[HistogramDataPoint]:
    data = reader.get_metrics_data()
    assert data is not None
    [metric] = [
        metric
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
    ]
    assert metric.unit == "s"
    return [one for one in metric.data.data_points if isinstance(one, HistogramDataPoint)]


def numbers(reader: InMemoryMetricReader, name: str) -> dict[str, int | float]:
    """The numbers of a gauge or a counter, by the value of its one attribute or its first."""
    data = reader.get_metrics_data()
    assert data is not None
    return {
        str(next(iter((point.attributes or {}).values()))): point.value
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
        if isinstance(point, NumberDataPoint)
    }


def attributes(points: list[HistogramDataPoint]) -> list[dict[str, Any]]:
    return [dict(point.attributes or {}) for point in points]


async def test_requests_are_measured_by_the_semantic_conventions(
    reader: InMemoryMetricReader, spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "foldline")
    async with foldline(BEHIND_A_PROXY) as one:
        parent = {HEADER: "me", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
        await call(one.client, one.url, "get_tree", parent)
        await call(one.client, one.url, "read_lines", {HEADER: "me"}, path="none", start=1, end=1)
        await call(one.client, one.url, "made-up", {HEADER: "me"})
        await ask(one.client, one.url, "made/up", {HEADER: "me"})
        await one.client.request("BREW", one.url)
    told = [
        dict(point.attributes or {}) for point in points(reader, "mcp.server.operation.duration")
    ]
    assert {
        (one["mcp.method.name"], one.get("gen_ai.tool.name"), one.get("error.type")) for one in told
    } == {
        ("tools/call", "get_tree", None),
        ("tools/call", "read_lines", "tool_error"),
        ("tools/call", "_OTHER", "-32602"),
        ("_OTHER", None, "-32601"),
    }
    assert {one["enduser.id"] for one in told} == {"me"}
    assert {one["mcp.protocol.version"] for one in told} == {"2026-07-28"}
    http = [
        dict(point.attributes or {}) for point in points(reader, "http.server.request.duration")
    ]
    assert {(one["http.request.method"], one["http.response.status_code"]) for one in http} == {
        ("POST", 200),
        ("POST", 400),
        ("POST", 404),
        ("_OTHER", 401),
    }
    span = next(one for one in spans.get_finished_spans() if one.parent is not None)
    assert span.name == "POST /mcp"
    assert span.kind is SpanKind.SERVER
    assert f"{span.context.trace_id:x}" == TRACE
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 200
    lines = [record.getMessage() for record in caplog.records]
    assert any("tools/call get_tree for me: done in " in line for line in lines)
    assert not any("made" in line for line in lines if "measures" in line)


async def test_many_identities_make_no_more_series(
    reader: InMemoryMetricReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measures, "MAX_IDENTITIES", 2)
    async with foldline(replace(BEHIND_A_PROXY, deadline=30.0)) as one:
        for name in ("a", "b", "c", "d", "a"):
            await call(one.client, one.url, "get_tree", {HEADER: name})
        # A client of an earlier version.
        body, headers = message("tools/call", name="get_tree", arguments={})
        del headers["MCP-Protocol-Version"]
        await one.client.post(one.url, json=body, headers={**headers, HEADER: "b"})
    told = points(reader, "mcp.server.operation.duration")
    counts: Counter[object] = Counter()
    for point in told:
        counts[(point.attributes or {})["enduser.id"]] += point.count
    assert counts == {"a": 2, "b": 2, "_OTHER": 2}


async def test_requests_in_flight_are_counted(reader: InMemoryMetricReader) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def run(_params: types.CallToolRequestParams) -> types.CallToolResult:
        begun.set()
        await go.wait()
        return types.CallToolResult(content=[])

    async with served(one_tool(run)) as one:
        request = asyncio.create_task(call(one.client, one.url, "wait"))
        await begun.wait()
        assert numbers(reader, "http.server.active_requests") == {"POST": 1}
        go.set()
        await request
    assert numbers(reader, "http.server.active_requests") == {"POST": 0}


async def test_the_state_of_a_replica_is_told(
    reader: InMemoryMetricReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    server = AgentServer(Options(roots=(tmp_path,), remote=True))
    open_folders(server.workspace, (tmp_path,))
    measures.observe(server.workspace)
    index = server.workspace.access(tmp_path).index
    assert index is not None
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        memory = numbers(reader, "process.memory.usage")
        assert memory["process"] > memory["children"] > 0
        # `wait` is what says that a build goes on.
        monkeypatch.setattr(index, "wait", lambda seconds: seconds != 0)
        assert numbers(reader, "foldline.indexes") == {"building": 1}
        monkeypatch.undo()
        assert index.wait(60)
        assert numbers(reader, "foldline.indexes") == {"idle": 1}
        assert numbers(reader, "foldline.language_servers") == {}
        ready = SimpleNamespace(state="ready")
        access = server.workspace.access(tmp_path)
        monkeypatch.setattr(access, "server_status", lambda: (ready, ready))
        assert numbers(reader, "foldline.language_servers") == {"ready": 2}
        busy = threading.Event()
        works = [WALKS.submit(busy.wait, 60) for _ in range(WALKS.most + 3)]
        try:
            # Each thread takes one.
            while numbers(reader, "foldline.work.waiting")["foldline-walk"] != 3:
                await asyncio.sleep(0.01)
        finally:
            busy.set()
            for work in works:
                work.result(60)
    finally:
        child.communicate()
        await server.close()
