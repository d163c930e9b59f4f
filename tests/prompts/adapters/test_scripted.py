"""Transcripts: played, recorded, compared with what happens."""

import asyncio
import pickle
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    Deadline,
    MarkdownSection,
    PromptTemplate,
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import (
    Exchange,
    PromptSeen,
    RecordingAdapter,
    ScriptedAdapter,
    ScriptedCall,
    ScriptedTurn,
    Transcript,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    EvaluationFailure,
    EvaluationTimeoutError,
    OutputParseError,
    PromptConfigurationError,
    PromptEvaluationError,
    PromptValidationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.runtime import TokenUsage, aevaluate_with_disclosure

if TYPE_CHECKING:
    from collections.abc import Iterator


@FrozenDataclass()
class Name:
    name: str = "Ada"


@FrozenDataclass()
class Finding:
    title: str


WEATHER = {"Oslo": "rain"}


def weather(params: Name, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult(value=WEATHER[params.name])


TEMPLATE = PromptTemplate(
    ns="t",
    key="hello",
    sections=[
        MarkdownSection[Name](
            title="Hello",
            key="hello",
            template="Greet ${name}.",
            tools=[Tool[Name, str](name="weather", description="Tells it.", handler=weather)],
        ),
        MarkdownSection[None](
            title="More",
            key="more",
            template="More.",
            summary="Less.",
            visibility=SectionVisibility.SUMMARY,
        ),
    ],
)
ASK = ScriptedTurn(tool_calls=(ScriptedCall("weather", {"name": "Oslo"}),), usage=TokenUsage(10, 1))


def script(*exchanges: Exchange) -> ScriptedAdapter:
    return ScriptedAdapter(Transcript(exchanges))


def refusal(adapter: ScriptedAdapter) -> str:
    with pytest.raises(PromptEvaluationError) as caught:
        adapter.evaluate(TEMPLATE)
    assert caught.value.kind is EvaluationFailure.SCRIPT
    return str(caught.value)


def test_turns_are_played_with_real_tools_and_their_usage_is_added() -> None:
    adapter = ScriptedAdapter(
        Transcript.of([ASK, ScriptedTurn("It rains.", usage=TokenUsage(20, 2))])
    )
    response = adapter.evaluate(TEMPLATE)
    assert response.text == "It rains."
    assert response.usage == TokenUsage(30, 3)
    assert response.turns == 2
    (outcome,) = response.tool_outcomes
    assert outcome.result.value == "rain"
    assert adapter.remaining == 0


def test_a_recording_plays_again(tmp_path: Path) -> None:
    recording = RecordingAdapter(ScriptedAdapter(Transcript.of([ASK, ScriptedTurn("It rains.")])))
    said = recording.evaluate(TEMPLATE)
    assert said.provider == "scripted"
    path = tmp_path / "said.json"
    recording.transcript.save(path)
    transcript = Transcript.load(path)
    assert transcript == recording.transcript
    assert transcript.exchanges[0].turns[0].results == ("rain",)
    assert ScriptedAdapter(transcript).evaluate(TEMPLATE).text == said.text
    assert list(tmp_path.iterdir()) == [path]


def test_a_recording_holds_a_request_for_expansion() -> None:
    template = PromptTemplate(ns="t", key="o", sections=TEMPLATE.sections, disclosure="open")
    ask = ScriptedCall("open_sections", {"section_keys": ["more"], "reason": "why"})
    recording = RecordingAdapter(
        ScriptedAdapter(Transcript.of([ScriptedTurn("Let me see.", tool_calls=(ask,))]))
    )
    with pytest.raises(VisibilityExpansionRequired):
        recording.evaluate(template)
    with pytest.raises(VisibilityExpansionRequired):
        ScriptedAdapter(recording.transcript).evaluate(template)


def test_another_prompt_departs_from_the_transcript_and_shows_where() -> None:
    rendered = TEMPLATE.render(Name("Bob"))
    seen = PromptSeen(rendered.text, ("weather", "read_section"))
    adapter = script(Exchange((ScriptedTurn("Hi"),), seen))
    message = refusal(adapter)
    assert "-Greet Bob.\n+Greet Ada." in message
    assert "More" not in message


def test_other_tools_depart_from_the_transcript() -> None:
    seen = PromptSeen(TEMPLATE.render().text, ("weather",))
    message = refusal(script(Exchange((ScriptedTurn("Hi"),), seen)))
    assert "the tools weather; the prompt now offers weather, read_section" in message


def test_another_result_departs_from_the_transcript() -> None:
    turn = ScriptedTurn(tool_calls=ASK.tool_calls, results=("snow",))
    message = refusal(script(Exchange((turn, ScriptedTurn("Hi")))))
    assert "'weather'" in message
    assert "-snow\n+rain" in message
    turn = ScriptedTurn(tool_calls=ASK.tool_calls, results=())
    assert "0 results for 1" in refusal(script(Exchange((turn, ScriptedTurn("Hi")))))


def test_a_transcript_that_is_too_short_says_so() -> None:
    assert "0 evaluations" in refusal(ScriptedAdapter(Transcript.of()))
    assert "ends after 1 messages" in refusal(ScriptedAdapter(Transcript.of([ASK])))


def test_a_long_difference_is_cut() -> None:
    seen = PromptSeen("\n".join(map(str, range(200))), ("weather", "read_section"))
    assert "more lines" in refusal(script(Exchange((ScriptedTurn("Hi"),), seen)))


def test_text_is_streamed_in_pieces_that_make_up_the_text() -> None:
    pieces: list[str] = []
    text = "  It rains\n in Oslo. "
    ScriptedAdapter(Transcript.of([ScriptedTurn(text)])).evaluate(TEMPLATE, on_text=pieces.append)
    assert "".join(pieces) == text
    assert len(pieces) == 4


def test_the_turn_limit_ends_a_model_that_only_calls_tools() -> None:
    adapter = ScriptedAdapter(lambda *_: ASK, max_turns=3)
    with pytest.raises(PromptEvaluationError, match="within 3 messages") as caught:
        adapter.evaluate(TEMPLATE)
    assert caught.value.kind is EvaluationFailure.TURN_LIMIT
    with pytest.raises(PromptConfigurationError):
        ScriptedAdapter(lambda *_: ASK, max_turns=0)


def test_a_passed_deadline_and_a_cancellation_ask_nobody() -> None:
    adapter = ScriptedAdapter(Transcript.of([ScriptedTurn("Hi")]))
    with pytest.raises(EvaluationTimeoutError) as caught:
        adapter.evaluate(TEMPLATE, deadline=Deadline.after(0))
    assert caught.value.provider == "scripted"
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(PromptEvaluationError, match="cancelled during"):
        adapter.evaluate(TEMPLATE, cancellation=cancelled)


def test_the_deadline_of_a_rendered_prompt_counts() -> None:
    adapter = ScriptedAdapter(lambda *_: "Hi")
    rendered = TEMPLATE.render(deadline=Deadline.after(0))
    with pytest.raises(EvaluationTimeoutError):
        adapter.evaluate(rendered)
    assert adapter.evaluate(rendered, deadline=Deadline.after(60)).text == "Hi"


@pytest.mark.parametrize(
    "text",
    [
        '[{"title": "a"}, {"title": "b"}]',
        '{"items": [{"title": "a"}, {"title": "b"}]}',
        'Here:\n```json\n[{"title": "a"}, {"title": "b"}]\n```',
    ],
)
def test_an_array_is_parsed_with_and_without_the_wrapper_of_strict_modes(text: str) -> None:
    template = PromptTemplate[list[Finding]](ns="t", key="list", sections=TEMPLATE.sections)
    response = ScriptedAdapter(lambda *_: text).evaluate(template)
    assert response.output == [Finding("a"), Finding("b")]


def test_parsing_can_be_left_to_the_caller() -> None:
    template = PromptTemplate[Finding](ns="t", key="one", sections=TEMPLATE.sections)
    adapter = ScriptedAdapter(lambda *_: "no JSON")
    assert adapter.evaluate(template, parse_output=False).output is None
    with pytest.raises(OutputParseError) as caught:
        adapter.evaluate(template)
    assert caught.value.raw_response == "no JSON"


calls = st.builds(
    ScriptedCall,
    st.text(max_size=5),
    st.text(max_size=9) | st.dictionaries(st.text(max_size=3), st.integers() | st.none()),
    st.none() | st.text(max_size=4),
)


@given(
    st.lists(
        st.builds(
            Exchange,
            st.lists(
                st.builds(
                    ScriptedTurn,
                    st.text(max_size=9),
                    st.lists(calls, max_size=2).map(tuple),
                    st.none() | st.lists(st.text(max_size=5), max_size=2).map(tuple),
                ),
                max_size=2,
            ).map(tuple),
            st.none() | st.builds(PromptSeen, st.text(max_size=9)),
        ),
        max_size=3,
    )
)
def test_a_transcript_survives_json(exchanges: list[Exchange]) -> None:
    transcript = Transcript(tuple(exchanges), provider="p")
    assert Transcript.from_json(transcript.to_json()) == transcript


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "exchanges"),
        ('{"exchanges": [{"turns": [{"txt": ""}]}]}', r"\$\.exchanges\[0\]\.turns\[0\]"),
        ('{"exchanges": [], "format": 2}', "format 2"),
        ("{", "Expecting"),
    ],
)
def test_something_that_is_no_transcript_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Transcript.from_json(text)


@pytest.mark.parametrize("kind", [PromptEvaluationError, EvaluationTimeoutError])
def test_evaluation_errors_keep_their_fields_when_pickled(
    kind: type[PromptEvaluationError],
) -> None:
    error = kind("slow", provider="openai", status=429, request_id="r", retry_after=2.5, text="t")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == "slow"
    assert vars(copy) == vars(error)


async def test_an_evaluation_is_awaited_in_a_thread_with_the_same_arguments() -> None:
    threads: list[int] = []

    def answer(*_: object) -> str:
        threads.append(threading.get_ident())
        return '{"title": "Hi"}'

    template = PromptTemplate[Finding](ns="t", key="k", sections=TEMPLATE.sections)
    adapter = ScriptedAdapter(answer)
    response = await adapter.aevaluate(template, Name("Bob"), deadline=Deadline.after(60))
    assert response.output == Finding("Hi")
    assert threads != [threading.get_ident()]
    assert (await adapter.aevaluate(template, parse_output=False)).output is None
    with pytest.raises(PromptValidationError, match="No section of t/k takes Finding"):
        await adapter.aevaluate(template, Finding("x"))
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(PromptEvaluationError) as caught:
        await adapter.aevaluate(template, cancellation=cancelled)
    assert caught.value.kind is EvaluationFailure.CANCELLED


async def test_sections_are_opened_in_asynchronous_programs_too() -> None:
    docs = MarkdownSection[None](
        title="D",
        key="docs",
        template="All of it.",
        summary="Some.",
        visibility=SectionVisibility.SUMMARY,
    )
    template = PromptTemplate(ns="t", key="k", sections=[docs], disclosure="open")
    opens = ScriptedTurn(
        tool_calls=(ScriptedCall("open_sections", {"section_keys": ["docs"], "reason": "x"}),)
    )
    turns: Iterator[ScriptedTurn | str] = iter([opens, "Read.", opens])
    adapter = ScriptedAdapter(lambda *_: next(turns))
    response = await aevaluate_with_disclosure(adapter, template)
    assert (response.text, len(response.expansions)) == ("Read.", 1)
    with pytest.raises(VisibilityExpansionRequired) as caught:
        await adapter.aevaluate(template)
    assert "evaluate_with_disclosure" in caught.value.__notes__[0]


async def test_cancelling_the_task_cancels_the_evaluation() -> None:
    started, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def slow(params: Name, *, context: ToolContext) -> ToolResult[str]:
        loop.call_soon_threadsafe(started.set)
        try:
            await asyncio.Event().wait()
        finally:
            loop.call_soon_threadsafe(ended.set)
        raise AssertionError

    # An asynchronous handler: the library awaits what a handler returns.
    tool = Tool[Name, str](name="slow", description="Takes time.", handler=slow)
    section = MarkdownSection[None](title="T", key="t", template="x", tools=[tool])
    template = PromptTemplate(ns="t", key="k", sections=[section])
    turn = ScriptedTurn(tool_calls=(ScriptedCall("slow", {}),))
    async with asyncio.timeout(60):
        task = asyncio.create_task(ScriptedAdapter(lambda *_: turn).aevaluate(template))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await ended.wait()


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("deadline", 30, "a Deadline, such as Deadline.after"),
        ("conversation", "Hello", "a Conversation, such as"),
        ("session", "s", "a Session"),
        ("cancellation", True, "a threading.Event"),
        ("context_policy", "keep", "a ContextPolicy"),
        ("visibility_overrides", ["docs"], "a mapping of paths to visibilities"),
        ("chapter_params", {"extra"}, "a mapping of chapters' keys to instances"),
    ],
)
def test_a_wrong_argument_says_what_is_right(name: str, value: object, wanted: str) -> None:
    arguments: Any = {name: value}
    with pytest.raises(
        PromptConfigurationError, match=rf"`{name}` is {wanted}.*, not {re.escape(repr(value))}"
    ):
        ScriptedAdapter(Transcript(())).evaluate(PROMPT_FOR_ARGUMENTS, **arguments)


PROMPT_FOR_ARGUMENTS = PromptTemplate(
    ns="t", key="p", sections=[MarkdownSection[None](title="T", key="t", template="Hi.")]
)
