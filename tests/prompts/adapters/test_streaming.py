"""Streams: texts, calls, results, openings and usage in one iterator, for each provider."""

import asyncio
import threading

import pytest

from foldline.prompts import (
    MarkdownSection,
    PartialOutput,
    PromptTemplate,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import (
    Appending,
    ScriptedAdapter,
    ScriptedCall,
    ScriptedTurn,
    Transcript,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    EvaluationFailure,
    PromptConfigurationError,
    PromptEvaluationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.runtime import (
    EvaluationStream,
    InProcessEventBus,
    ModelAnswered,
    PromptExecuted,
    PromptRendered,
    PromptStopped,
    SectionsOpened,
    Session,
    StreamEvent,
    TextDelta,
    ToolInvoked,
    stream_with_disclosure,
)
from foldline.prompts.runtime.bounded import EVALUATION_THREAD_NAME

from .providers import Provider, Reply
from .wires import Line, Said, Wire


@FrozenDataclass()
class City:
    name: str


@FrozenDataclass()
class Trip:
    name: str
    days: tuple[int, ...] = ()


def weather(params: City, *, context: ToolContext) -> ToolResult[str]:
    del context
    return ToolResult(value=f"Rain in {params.name}.")


SECTIONS = [
    TaskSection[Task](
        tools=[Tool[City, str](name="weather", description="Tells it.", handler=weather)]
    ),
    MarkdownSection[None](
        title="Docs",
        key="docs",
        template="All docs.",
        summary="Some.",
        visibility=SectionVisibility.SUMMARY,
    ),
]
PROMPT = PromptTemplate(ns="t", key="stream", sections=SECTIONS, disclosure="open").bind(
    Task("How is the weather?")
)
OPENING: dict[str, object] = {"section_keys": ["docs"], "reason": "To know"}


def told(event: StreamEvent[object]) -> tuple[object, ...]:
    """What a reader of a stream sees of an event."""
    match event:
        case TextDelta():
            return ("text", event.turn, event.text)
        case ModelAnswered():
            names = tuple(call.name for call in event.calls)
            assert names == event.tool_calls
            return ("message", event.turn, event.text, names, event.usage.total)
        case ToolInvoked():
            return ("result", event.turn, event.name, event.success)
        case SectionsOpened():
            return ("opened", event.section_keys, event.appended)
        case PromptStopped():
            return ("stopped", type(event.error))
    return (type(event),)


ANSWERED = [
    (PromptRendered,),
    ("text", 1, "I "),
    ("text", 1, "look."),
    ("message", 1, "I look.", ("weather",), 25),
    ("result", 1, "weather", True),
    ("text", 2, "It "),
    ("text", 2, "rains."),
    ("message", 2, "It rains.", (), 25),
    (PromptExecuted,),
]


@pytest.fixture
def line(provider: Provider, wire: Wire) -> Line:
    made = Line(wire, provider, streaming=True)
    made.will_say(Said("I look.", (("weather", {"name": "Oslo"}),)), Said("It rains."))
    return made


async def test_what_is_said_before_calls_is_told_from_the_answer(line: Line) -> None:
    async with line.adapter().stream(PROMPT) as events:
        seen = [told(event) async for event in events]
        assert [event async for event in events] == []
    assert [*seen[:7], (*seen[7][:4], 25), seen[8]] == ANSWERED
    assert seen[3][4] == seen[7][4] == events.response.usage.total / 2
    assert events.response.text == "It rains."


async def test_a_typed_answer_is_there_before_its_end(wire: Wire, provider: Provider) -> None:
    line = Line(wire, provider, streaming=True)
    line.will_say(Said('{"name": "New York City", "days": [1, 2]}'))
    section = MarkdownSection[None](title="T", key="t", template="Where?")
    template = PromptTemplate[Trip](ns="t", key="typed", sections=[section])
    adapter = line.adapter()
    async with adapter.stream(template) as events:
        seen = [event.value async for event in events if isinstance(event, PartialOutput)]
    assert seen[:3] == [Trip(""), Trip("New "), Trip("New York ")]
    assert seen[-2:] == [Trip("New York City", (1,)), Trip("New York City", (1, 2))]
    assert events.response.output == seen[-1]
    line.will_say(Said('{"name": "Rome"}'))
    async with adapter.stream(template, parse_output=False) as events:
        assert not [event async for event in events if isinstance(event, PartialOutput)]


@pytest.mark.parametrize("append", [True, False])
async def test_openings_are_in_the_stream(append: bool) -> None:
    script = Transcript.of(
        [ScriptedTurn("Docs?", (ScriptedCall("open_sections", OPENING),)), ScriptedTurn("Read.")]
    )
    if not append:
        script = Transcript.of(*([turn] for turn in script.exchanges[0].turns))
    adapter = ScriptedAdapter(script, appending=Appending() if append else None)
    async with stream_with_disclosure(adapter, PROMPT) as events:
        seen = [told(event) async for event in events]
    turn = 2 if append else 1
    again = [("stopped", VisibilityExpansionRequired)] if not append else []
    assert seen == [
        (PromptRendered,),
        ("text", 1, "Docs?"),
        ("message", 1, "Docs?", ("open_sections",), 0),
        ("result", 1, "open_sections", True),
        *again,
        ("opened", ("docs",), append),
        *([] if append else [(PromptRendered,)]),
        ("text", turn, "Read."),
        ("message", turn, "Read.", (), 0),
        (PromptExecuted,),
    ]
    assert events.response.expansions[0].section_keys == ("docs",)


async def test_an_error_comes_after_what_was_heard(wire: Wire, provider: Provider) -> None:
    line = Line(wire, provider, streaming=True)
    provider.will(Reply(pieces=line.wire.streamed(Said("one two", stop="none")), cut=True))
    seen: list[tuple[object, ...]] = []

    async def read(events: EvaluationStream[None]) -> None:
        async for event in events:
            seen.append(told(event))  # noqa: PERF401 - What came before the error is kept.

    async with line.adapter(max_retries=0).stream(PROMPT) as events:
        with pytest.raises(PromptEvaluationError) as caught:
            await read(events)
        assert [event async for event in events] == []
    assert caught.value.kind is EvaluationFailure.CONNECTION
    assert ("text", 1, "one ") in seen
    assert caught.value.text == "".join(str(told[2]) for told in seen if told[0] == "text")
    assert seen[-1] == ("stopped", PromptEvaluationError)
    with pytest.raises(PromptConfigurationError, match="iterate over the stream to its end"):
        _ = events.response


async def test_leaving_in_the_middle_ends_the_request(wire: Wire, provider: Provider) -> None:
    line = Line(wire, provider, streaming=True)
    provider.will(Reply(pieces=line.wire.streamed(Said("one two", stop="none")), drip=True))
    async with line.adapter(timeout=600).stream(PROMPT) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert await asyncio.to_thread(provider.readers_gone.wait, 10)
    # The fixture of the provider finds no thread.


def test_a_cancelled_evaluation_has_the_text_so_far(wire: Wire, provider: Provider) -> None:
    provider.will(Reply(pieces=wire.streamed(Said("one two", stop="none")), drip=True))
    stop, heard = threading.Event(), list[str]()

    def hear(text: str) -> None:
        heard.append(text)
        stop.set()

    with pytest.raises(PromptEvaluationError) as caught:
        wire.adapter(provider, timeout=600).evaluate(PROMPT, on_text=hear, cancellation=stop)
    assert caught.value.kind is EvaluationFailure.CANCELLED
    assert caught.value.text == "".join(heard) != ""


async def test_cancelling_what_reads_a_stream_ends_it(wire: Wire, provider: Provider) -> None:
    provider.will(Reply(hang=True))
    adapter = wire.adapter(provider, timeout=600)

    async def read() -> None:
        async with adapter.stream(PROMPT) as events:
            async for _ in events:
                pass

    task = asyncio.create_task(read())
    await asyncio.to_thread(provider.lingers.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_callers_own_bus_session_and_listener_hear_it_too() -> None:
    session, bus = Session(), InProcessEventBus()
    by_session: list[PromptExecuted] = []
    by_bus: list[PromptExecuted] = []
    heard: list[str] = []
    session.bus.subscribe(PromptExecuted, by_session.append)
    bus.subscribe(PromptExecuted, by_bus.append)
    adapter = ScriptedAdapter(lambda *_: "Fine.")
    async with adapter.stream(PROMPT, session=session, on_text=heard.append) as events:
        seen = [event async for event in events]
    async with adapter.stream(PROMPT, session=session, bus=bus) as events:
        seen += [event async for event in events]
    assert heard == ["Fine."]
    assert len(by_session) == len(by_bus) == 1
    assert {event.session_id for event in [*by_session, *by_bus]} == {session.session_id}
    assert len([event for event in seen if isinstance(event, PromptExecuted)]) == 2


async def test_streams_are_bounded_with_the_other_evaluations() -> None:
    go_on = threading.Event()

    def answer(*_: object) -> str:
        go_on.wait(60)
        return "Fine."

    adapter = ScriptedAdapter(answer, max_concurrency=1)
    async with adapter.stream(PROMPT) as events:
        other = asyncio.create_task(adapter.aevaluate(PROMPT))
        await asyncio.sleep(0)
        threads = [t for t in threading.enumerate() if t.name == EVALUATION_THREAD_NAME]
        go_on.set()
        async for _ in events:
            pass
        assert not other.done()
    assert len(threads) == 1
    assert (await other).text == events.response.text == "Fine."


@pytest.fixture
def events() -> EvaluationStream[None]:
    return ScriptedAdapter(lambda *_: "Fine.").stream(PROMPT)


async def test_a_stream_that_is_not_entered_says_how(events: EvaluationStream[None]) -> None:
    with pytest.raises(PromptConfigurationError, match="Enter the stream first"):
        await anext(events)


async def test_a_stream_runs_once(events: EvaluationStream[None]) -> None:
    async with events:
        assert [event async for event in events]
    with pytest.raises(PromptConfigurationError, match="runs once; call `stream` again"):
        await events.__aenter__()


async def test_a_wrong_argument_is_the_same_error_as_elsewhere() -> None:
    events = ScriptedAdapter(lambda *_: "Fine.").stream(PROMPT, on_txt=print)  # type: ignore[call-arg]
    async with events:
        with pytest.raises(TypeError, match="unexpected keyword argument 'on_txt'"):
            await anext(events)
