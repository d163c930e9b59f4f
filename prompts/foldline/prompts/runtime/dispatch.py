"""Dispatch of a model's tool calls: decode, run in order, return outcomes."""

from __future__ import annotations

import inspect
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from foldline.prompts import errors
from foldline.prompts.forms.field_forms import warn_author
from foldline.prompts.forms.json_values import to_json
from foldline.prompts.runtime.bounded import Cancellation, CancelScope, bounded, check_bounds
from foldline.prompts.runtime.events import NO_METADATA, publish_call
from foldline.prompts.specialise import type_name
from foldline.prompts.tool import Tool, ToolContext, ToolResult, ToolTelemetry

if TYPE_CHECKING:
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.disclosure.opening import Opened

# Calls of one turn run one after the other: they may change the same session, and providers want
# the results in order. A handler's own error is a result for the model; what ends the turn is
# raised, and reported first, so that each call has its event.

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call; the arguments are JSON text or a parsed mapping."""

    id: str
    name: str
    arguments: str | Mapping[str, object] = "{}"


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A call and its result."""

    call: ToolCall
    result: ToolResult[object]
    params: object = None
    """The decoded parameters; None if decoding failed."""
    metadata: Mapping[str, object] = field(default_factory=lambda: NO_METADATA)
    opened: Opened | None = None
    """The sections that the call opened, if its result has their text."""


def dispatch_tool_calls(
    calls: Sequence[ToolCall],
    tools: Sequence[Tool[object, object]],
    *,
    context: ToolContext,
    cancellation: Cancellation | None = None,
    on_outcome: Callable[[ToolOutcome], object] | None = None,
    on_expansion: Callable[[ToolCall, errors.VisibilityExpansionRequired], ToolOutcome]
    | None = None,
) -> tuple[ToolOutcome, ...]:
    """Run one turn's calls in order, one after the other, and return their outcomes.

    A call that fails (unknown tool, arguments that aren't JSON or don't fit, a handler that raises)
    has a failed result that tells the model what to fix. Only an expansion request, the deadline
    and the cancellation end the turn; later calls don't run then.

    A handler may be a plain or an asynchronous function. With a deadline or a cancellation it runs
    in its own thread: when time is up, a plain function is abandoned there, and an asynchronous one
    is cancelled. Otherwise it runs in the caller's thread.

    Args:
        calls: The model's calls.
        tools: The tools that the model was offered.
        context: Given to every handler; its deadline is observed. Its `bus` gets a `ToolInvoked`
            for each call.
        cancellation: Ends the turn once set.
        on_outcome: Called once per call: after it, or right before an expansion request, the
            deadline or the cancellation ends the turn.
        on_expansion: Called with a request to open sections; its outcome is that of the call, and
            later calls run. It may raise the request, as happens without it.

    Raises:
        VisibilityExpansionRequired: The model asked to open sections.
        EvaluationTimeoutError: The deadline passed.
        PromptEvaluationError: The caller cancelled.
    """
    by_name = {tool.name: tool for tool in tools}
    if context.evaluation_id is None:
        context = replace(context, evaluation_id=uuid.uuid4().hex)

    started = time.monotonic()

    def report(outcome: ToolOutcome) -> None:
        publish_call(
            replace(context, call_id=outcome.call.id),
            outcome.call.name,
            outcome.call.arguments if outcome.params is None else outcome.params,
            outcome.result,
            outcome.metadata,
            seconds=time.monotonic() - started,
        )
        if on_outcome is not None:
            on_outcome(outcome)

    outcomes = []
    for call in calls:
        check_bounds(f"the tool {call.name!r}", context.deadline, cancellation)
        started = time.monotonic()
        outcomes.append(_run(call, by_name, context, cancellation, report, on_expansion))
    return tuple(outcomes)


def tool_text(result: ToolResult[object]) -> str:
    """Return a result's text for the model: the message, then the value, as JSON unless text."""
    value = result.value
    if value is None:
        return result.message or ("Done." if result.success else "The tool failed.")
    shown = value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)
    if not result.message or result.message == shown:
        return shown
    return f"{result.message}\n\n{shown}"


def _run(  # noqa: PLR0917 - The parts of one dispatch.
    call: ToolCall,
    tools: Mapping[str, Tool[object, object]],
    context: ToolContext,
    cancellation: Cancellation | None,
    report: Callable[[ToolOutcome], object],
    on_expansion: Callable[[ToolCall, errors.VisibilityExpansionRequired], ToolOutcome] | None,
) -> ToolOutcome:
    try:
        if call.name not in tools:
            raise errors.ToolValidationError(_unknown(call.name, tools))
        tool = tools[call.name]
        params = tool.decode(call.arguments)
    except errors.ToolValidationError as error:
        outcome = ToolOutcome(call, _failed_result(str(error)))
        report(outcome)
        return outcome
    metadata = NO_METADATA

    def telemetry(raising: ToolTelemetry) -> None:
        nonlocal metadata
        metadata = raising.metadata
        if context.telemetry is not None:
            context.telemetry(raising)

    bound = replace(context, telemetry=telemetry, call_id=call.id)
    try:
        if context.deadline is None and cancellation is None:
            result = _call_handler(tool, params, bound, None)
        else:
            result = bounded(
                lambda scope: _call_handler(tool, params, bound, scope),
                what=f"the tool {tool.name!r}",
                deadline=context.deadline,
                cancellation=cancellation,
            )
    except errors.VisibilityExpansionRequired as request:
        ending = ToolOutcome(call, ToolResult(), params, metadata)
        if on_expansion is None:
            report(ending)
            raise
        try:
            outcome = replace(on_expansion(call, request), params=params, metadata=metadata)
        except errors.PromptError:
            report(ending)
            raise
    except BaseException as error:
        # Its handler's own errors are results: the deadline or the caller ended it.
        cut = _failed_result(str(error) or type_name(type(error)))
        report(ToolOutcome(call, cut, params, metadata))
        raise
    else:
        outcome = ToolOutcome(call, result, params, metadata)
    report(outcome)
    return outcome


def _call_handler(
    tool: Tool[object, object], params: object, context: ToolContext, scope: CancelScope | None
) -> ToolResult[object]:
    try:
        result: object = tool.handler(params, context=context)
        if inspect.isawaitable(result):
            result = _await(result, context.deadline, scope)
    except errors.VisibilityExpansionRequired:
        raise
    except Exception as error:
        if not isinstance(error, errors.ToolValidationError):
            _log.debug("The tool %r failed", tool.name, exc_info=True)
        return _failed_result(str(error) or type_name(type(error)))
    if not isinstance(result, ToolResult):
        what = f"its handler returned {type_name(type(result))} instead of a ToolResult"
        cure = "write `return ToolResult(message=…)`"
        warn_author(f"Tool {tool.name!r}: {what}: {cure}.", RuntimeWarning)
        return _failed_result(f"The tool {tool.name!r} is broken: {what}.")
    return result


def _await(
    awaitable: Awaitable[object], deadline: Deadline | None, scope: CancelScope | None
) -> object:
    # Most tools are plain functions, and this is the slowest import here.
    import asyncio

    async def until_cancelled(scope: CancelScope) -> object:
        loop = asyncio.get_running_loop()
        task: asyncio.Future[object] = asyncio.ensure_future(awaitable)

        def cancel() -> None:
            try:
                loop.call_soon_threadsafe(task.cancel)
            except RuntimeError:
                # The loop has just ended, so there is nothing to cancel.
                _log.debug("The handler ended by itself")

        scope.on_cancel(cancel)
        return await task

    if scope is None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            scope = CancelScope()
    if scope is not None:
        return asyncio.run(until_cancelled(scope))
    # This thread's event loop is blocked by the caller, so another one must run the handler.
    return bounded(
        lambda line: asyncio.run(until_cancelled(line)),
        what="an asynchronous tool",
        deadline=deadline,
        cancellation=None,
    )


def _failed_result(message: str) -> ToolResult[Any]:
    return ToolResult(message=message, value=None, success=False)


def _unknown(name: str, known: Mapping[str, object]) -> str:
    near = errors.near_names(name, known)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    offered = ", ".join(map(repr, known)) or "none"
    return f"There is no tool {name!r}.{hint} Tools: {offered}."
