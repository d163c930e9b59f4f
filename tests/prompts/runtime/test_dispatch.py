"""Tool calls: decoded, run in order, answered; only four things end a turn."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

import pytest

from foldline.prompts import (
    Deadline,
    MarkdownSection,
    PromptTemplate,
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
    ToolTelemetry,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    EvaluationFailure,
    EvaluationTimeoutError,
    PromptEvaluationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.runtime import (
    InProcessEventBus,
    ToolCall,
    ToolInvoked,
    ToolOutcome,
    dispatch_tool_calls,
    tool_text,
)

from ..deadlines import PassesAt


@FrozenDataclass()
class Search:
    query: str
    limit: int = 10


@FrozenDataclass()
class Hit:
    path: str


class Recorder:
    """Tools that write down what they were called with."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.threads: list[int] = []
        self.began = threading.Event()
        self.release = threading.Event()
        self.cancelled = threading.Event()

    @property
    def tools(self) -> tuple[Tool[object, object], ...]:
        handlers = {
            "search": self.search,
            "slow": self.slow,
            "broken": self.broken,
            "wrong": self.wrong,
        }
        plain = [
            Tool[Search, object](name=name, description="Does it.", handler=handler)
            for name, handler in handlers.items()
        ]
        later = [
            Tool[Search, object](
                name=name, description="Does it.", handler=handler
            )  # Awaitable results are accepted at run time.
            for name, handler in {"asearch": self.asearch, "aslow": self.aslow}.items()
        ]
        nothing = Tool[None, object](name="nothing", description="Does it.", handler=self.nothing)
        return (*plain, *later, nothing)

    def search(self, params: Search, *, context: ToolContext) -> ToolResult[object]:
        self.calls.append(params.query)
        self.threads.append(threading.get_ident())
        return ToolResult(f"found {params.limit}", (Hit("a.py"),))

    def slow(self, params: Search, *, context: ToolContext) -> ToolResult[object]:
        self.calls.append(params.query)
        self.began.set()
        self.release.wait(30)
        return ToolResult("late")

    def broken(self, params: Search, *, context: ToolContext) -> ToolResult[object]:
        raise KeyError if params.query == "silent" else RuntimeError(f"no {params.query}")

    def wrong(self, params: Search, *, context: ToolContext) -> ToolResult[object]:
        return params.query  # type: ignore[return-value]  # What a careless author does.

    def nothing(self, params: None, *, context: ToolContext) -> ToolResult[object]:
        return ToolResult(value=params)

    async def asearch(self, params: Search, *, context: ToolContext) -> ToolResult[object]:
        await asyncio.sleep(0)
        self.calls.append(f"async {params.query}")
        return ToolResult("found later")

    async def aslow(self, params: Search, *, context: ToolContext) -> ToolResult[object]:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        raise AssertionError


def run(
    recorder: Recorder,
    calls: Sequence[ToolCall],
    *,
    deadline: Deadline | None = None,
    cancellation: threading.Event | None = None,
    bus: InProcessEventBus | None = None,
    on_outcome: Callable[[ToolOutcome], object] | None = None,
) -> tuple[ToolOutcome, ...]:
    return dispatch_tool_calls(
        calls,
        recorder.tools,
        context=ToolContext(deadline=deadline, bus=bus),
        cancellation=cancellation,
        on_outcome=on_outcome,
    )


def test_calls_run_in_order_and_arguments_become_the_dataclass() -> None:
    recorder = Recorder()
    outcomes = run(
        recorder,
        [
            ToolCall("1", "search", '{"query": "a"}'),
            ToolCall("2", "asearch", {"query": "b", "limit": 3}),
            ToolCall("3", "search", {"query": "c", "limit": 3}),
        ],
    )
    assert recorder.calls == ["a", "async b", "c"]
    assert [outcome.call.id for outcome in outcomes] == ["1", "2", "3"]
    assert [outcome.params for outcome in outcomes] == [Search("a"), Search("b", 3), Search("c", 3)]
    assert outcomes[0].result == ToolResult("found 10", (Hit("a.py"),))
    assert set(recorder.threads) == {threading.get_ident()}, "without bounds no thread is needed"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ToolCall("1", "serach", "{}"), "There is no tool 'serach'. Did you mean 'search'"),
        (ToolCall("1", "search", '{"query": '), "not JSON"),
        (ToolCall("1", "search", "[]"), "must be a JSON object"),
        (ToolCall("1", "search", "{}"), "query"),
        (ToolCall("1", "search", {"query": "a", "limt": 1}), "'limit'"),
        (ToolCall("1", "search", {"query": "a", "limit": 3.5}), "$.limit"),
        (ToolCall("1", "nothing", {"query": "a"}), "takes no arguments"),
        (ToolCall("1", "broken", {"query": "luck"}), "no luck"),
        (ToolCall("1", "broken", {"query": "silent"}), "KeyError"),
    ],
)
def test_what_is_wrong_becomes_a_failed_result_that_says_what_to_mend(
    call: ToolCall, told: str
) -> None:
    recorder = Recorder()
    reported: list[ToolOutcome] = []
    outcomes = dispatch_tool_calls(
        [call, ToolCall("2", "search", {"query": "goes on"})],
        recorder.tools,
        context=ToolContext(),
        on_outcome=reported.append,
    )
    assert not outcomes[0].result.success
    assert outcomes[0].result.value is None
    assert told in outcomes[0].result.message
    assert outcomes[1].result.success
    assert tuple(reported) == outcomes


def test_a_handler_that_returns_no_result_is_told_to_the_model_and_to_its_author() -> None:
    told = "its handler returned str instead of a ToolResult"
    with pytest.warns(RuntimeWarning, match=f"Tool 'wrong': {told}: write `return ToolResult") as w:
        (outcome,) = run(Recorder(), [ToolCall("1", "wrong", {"query": "text"})])
    assert [one.filename for one in w] == [__file__]
    assert not outcome.result.success
    assert outcome.result.message == f"The tool 'wrong' is broken: {told}."


def test_an_expansion_request_propagates_and_ends_the_turn() -> None:
    rendered = PromptTemplate(
        ns="t",
        key="t",
        disclosure="open",
        sections=[
            MarkdownSection[None](
                title="Docs",
                key="docs",
                template="All.",
                summary="Some.",
                visibility=SectionVisibility.SUMMARY,
            )
        ],
    ).render()
    recorder = Recorder()
    order: list[str] = []
    for deadline in (None, Deadline.after(60)):
        recorder.calls.clear()
        order.clear()
        with pytest.raises(VisibilityExpansionRequired) as caught:
            dispatch_tool_calls(
                [
                    ToolCall("1", "search", {"query": "before"}),
                    ToolCall("2", "open_sections", {"section_keys": ["nope"], "reason": "?"}),
                    ToolCall("3", "open_sections", {"section_keys": ["docs"], "reason": "why"}),
                    ToolCall("4", "search", {"query": "after"}),
                ],
                [*recorder.tools, *rendered.tools],
                context=ToolContext(
                    deadline=deadline, telemetry=lambda told: order.append(_keys(told))
                ),
                on_outcome=lambda outcome: order.append(
                    f"{outcome.call.id} {outcome.result.success}"
                ),
            )
        assert recorder.calls == ["before"]
        assert order == ["1 True", "nope", "2 False", "docs", "3 True"]
        assert caught.value.section_keys == ("docs",)


def _keys(told: ToolTelemetry) -> str:
    return ", ".join(told.metadata["requested_sections"])  # type: ignore[arg-type]  # A list.


def test_dispatch_publishes_each_call_on_the_bus_of_its_context() -> None:
    recorder = Recorder()
    bus = InProcessEventBus()
    events: list[ToolInvoked] = []
    bus.subscribe(ToolInvoked, events.append)
    calls = [
        ToolCall("1", "search", {"query": "x"}),
        ToolCall("2", "serch", {}),
        ToolCall("3", "search", "no JSON"),
    ]
    dispatch_tool_calls(calls, recorder.tools, context=ToolContext(bus=bus, turn=4))
    assert [(event.call_id, event.name, event.success) for event in events] == [
        ("1", "search", True),
        ("2", "serch", False),
        ("3", "search", False),
    ]
    assert {event.turn for event in events} == {4}
    assert len({event.evaluation_id for event in events}) == 1
    assert events[2].params == "no JSON"


def test_a_tool_of_ones_own_that_asks_for_an_expansion_is_published_too() -> None:
    def expand(params: Search, *, context: ToolContext) -> NoReturn:
        raise VisibilityExpansionRequired(requested_overrides={}, reason="r", section_keys=("a",))

    own = Tool[Search, None](name="expand", description="Expand.", handler=expand)
    bus = InProcessEventBus()
    events: list[ToolInvoked] = []
    bus.subscribe(ToolInvoked, events.append)
    with pytest.raises(VisibilityExpansionRequired):
        dispatch_tool_calls(
            [ToolCall("1", "expand", {"query": "x"})], [own], context=ToolContext(bus=bus)
        )
    assert [event.name for event in events] == ["expand"]


def test_a_tool_that_overruns_the_deadline_is_left_behind() -> None:
    recorder = Recorder()
    outcomes: list[ToolOutcome] = []
    with pytest.raises(EvaluationTimeoutError, match="'slow'") as caught:
        run(
            recorder,
            [ToolCall("1", "slow", {"query": "x"}), ToolCall("2", "search", {"query": "y"})],
            deadline=PassesAt(recorder.began),
            cancellation=threading.Event(),
            on_outcome=outcomes.append,
        )
    recorder.release.set()
    assert recorder.calls == ["x"]
    assert [(o.call.id, o.params, o.result.success, o.result.message) for o in outcomes] == [
        ("1", Search("x"), False, "The deadline passed during the tool 'slow'.")
    ]
    assert caught.value.kind is EvaluationFailure.TIMEOUT
    assert isinstance(caught.value, TimeoutError)


def test_an_asynchronous_tool_that_overruns_the_deadline_is_cancelled() -> None:
    recorder = Recorder()
    calls = [ToolCall("1", "aslow", {"query": "x"})]
    with pytest.raises(EvaluationTimeoutError):
        run(recorder, calls, deadline=PassesAt(recorder.began), cancellation=threading.Event())
    assert recorder.cancelled.wait(10)


def test_a_deadline_ends_a_call_that_no_cancellation_could_end() -> None:
    recorder = Recorder()
    with pytest.raises(EvaluationTimeoutError):
        run(recorder, [ToolCall("1", "slow", {"query": "x"})], deadline=Deadline.after(0.05))
    recorder.release.set()


def test_a_passed_deadline_runs_nothing() -> None:
    recorder = Recorder()
    with pytest.raises(EvaluationTimeoutError):
        run(
            recorder, [ToolCall("1", "search", {"query": "x"})], deadline=Deadline(time.monotonic())
        )
    assert recorder.calls == []


@pytest.mark.parametrize("tool", ["slow", "aslow"])
def test_a_cancellation_ends_a_running_call(tool: str) -> None:
    recorder = Recorder()
    bus = InProcessEventBus()
    events: list[ToolInvoked] = []
    bus.subscribe(ToolInvoked, events.append)
    with pytest.raises(PromptEvaluationError) as caught:
        run(recorder, [ToolCall("1", tool, {"query": "x"})], cancellation=recorder.began, bus=bus)
    recorder.release.set()
    message = f"The evaluation was cancelled during the tool '{tool}'."
    assert [(e.params, e.success, e.message) for e in events] == [(Search("x"), False, message)]
    assert caught.value.kind is EvaluationFailure.CANCELLED


async def test_an_asynchronous_tool_runs_inside_a_running_loop() -> None:
    recorder = Recorder()
    run(recorder, [ToolCall("1", "asearch", {"query": "x"})])
    assert recorder.calls == ["async x"]


def test_a_bounded_tool_sees_the_callers_context() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    def look(params: None, *, context: ToolContext) -> ToolResult[str]:
        return ToolResult(value=variable.get())

    variable.set("set")
    (outcome,) = dispatch_tool_calls(
        [ToolCall("1", "look")],
        [Tool[None, str](name="look", description="Looks.", handler=look)],
        context=ToolContext(deadline=Deadline.after(60)),
    )
    assert outcome.result.value == "set"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult("Found it.", (Hit("é.py"),)), 'Found it.\n\n[{"path": "é.py"}]'),
        (ToolResult("", {"a": 1}), '{"a": 1}'),
        (ToolResult("same", "same"), "same"),
        (ToolResult("", "value"), "value"),
        (ToolResult("message"), "message"),
        (ToolResult(), "Done."),
        (ToolResult(success=False), "The tool failed."),
    ],
)
def test_a_result_as_the_model_reads_it(result: ToolResult[object], text: str) -> None:
    assert tool_text(result) == text
