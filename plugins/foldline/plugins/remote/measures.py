"""Deadlines, and measures for OpenTelemetry, by its semantic conventions for HTTP and MCP.

The SDK of OpenTelemetry is the operator's: without it, nothing is kept. Spans of MCP are made by
the SDK of MCP. What a client writes is no value of a metric, so that no client makes new series.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import psutil
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from opentelemetry import metrics, trace
from opentelemetry.metrics import Observation
from opentelemetry.propagate import extract
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from foldline.agent.mcp.calls import refusal
from foldline.backends import SmartFileAccess
from foldline.backends.base.waiting import LONG, PROMPTS, QUICK, WALKS
from foldline.backends.errors import cut
from foldline.backends.lsp.lifecycle import tree_memory
from foldline.ide.workspace import Workspace
from foldline.plugins.remote.transport import PATH
from foldline.version import VERSION

log = logging.getLogger(__name__)

BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
OTHER = "_OTHER"
"""The value of the conventions for whatever isn't told apart."""
MAX_IDENTITIES = 100
UNANSWERED = 499
IDENTITY = "identity"
"""The key of who asks in a request's state; absent where no proxy says it."""
# Of the codes that JSON-RPC leaves to servers.
TOO_LATE = -32000


@dataclass(slots=True)
class Measured:
    """A request as its measure tells of it."""

    status: int = UNANSWERED


class HttpMeasures:
    """A span, and the duration of each HTTP request."""

    def __init__(self) -> None:
        self._durations = _histogram("http.server.request.duration", "Duration of HTTP requests.")
        self._active = metrics.get_meter("foldline", VERSION).create_up_down_counter(
            "http.server.active_requests", "{request}", "HTTP requests in flight."
        )
        self._tracer = trace.get_tracer("foldline", VERSION)

    @contextmanager
    def measure(self, scope: Scope) -> Iterator[Measured]:
        """Measure a request; the status is set meanwhile."""
        method = scope["method"] if scope["method"] in METHODS else OTHER
        told: dict[str, str | int] = {"http.request.method": method, "url.scheme": scope["scheme"]}
        name = method
        if scope["path"] == PATH:
            told["http.route"] = PATH
            name = f"{method} {PATH}"
        kind, parent = trace.SpanKind.SERVER, extract(Headers(scope=scope))
        began, measured = time.perf_counter(), Measured()
        active = {"http.request.method": method, "url.scheme": scope["scheme"]}
        self._active.add(1, active)
        with self._tracer.start_as_current_span(name, parent, kind, told) as span:
            try:
                yield measured
            finally:
                self._active.add(-1, active)
                told["http.response.status_code"] = measured.status
                if measured.status >= 500:
                    told["error.type"] = str(measured.status)
                span.set_attributes(told)
                self._durations.record(time.perf_counter() - began, told)


class McpMeasures:
    """Middleware of the SDK that ends requests that take too long, and measures all of them."""

    def __init__(self, protocol: Server[Any], seconds: float) -> None:
        self._protocol = protocol
        self._seconds = seconds
        self._identities: set[str] = set()
        self._durations = _histogram("mcp.server.operation.duration", "Duration of MCP requests.")

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if ctx.request_id is None:
            return await call_next(ctx)
        told = self._attributes(ctx)
        began, outcome = time.perf_counter(), "cancelled"
        try:
            result = await self._in_time(ctx, call_next)
            failed = isinstance(result, dict) and result.get("isError") is True
            outcome = "tool_error" if failed else ""
        except MCPError as error:
            outcome = str(error.error.code)
            if isinstance(error.error.data, str):
                # The SDK repeats the name of a method that isn't there, however long it is.
                error.error.data = cut(error.error.data)
            raise
        except Exception as error:
            outcome = type(error).__name__
            raise
        finally:
            seconds = time.perf_counter() - began
            self._durations.record(seconds, told | ({"error.type": outcome} if outcome else {}))
            log.info(
                "%s %s for %s: %s in %.0f ms",
                told["mcp.method.name"],
                told.get("gen_ai.tool.name", "-"),
                identity_of(ctx) or "-",
                outcome or "done",
                1000 * seconds,
            )
        return result

    async def _in_time(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await call_next(ctx)
        except TimeoutError as error:
            if not limit.expired():
                raise
            message = f"It took more than {self._seconds:g} seconds: ask for less of the workspace"
            raise refusal(message, TOO_LATE, kind="deadline") from error

    def _attributes(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, str]:
        is_method = self._protocol.get_request_handler(ctx.method) is not None
        told = {
            "mcp.method.name": ctx.method if is_method or ctx.method == "initialize" else OTHER,
            "mcp.protocol.version": ctx.protocol_version,
            "network.protocol.name": "http",
            "network.transport": "tcp",
        }
        schema_of = self._protocol.get_tool_input_schema
        if ctx.method == "tools/call" and schema_of is not None:
            name = (ctx.params or {}).get("name")
            of_ours = isinstance(name, str) and schema_of(name) is not None
            told["gen_ai.tool.name"] = str(name) if of_ours else OTHER
            told["gen_ai.operation.name"] = "execute_tool"
        if identity := identity_of(ctx):
            if len(self._identities) < MAX_IDENTITIES:
                self._identities.add(identity)
            told["enduser.id"] = identity if identity in self._identities else OTHER
        return told


def identity_of(ctx: ServerRequestContext[Any, Request]) -> str | None:
    """Return who asks, as a trusted proxy said it; None where none does."""
    return ctx.request.scope.get("state", {}).get(IDENTITY) if ctx.request else None


def observe(workspace: Workspace) -> None:
    """Have OpenTelemetry ask for the state of a replica, as often as it exports."""

    def memory() -> dict[str, int]:
        tree_bytes, own_bytes = tree_memory(os.getpid()), psutil.Process().memory_info().rss
        return {"process": own_bytes, "children": max(0, tree_bytes - own_bytes)}

    def indexes() -> dict[str, int]:
        indexes = [access.index for access in accesses()]
        return Counter("idle" if one.wait(0) else "building" for one in indexes if one is not None)

    def servers() -> dict[str, int]:
        return Counter(one.state for access in accesses() for one in access.server_status())

    def accesses() -> list[SmartFileAccess]:
        return [workspace.access(root) for root in workspace.roots]

    def waiting() -> dict[str, int]:
        return {pool.name: pool.waiting.qsize() for pool in (QUICK, LONG, WALKS, PROMPTS)}

    def observed(
        _options: object, label: str, count: Callable[[], dict[str, int]]
    ) -> Iterator[Observation]:
        return (Observation(number, {label: value}) for value, number in count().items())

    for name, unit, label, count in (
        ("process.memory.usage", "By", "foldline.part", memory),
        ("foldline.work.waiting", "{item}", "foldline.pool", waiting),
        ("foldline.indexes", "{index}", "foldline.state", indexes),
        ("foldline.language_servers", "{server}", "foldline.state", servers),
    ):
        callback = partial(observed, label=label, count=count)
        metrics.get_meter("foldline", VERSION).create_observable_gauge(name, [callback], unit)


def _histogram(name: str, description: str) -> metrics.Histogram:
    return metrics.get_meter("foldline", VERSION).create_histogram(
        name, "s", description, explicit_bucket_boundaries_advisory=BUCKETS
    )
