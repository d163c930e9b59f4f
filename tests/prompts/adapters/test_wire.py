"""OpenAI's and Anthropic's adapters on the wire: what they send, and what they make of answers."""

import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.prompts import (
    Chapter,
    ContextPolicy,
    Deadline,
    MarkdownSection,
    PromptTemplate,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import ScriptedAdapter, render_for_evaluation
from foldline.prompts.adapters.anthropic import AnthropicAdapter
from foldline.prompts.adapters.openai import OpenAIAdapter
from foldline.prompts.adapters.openai_responses import OpenAIResponsesAdapter
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    EvaluationFailure,
    EvaluationTimeoutError,
    OutputParseError,
    PromptConfigurationError,
    PromptEvaluationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.runtime import (
    Conversation,
    Expansion,
    InProcessEventBus,
    ModelAnswered,
    PromptExecuted,
    PromptRendered,
    PromptResponse,
    PromptStopped,
    Session,
    TokenUsage,
    ToolInvoked,
    evaluate_with_disclosure,
)
from foldline.prompts.runtime.bounded import THREAD_NAME

from ..deadlines import PassesAt
from .providers import Json, Provider, Reply, serving
from .responses_wire import OpenAIResponsesWire
from .wire.simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
    Simulator,
)
from .wire.validation import check
from .wires import Line, OpenAIWire, Said, Wire

FULL, SUMMARY = SectionVisibility


@FrozenDataclass()
class City:
    name: str
    days: int = 1


@FrozenDataclass()
class Finding:
    title: str
    line: int | None = None


@FrozenDataclass()
class Anything:
    values: dict[str, int]


asked: list[City] = []


def weather(params: City, *, context: ToolContext) -> ToolResult[str]:
    asked.append(params)
    if params.name == "Atlantis":
        raise LookupError("no such city")
    return ToolResult(value=f"Rain in {params.name}.")


SECTIONS = [
    TaskSection[Task](
        tools=[Tool[City, str](name="weather", description="Tells it.", handler=weather)]
    ),
    MarkdownSection[None](
        title="Docs", key="docs", template="All docs.", summary="Some.", visibility=SUMMARY
    ),
]
TEMPLATE = PromptTemplate(ns="t", key="wire", sections=SECTIONS, disclosure="open")
PROMPT = TEMPLATE.bind(Task("How is the weather?"))


def evaluate(line: Line, *, prompt: Any = PROMPT, **settings: Any) -> Any:
    adapter = line.adapter(**settings)
    return adapter.evaluate(prompt, on_text=line.on_text)


def failure(line: Line, **settings: Any) -> PromptEvaluationError:
    with pytest.raises(PromptEvaluationError) as caught:
        evaluate(line, **settings)
    assert caught.value.provider == line.wire.name
    return caught.value


def check_request(wire: Wire, request: Json) -> None:
    """The request is what the SDK's own types say."""
    check(wire.api, request)


def declared(wire: Wire, request: Json) -> Json:
    """The output that a request to OpenAI declares."""
    if wire.api == "openai":
        found: Json = request["response_format"]["json_schema"]
    else:
        found = request["text"]["format"]
    return found


def test_an_answer_comes_back_with_its_usage_and_ids(line: Line) -> None:
    line.will_say(Said("It rains in Oslo."))
    response = evaluate(line)
    assert response.text == "It rains in Oslo."
    assert response.usage == TokenUsage(20, 5, 8, 3)
    assert response.model == "test-model-1"
    assert response.request_id == "req_1"
    assert response.turns == 1
    (request,) = line.provider.requests
    assert line.wire.sent(request) == [{"role": "user", "content": response.rendered.text}]
    assert request.get("stream", False) is line.streaming
    assert "".join(line.heard) == ("It rains in Oslo." if line.streaming else "")
    if line.streaming:
        assert len(line.heard) > 1
    check_request(line.wire, request)


@pytest.mark.parametrize("kind", ["plain", "output", "chapters", "handles", "loop"])
def test_the_request_to_look_at_is_what_an_evaluation_sends(line: Line, kind: str) -> None:
    prompt: Any = PROMPT
    settings: dict[str, Any] = {}
    if kind == "output":
        prompt = PromptTemplate[Finding](ns="t", key="o", sections=SECTIONS).bind(Task("Find."))
    if kind == "chapters":
        more = MarkdownSection[None](title="More", key="more", template="Much more.")
        chapter = Chapter[None](title="C", key="c", sections=[more])
        template = PromptTemplate(ns="t", key="c", sections=SECTIONS, chapters=[chapter])
        prompt = template.bind(Task("Go."))
    if kind == "handles":
        settings["context_policy"] = ContextPolicy(handles=True)
    if kind == "loop":
        # A folded tool is called by another one, or deferred.
        tool = Tool[City, str](name="more", description="Tells more.", handler=weather)
        folded = SECTIONS[1].clone(tools=[tool])
        prompt = PromptTemplate(ns="t", key="l", sections=[SECTIONS[0], folded]).bind(Task("Go."))
    adapter: Any = line.adapter(**settings)
    body = adapter.request(prompt, loop=kind == "loop")
    assert (body == adapter.request(prompt)) is (kind != "loop")
    assert line.provider.requests == []
    line.will_say(Said('{"title": "a", "line": 3}'))
    if kind == "loop":
        evaluate_with_disclosure(adapter, prompt, on_text=line.on_text)
    else:
        evaluate(line, prompt=prompt, **settings)
    (request,) = line.provider.requests
    sent = {key: request[key] for key in request if key not in ("stream", "stream_options")}
    assert json.loads(json.dumps(body)) == sent
    assert ("Much more." in json.dumps(body)) is (kind == "chapters")


@pytest.mark.parametrize("kind", [OpenAIAdapter, OpenAIResponsesAdapter, AnthropicAdapter])
def test_the_request_to_look_at_needs_no_key(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    body = kind(model="m").request(TEMPLATE, Task("How is the weather?"))
    assert (body["model"], "How is the weather?" in json.dumps(body)) == ("m", True)
    closed = render_for_evaluation(PROMPT, visibility_overrides={("docs",): FULL})
    assert "All docs." in json.dumps(kind(model="m").request(closed))


def test_parallel_calls_run_in_order_and_their_results_go_back(line: Line) -> None:
    asked.clear()
    calls: tuple[tuple[str, object], ...] = (
        ("weather", {"name": "Oslo"}),
        ("weather", {"name": "Atlantis"}),
        ("wether", {}),
        ("weather", {"name": "Rome", "days": "many"}),
        ("weather", {"name": "Rome", "days": 2}),
    )
    line.will_say(Said("Let me look.", calls), Said("Rain."))
    response = evaluate(line)
    assert asked == [City("Oslo"), City("Atlantis"), City("Rome", 2)]
    assert response.text == "Rain."
    assert response.usage == TokenUsage(40, 10, 16, 6)
    assert [o.result.success for o in response.tool_outcomes] == [True, False, False, False, True]
    for request in line.provider.requests:
        check_request(line.wire, request)
    first, second = line.provider.requests
    assert line.wire.sent(second)[0] == line.wire.sent(first)[0]
    assert second["tools"] == first["tools"]
    told = line.wire.tool_results(second)
    assert [(name, success) for name, _, success in told] == [
        ("call_0", True),
        ("call_1", False),
        ("call_2", False),
        ("call_3", False),
        ("call_4", True),
    ]
    texts = [text for _, text, _ in told]
    assert texts[0] == "Rain in Oslo."
    assert "no such city" in texts[1]
    assert "Did you mean 'weather'" in texts[2]
    assert "$.days" in texts[3]


def test_the_models_own_message_goes_back_unchanged(line: Line) -> None:
    line.will_say(Said("Let me look.", (("weather", {"name": "Oslo"}),)), Said("Rain."))
    evaluate(line)
    message = line.wire.sent(line.provider.requests[1])[1]
    assert message["role"] == "assistant"
    if line.wire.api == "openai-responses":
        assert message["content"][0]["text"] == "Let me look."
        call = line.wire.sent(line.provider.requests[1])[2]
        assert (call["type"], call["call_id"]) == ("function_call", "call_0")
        assert json.loads(call["arguments"]) == {"name": "Oslo"}
    elif line.wire.api == "openai":
        assert message["content"] == "Let me look."
        (call,) = message["tool_calls"]
        assert call["id"] == "call_0"
        assert json.loads(call["function"]["arguments"]) == {"name": "Oslo"}
    else:
        text, call = message["content"]
        assert text["text"] == "Let me look."
        assert (call["id"], call["input"]) == ("call_0", {"name": "Oslo"})


def test_the_tools_are_offered_with_their_schemas(line: Line) -> None:
    line.will_say(Said("Fine."))
    evaluate(line)
    tools = line.wire.tools(line.provider.requests[0])
    assert [tool["name"] for tool in tools] == ["weather", "open_sections"]
    schema = tools[0]["parameters"]
    assert schema["required"] == ["name"]
    assert schema["properties"]["days"] == {"type": "integer"}


@pytest.mark.parametrize("array", [False, True])
def test_a_declared_output_is_asked_for_natively(line: Line, array: bool) -> None:
    prompt: Any
    expected: object
    if array:
        prompt = PromptTemplate[list[Finding]](ns="t", key="o", sections=SECTIONS)
        said, expected = '{"items": [{"title": "a", "line": null}]}', [Finding("a")]
    else:
        prompt = PromptTemplate[Finding](ns="t", key="o", sections=SECTIONS)
        said, expected = '{"title": "a", "line": 3}', Finding("a", 3)
    line.will_say(Said(said))
    response = evaluate(line, prompt=prompt.bind(Task("Find.")))
    assert response.output == expected
    (request,) = line.provider.requests
    check_request(line.wire, request)
    if line.wire.name == "openai":
        described = declared(line.wire, request)
        assert described["strict"] is True
        assert described["name"] == "Finding"
        schema = described["schema"]
    else:
        schema = request["output_config"]["format"]["schema"]
    assert schema["additionalProperties"] is False
    item = schema["properties"]["items"]["items"] if array else schema
    assert item["required"] == ["title", "line"]


def test_an_answer_that_does_not_fit_carries_the_raw_response(line: Line) -> None:
    line.will_say(Said('{"titel": "a"}'))
    prompt = PromptTemplate[Finding](ns="t", key="o", sections=SECTIONS).bind(Task("Find."))
    with pytest.raises(OutputParseError) as caught:
        evaluate(line, prompt=prompt)
    assert caught.value.raw_response == '{"titel": "a"}'


def test_an_output_that_strict_modes_cannot_express(wire: Wire, provider: Provider) -> None:
    template = PromptTemplate[Anything](ns="t", key="o", sections=SECTIONS)
    adapter = wire.adapter(provider)
    if wire.name == "anthropic":
        with pytest.raises(PromptConfigurationError, match="mapping with arbitrary keys"):
            adapter.evaluate(template, Task("Go."))
        assert provider.requests == []
        return
    provider.will(wire.whole(Said('{"values": {"a": 1}}')))
    assert adapter.evaluate(template, Task("Go.")).output == Anything({"a": 1})
    assert declared(wire, provider.requests[0])["strict"] is False


def test_extra_keys_are_no_obstacle(wire: Wire, provider: Provider) -> None:
    template = PromptTemplate[Finding](ns="t", key="o", sections=SECTIONS, allow_extra_keys=True)
    provider.will(wire.whole(Said('{"title": "a", "extra": 1}')))
    assert wire.adapter(provider).evaluate(template, Task("Go.")).output == Finding("a")
    check_request(wire, provider.requests[0])


def test_the_whole_disclosure_flow_with_its_telemetry(line: Line) -> None:
    asked.clear()
    opening = {"section_keys": ["docs"], "reason": "need the API"}
    line.will_say(
        Said("", (("weather", {"name": "Oslo"}), ("open_sections", opening), ("weather", {}))),
        Said("Done."),
    )
    bus = InProcessEventBus()
    renders: list[PromptRendered] = []
    calls: list[ToolInvoked] = []
    answers: list[PromptExecuted] = []
    bus.subscribe(PromptRendered, renders.append)
    bus.subscribe(ToolInvoked, calls.append)
    bus.subscribe(PromptExecuted, answers.append)
    session = Session(bus=bus)
    response = evaluate_with_disclosure(
        line.adapter(), PROMPT, session=session, on_text=line.on_text, opening="render"
    )
    assert response.text == "Done."
    assert response.expansions == (
        Expansion(("docs",), "need the API", why="`opening` is 'render'"),
    )
    before, after = map(line.wire.sent, line.provider.requests)
    assert len(before) == len(after) == 1, "the second evaluation begins anew"
    assert "All docs." not in before[0]["content"]
    assert 'call `open_sections` with key "docs"' in before[0]["content"]
    assert "All docs." in after[0]["content"]
    assert "**Expansion Context:** Sections expanded: `docs`." in after[0]["content"]
    assert [t["name"] for t in _tools(line, 0)] == ["weather", "open_sections"]
    assert [t["name"] for t in _tools(line, 1)] == ["weather"]
    assert asked == [City("Oslo")], "what comes after the request does not run"
    assert [(call.name, call.turn, call.success) for call in calls] == [
        ("weather", 1, True),
        ("open_sections", 1, True),
    ]
    assert calls[1].metadata == {
        "requested_sections": ["docs"],
        "reason": "need the API",
        "current_visibility_state": {"task": "FULL", "docs": "SUMMARY"},
    }
    assert [event.provider for event in renders] == [line.wire.name] * 2
    assert [(e.text, e.turns, e.usage) for e in answers] == [("Done.", 1, TokenUsage(20, 5, 8, 3))]


def _tools(line: Line, request: int) -> list[Json]:
    return line.wire.tools(line.provider.requests[request])


def test_the_request_for_expansion_reaches_the_caller_itself(line: Line) -> None:
    line.will_say(Said("", (("open_sections", {"section_keys": ["docs"], "reason": "r"}),)))
    with pytest.raises(VisibilityExpansionRequired) as caught:
        line.adapter().evaluate(PROMPT, on_text=line.on_text, deadline=Deadline.after(60))
    assert caught.value.requested_overrides == {("docs",): FULL}


def test_a_refusal_is_an_error_with_what_the_model_said(line: Line) -> None:
    line.will_say(Said("I would rather not.", stop="refusal"))
    error = failure(line)
    assert error.kind is EvaluationFailure.REFUSAL
    assert error.text == "I would rather not."
    assert error.request_id == "req_1"


def test_a_truncated_answer_is_an_error_with_what_there_is(line: Line) -> None:
    line.will_say(Said("Once upon a", stop="length"))
    error = failure(line)
    assert error.kind is EvaluationFailure.TRUNCATED
    assert error.text == "Once upon a"
    assert "max_" in str(error)


def test_a_busy_provider_is_asked_again_after_the_time_it_names(line: Line) -> None:
    busy = Reply(line.wire.error("slow down"), 429, {"retry-after": "0.01"})
    line.provider.will(busy, busy)
    line.will_say(Said("Now."))
    assert evaluate(line).text == "Now."
    assert len(line.provider.requests) == 3


def test_a_provider_that_stays_busy_is_an_error_with_status_and_time(line: Line) -> None:
    headers = {"retry-after": "7", "x-request-id": "req_9", "request-id": "req_9"}
    line.provider.will(Reply(line.wire.error("slow down"), 429, headers))
    error = failure(line, max_retries=0)
    assert error.kind is EvaluationFailure.PROVIDER
    assert (error.status, error.request_id, error.retry_after) == (429, "req_9", 7.0)
    assert "slow down" in str(error)


def test_a_failing_provider_is_an_error_with_its_status(line: Line) -> None:
    line.provider.will(Reply(line.wire.error("broken"), 500, {"x-should-retry": "false"}))
    error = failure(line)
    assert (error.kind, error.status) == (EvaluationFailure.PROVIDER, 500)
    assert error.retry_after is None
    assert len(line.provider.requests) == 1


@pytest.mark.parametrize("body", ["{not json", "[]", "{}", '"text"', "null"])
def test_malformed_json_is_an_error(wire: Wire, provider: Provider, body: str) -> None:
    provider.will(Reply(body))
    with pytest.raises(PromptEvaluationError) as caught:
        wire.adapter(provider, max_retries=0).evaluate(PROMPT)
    assert caught.value.kind is EvaluationFailure.MALFORMED
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("event", ["{not json", "[]", '{"type": "surprise"}'])
def test_a_malformed_stream_is_an_error(wire: Wire, provider: Provider, event: str) -> None:
    provider.will(Reply(pieces=[f"data: {event}\n\n"]))
    with pytest.raises(PromptEvaluationError) as caught:
        wire.adapter(provider, max_retries=0).evaluate(PROMPT, on_text=print)
    assert caught.value.kind in (EvaluationFailure.MALFORMED, EvaluationFailure.CONNECTION)


@pytest.mark.parametrize("wire", [OpenAIWire(), OpenAIResponsesWire()], ids=lambda w: w.api)
def test_malformed_arguments_of_a_tool_go_back_to_the_model(provider: Provider, wire: Wire) -> None:
    for streaming in (False, True):
        line = Line(wire, provider, streaming)
        line.will_say(Said("", (("weather", '{"name": '),)), Said("Sorry."))
        assert evaluate(line).text == "Sorry."
        check_request(line.wire, provider.requests[-1])
        ((_, text, success),) = line.wire.tool_results(provider.requests[-1])
        assert not success
        assert "not JSON" in text


def test_a_connection_cut_in_a_whole_answer_is_an_error(wire: Wire, provider: Provider) -> None:
    reply = wire.whole(Said("never complete"))
    reply.cut = True
    provider.will(reply)
    with pytest.raises(PromptEvaluationError) as caught:
        wire.adapter(provider, max_retries=0).evaluate(PROMPT)
    assert caught.value.kind is EvaluationFailure.CONNECTION


@pytest.mark.parametrize("clean", [False, True], ids=["cut", "ended early"])
def test_a_stream_that_breaks_off_is_an_error(wire: Wire, provider: Provider, clean: bool) -> None:
    pieces = wire.streamed(Said("one two three four", stop="none"))
    provider.will(Reply(pieces=pieces[: None if clean else 6], cut=not clean))
    heard: list[str] = []
    with pytest.raises(PromptEvaluationError) as caught:
        wire.adapter(provider).evaluate(PROMPT, on_text=heard.append)
    assert caught.value.kind is EvaluationFailure.CONNECTION
    assert heard[0] == "one "
    assert len(provider.requests) == 1, "what was heard already is not asked for again"


def test_an_error_inside_a_stream_is_an_error(wire: Wire, provider: Provider) -> None:
    event = "event: error\n" if wire.name == "anthropic" else ""
    broken = f"{event}data: {json.dumps(wire.error('overloaded'))}\n\n"
    provider.will(Reply(pieces=[*wire.streamed(Said("one two"))[:5], broken]))
    with pytest.raises(PromptEvaluationError, match="overloaded") as caught:
        wire.adapter(provider).evaluate(PROMPT, on_text=lambda _: None)
    assert caught.value.kind is EvaluationFailure.PROVIDER


def test_nobody_at_the_other_end_is_an_error(wire: Wire, provider: Provider) -> None:
    provider.url = "http://127.0.0.1:9"
    with pytest.raises(PromptEvaluationError) as caught:
        wire.adapter(provider, max_retries=0).evaluate(PROMPT)
    assert caught.value.kind is EvaluationFailure.CONNECTION


@pytest.mark.parametrize("make", ["drip", "hang"])
def test_the_deadline_ends_a_slow_answer(line: Line, make: str) -> None:
    adapter = line.adapter(max_retries=0)
    pieces = line.wire.streamed(Said("a b", stop="none"))[:3] if line.streaming else None
    line.provider.will(Reply("", pieces=pieces, drip=True) if make == "drip" else Reply(hang=True))
    with pytest.raises(EvaluationTimeoutError) as caught:
        adapter.evaluate(
            PROMPT,
            on_text=line.on_text,
            deadline=PassesAt(line.provider.lingers),
            cancellation=threading.Event(),
        )
    assert caught.value.provider == line.wire.name
    if make == "drip":
        assert line.provider.readers_gone.wait(10), "the answer is read no further"


def test_the_deadline_ends_the_wait_for_another_try(
    wire: Wire, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.will(*[Reply(wire.error("later"), 429, {"retry-after": "1"})] * 2)
    waits, woken = threading.Event(), threading.Event()

    def sleep(seconds: float) -> None:
        if threading.current_thread().name == THREAD_NAME:
            waits.set()
            woken.wait(30)

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(EvaluationTimeoutError):
        wire.adapter(provider).evaluate(
            PROMPT, deadline=PassesAt(waits), cancellation=threading.Event()
        )
    woken.set()
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join(10)
    assert len(provider.requests) == 1, "the provider isn't asked after the deadline"


def test_a_silent_provider_runs_into_the_timeout(wire: Wire, provider: Provider) -> None:
    provider.will(Reply(hang=True))
    with pytest.raises(EvaluationTimeoutError, match="sent nothing"):
        wire.adapter(provider, timeout=0.2, max_retries=0).evaluate(PROMPT)


def test_a_cancellation_ends_a_request(line: Line) -> None:
    line.provider.will(Reply(hang=True))
    with pytest.raises(PromptEvaluationError) as caught:
        line.adapter(max_retries=0).evaluate(
            PROMPT, on_text=line.on_text, cancellation=line.provider.lingers
        )
    assert caught.value.kind is EvaluationFailure.CANCELLED


def test_text_is_heard_in_the_callers_thread_and_a_failing_listener_ends_the_evaluation(
    wire: Wire, provider: Provider
) -> None:
    line = Line(wire, provider, streaming=True)
    line.will_say(Said("one two three"), Said("one two three"))
    threads: set[int] = set()
    line.adapter().evaluate(PROMPT, on_text=lambda _: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}

    def fail(_: str) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        line.adapter().evaluate(PROMPT, on_text=fail)


def test_one_adapter_serves_many_threads(line: Line) -> None:
    line.will_say(*[Said("Fine.")] * 4)
    adapter = line.adapter()
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda: texts.append(adapter.evaluate(PROMPT).text))
        for _ in range(4)
    ]
    if line.streaming:
        line.provider.replies[:] = [line.wire.whole(Said("Fine."))] * 4
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["Fine."] * 4


def test_options_reach_the_request(wire: Wire, provider: Provider) -> None:
    provider.will(wire.whole(Said("Fine.")))
    options: dict[str, Json] = {
        "openai": {"seed": 3},
        "openai-responses": {"text": {"verbosity": "low"}},
        "anthropic": {"output_config": {"effort": "low"}},
    }
    option = options[wire.api]
    wire.adapter(provider, options=option).evaluate(PROMPT)
    (request,) = provider.requests
    assert option.items() <= request.items()
    check_request(wire, request)


def test_an_option_that_the_sdk_does_not_know_is_refused(wire: Wire, provider: Provider) -> None:
    with pytest.raises(PromptConfigurationError, match="did you mean 'service_tier'"):
        wire.adapter(provider, options={"servicetier": "auto"}).evaluate(PROMPT)


@pytest.mark.parametrize("option", ["model", "messages", "tools", "stream"])
def test_an_option_that_the_adapter_decides_is_refused(
    wire: Wire, provider: Provider, option: str
) -> None:
    if option == "messages" and wire.api == "openai-responses":
        option = "input"
    with pytest.raises(PromptConfigurationError, match=option):
        wire.adapter(provider, options={option: None})


def test_the_turn_limit_holds(line: Line) -> None:
    line.will_say(*[Said("", (("weather", {"name": "Oslo"}),))] * 2)
    error = failure(line, max_turns=2)
    assert error.kind is EvaluationFailure.TURN_LIMIT


@pytest.mark.parametrize("kind", [OpenAIAdapter, OpenAIResponsesAdapter, AnthropicAdapter])
def test_a_missing_sdk_says_how_to_install_it(
    kind: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(PromptConfigurationError, match=r"install foldline\["):
        kind(model="m")


@pytest.mark.parametrize("on_text", [None, print], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("kind", "variable"),
    [
        (OpenAIAdapter, "OPENAI_API_KEY"),
        (OpenAIResponsesAdapter, "OPENAI_API_KEY"),
        (AnthropicAdapter, "ANTHROPIC_API_KEY"),
    ],
)
def test_a_missing_key_is_a_configuration_error(
    kind: Callable[..., Any], variable: str, on_text: Any, provider: Provider
) -> None:
    with pytest.raises(PromptConfigurationError, match=variable):
        kind(model="m", base_url=provider.url).evaluate(PROMPT, on_text=on_text)
    assert provider.requests == []


def test_a_client_without_a_key_is_a_configuration_error(provider: Provider) -> None:
    from anthropic import Anthropic

    with Anthropic(base_url=provider.url) as client:
        adapter = AnthropicAdapter("m", client=client)
        with pytest.raises(PromptConfigurationError, match="no key: give `api_key`, or set"):
            adapter.evaluate(PROMPT)


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_an_option_that_cannot_be_sent_is_a_configuration_error(
    wire: Wire, streaming: bool, provider: Provider
) -> None:
    line = Line(wire, provider, streaming)
    adapter = line.adapter(options={"metadata": object()})
    with pytest.raises(PromptConfigurationError, match=r"can't send the request: .*serializable"):
        adapter.evaluate(PROMPT, on_text=line.on_text)
    assert provider.requests == []


def test_a_client_of_the_callers_own_is_used_as_it_is(provider: Provider) -> None:
    from openai import OpenAI

    provider.will(OpenAIWire().whole(Said("Fine.")))
    with OpenAI(base_url=provider.url, api_key="own", max_retries=0) as client:
        adapter = OpenAIAdapter("m", client=client)
        assert adapter.client is client
        assert adapter.evaluate(PROMPT).text == "Fine."
    assert provider.headers[0]["authorization"] == "Bearer own"


def test_a_compatible_server_without_ids_usage_or_the_right_reason_still_works(
    provider: Provider,
) -> None:
    line = Line(OpenAIWire(), provider, streaming=False)
    reply = line.wire.whole(Said("", (("weather", {"name": "Oslo"}),)))
    body: Any = reply.body
    body["usage"] = None
    body["choices"][0]["finish_reason"] = "stop"
    body["choices"][0]["message"]["tool_calls"][0]["id"] = ""
    provider.will(reply)
    line.will_say(Said("Rain."))
    response = evaluate(line)
    assert response.text == "Rain."
    assert response.usage == TokenUsage(20, 5, 8, 3)
    ((name, text, _),) = line.wire.tool_results(provider.requests[1])
    assert name
    assert text == "Rain in Oslo."


def test_thinking_goes_back_as_it_came(provider: Provider) -> None:
    from .wires import AnthropicWire

    line = Line(AnthropicWire(), provider, streaming=False)
    reply = line.wire.whole(Said("", (("weather", {"name": "Oslo"}),)))
    body: Any = reply.body
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "signed"}
    body["content"].insert(0, thought)
    provider.will(reply)
    line.will_say(Said("Rain."))
    assert evaluate(line).text == "Rain."
    assert provider.requests[1]["messages"][1]["content"][0] == thought


def test_the_deadline_is_not_overrun_by_the_tools(line: Line) -> None:
    begun, release = threading.Event(), threading.Event()

    def wait(params: None, *, context: ToolContext) -> ToolResult[None]:
        begun.set()
        release.wait(30)
        return ToolResult()

    template = PromptTemplate(
        ns="t",
        key="slow",
        sections=[
            MarkdownSection[None](
                title="Slow",
                key="slow",
                template="Be slow.",
                tools=[Tool[None, None](name="wait", description="Waits.", handler=wait)],
            )
        ],
    )
    line.will_say(Said("", (("wait", {}),)))
    with pytest.raises(EvaluationTimeoutError, match="'wait'"):
        line.adapter().evaluate(
            template,
            on_text=line.on_text,
            deadline=PassesAt(begun),
            cancellation=threading.Event(),
        )
    release.set()


def test_the_three_adapters_say_the_same_of_the_same(line: Line) -> None:
    """What a program sees does not depend on who answers."""
    calls = (("weather", {"name": "Oslo"}),)
    line.will_say(Said("Let me look.", calls), Said("Rain."))
    real = evaluate(line)
    from foldline.prompts.adapters import ScriptedCall, ScriptedTurn, Transcript

    script = Transcript.of(
        [
            ScriptedTurn("Let me look.", (ScriptedCall("weather", {"name": "Oslo"}),)),
            ScriptedTurn("Rain."),
        ]
    )
    scripted = ScriptedAdapter(script).evaluate(PROMPT)
    assert real.text == scripted.text
    assert real.turns == scripted.turns
    assert [(o.params, o.result) for o in real.tool_outcomes] == [
        (o.params, o.result) for o in scripted.tool_outcomes
    ]


def test_the_adapter_of_the_specification_answers_with_a_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    adapter = OpenAIAdapter(model="gpt-4o")
    assert adapter.model == "gpt-4o"
    response = ScriptedAdapter(lambda *_: "Fine.").evaluate(PROMPT)
    assert isinstance(response, PromptResponse)
    assert response.text == "Fine."


def test_reasoning_goes_back_as_it_came_and_nothing_is_stored(provider: Provider) -> None:
    for streaming in (False, True):
        line = Line(OpenAIResponsesWire(), provider, streaming)
        calls = (("weather", {"name": "Oslo"}),)
        line.will_say(Said("", calls, thought="Hm."), Said("Rain.", thought="So."))
        assert evaluate(line).text == "Rain."
        first, second = provider.requests[-2:]
        for request in (first, second):
            check_request(line.wire, request)
            assert request["store"] is False
            assert request["include"] == ["reasoning.encrypted_content"]
        reasoning = second["input"][1]
        assert reasoning["type"] == "reasoning"
        assert reasoning["encrypted_content"] == "sealed Hm."
        assert second["input"][:1] == first["input"]


def test_models_without_reasoning_are_not_asked_for_it(provider: Provider) -> None:
    line = Line(OpenAIResponsesWire(), provider, streaming=False)
    line.will_say(Said("Fine."), Said("Fine."))
    evaluate(line, model="gpt-4o")
    assert "include" not in provider.requests[0]
    evaluate(line, options={"include": ["message.output_text.logprobs"]})
    assert provider.requests[1]["include"] == [
        "message.output_text.logprobs",
        "reasoning.encrypted_content",
    ]


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (
            {"status": "failed", "error": {"code": "server_error", "message": "It broke."}},
            EvaluationFailure.PROVIDER,
            "It broke.",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            EvaluationFailure.REFUSAL,
            "content filter",
        ),
        ({"status": "cancelled"}, EvaluationFailure.CONNECTION, "before it was complete"),
    ],
)
def test_a_response_that_did_not_complete_is_an_error(
    provider: Provider, change: Json, kind: EvaluationFailure, words: str
) -> None:
    wire = OpenAIResponsesWire()
    reply = wire.whole(Said("Once upon"))
    assert isinstance(reply.body, dict)
    ended = {**reply.body, **change}
    event = {"type": f"response.{change['status']}", "response": ended, "sequence_number": 9}
    pieces = [*wire.streamed(Said("Once upon"))[:-1], f"data: {json.dumps(event)}\n\n"]
    for line, answer in (
        (Line(wire, provider, streaming=False), Reply(ended)),
        (Line(wire, provider, streaming=True), Reply(pieces=pieces)),
    ):
        provider.will(answer)
        error = failure(line)
        assert error.kind is kind
        assert words in str(error)
        assert error.text == "Once upon" or kind is EvaluationFailure.CONNECTION


def test_an_error_event_of_a_response_is_an_error(provider: Provider) -> None:
    wire = OpenAIResponsesWire()
    event = {"type": "error", "code": "x", "message": "overloaded", "sequence_number": 5}
    pieces = [*wire.streamed(Said("one two"))[:5], f"data: {json.dumps(event)}\n\n"]
    provider.will(Reply(pieces=pieces))
    error = failure(Line(wire, provider, streaming=True))
    assert error.kind is EvaluationFailure.PROVIDER
    assert "overloaded" in str(error)
    assert error.text == "one "


def test_every_message_of_the_model_is_an_event_with_its_usage(line: Line) -> None:
    bus = InProcessEventBus()
    answers: list[ModelAnswered] = []
    calls: list[ToolInvoked] = []
    bus.subscribe(ModelAnswered, answers.append)
    bus.subscribe(ToolInvoked, calls.append)
    line.will_say(Said("", (("weather", {"name": "Oslo"}),)), Said("Rain."))
    line.adapter().evaluate(PROMPT, bus=bus, on_text=line.on_text)
    assert [(a.turn, a.text, a.tool_calls) for a in answers] == [
        (1, "", ("weather",)),
        (2, "Rain.", ()),
    ]
    assert {(a.model, a.request_id, a.usage) for a in answers} == {
        ("test-model-1", "req_1", TokenUsage(20, 5, 8, 3))
    }
    assert all(answer.seconds > 0 for answer in answers)
    assert all(call.seconds > 0 for call in calls)


def test_an_evaluation_without_an_answer_ends_with_an_event(line: Line) -> None:
    bus = InProcessEventBus()
    stops: list[PromptStopped] = []
    bus.subscribe(PromptStopped, stops.append)
    line.will_say(
        Said("", (("open_sections", {"section_keys": ["docs"], "reason": "r"}),)),
        Said("No.", stop="refusal"),
    )
    for kind in (VisibilityExpansionRequired, PromptEvaluationError):
        with pytest.raises(kind) as caught:
            line.adapter().evaluate(PROMPT, bus=bus, on_text=line.on_text)
        assert stops[-1].error is caught.value
    assert [(stop.turns, stop.usage.input) for stop in stops] == [(1, 20), (1, 0)]


HALF = "half \ud83d emoji"


def echo(params: City, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult(value=f"{params.name} {HALF}")


ECHO = PromptTemplate(
    ns="t",
    key="echo",
    sections=[
        TaskSection[Task](
            tools=[Tool[City, str](name="weather", description="Tells it.", handler=echo)]
        )
    ],
).bind(Task(HALF))
CALL = ("weather", {"name": "Oslo"})


def called(name: str, arguments: object) -> Said:
    return Said("Let me see.", (CALL, (name, arguments)))


Spoil = Callable[[Reply, Wire], Reply]


def status(code: int, **headers: str) -> Spoil:
    return lambda _, wire: Reply(wire.error("No."), code, headers)


def instead(text: str) -> Spoil:
    """The answer, or an event of its stream, is another text."""
    return lambda reply, _: replace(
        reply, body=text, pieces=reply.pieces and [*reply.pieces[:2], f"data: {text}\n\n"]
    )


def edited(old: str, new: str) -> Spoil:
    """The JSON of the answer says something else."""

    def edit(reply: Reply, wire: Wire) -> Reply:
        if reply.pieces is not None:
            return replace(reply, pieces=[re.sub(old, new, piece) for piece in reply.pieces])
        return replace(reply, body=re.sub(old, new, json.dumps(reply.body)))

    return edit


def cut(reply: Reply, wire: Wire) -> Reply:
    pieces = reply.pieces and reply.pieces[: len(reply.pieces) // 2]
    return replace(reply, cut=True, pieces=pieces)


def ended_early(reply: Reply, wire: Wire) -> Reply:
    body = json.dumps(reply.body)
    return replace(cut(reply, wire), cut=False, body=body[: len(body) // 2])


FAULTS: dict[str, tuple[Said, Spoil | None]] = {
    "none": (Said("Fine."), None),
    "a call": (called(*CALL), None),
    "refused": (Said("Fine."), status(400)),
    "busy": (Said("Fine."), status(429, **{"retry-after": "0"})),
    "overloaded": (Said("Fine."), status(529)),
    "a page of a proxy": (Said("Fine."), lambda *_: Reply("<html>", 502)),
    "not JSON": (called(*CALL), instead("{not")),
    "nothing": (Said("Fine."), instead("")),
    "a list": (Said("Fine."), instead("[]")),
    "an empty object": (called(*CALL), instead("{}")),
    "cut": (called(*CALL), cut),
    "ended early": (called(*CALL), ended_early),
    "a refusal": (Said("No.", stop="refusal"), None),
    "too long": (Said("Once upon", stop="length"), None),
    "too long in a call": (replace(called("weather", '{"na'), stop="length"), None),
    "no end": (Said("Once upon", stop="none"), None),
    "no words": (Said(), None),
    "blank words": (Said(" \n", (CALL,)), None),
    "half a surrogate": (Said(HALF, (CALL,)), None),
    "an unknown tool": (called("nothing", {}), None),
    "a tool with a dot": (called("functions.weather", CALL[1]), None),
    "half a surrogate in a name": (called("weather\ud83d", CALL[1]), None),
    "a long name": (called("w" * 99, CALL[1]), None),
    "no arguments": (called("weather", ""), None),
    "broken arguments": (called("weather", "{]"), None),
    "arguments in a list": (called("weather", '["x"]'), None),
    "a number for arguments": (called("weather", "5"), None),
    "null for arguments": (called("weather", "null"), None),
    "a text for arguments": (called("weather", '"x"'), None),
    "half a surrogate in arguments": (called("weather", '{"name": "\\ud83d"}'), None),
    "a field too few": (called("weather", {}), None),
    "one id twice": (called(*CALL), edited(r'(call_\d\w*)1"', r'\g<1>0"')),
    "no ids": (called(*CALL), edited(r'"call_\d\w*"', '""')),
    "one index twice": (called(*CALL), edited(r'"index": [12]\b', '"index": 0')),
    "a usage of words": (called(*CALL), edited(r'(tokens"): \d+', r'\1: "many"')),
}


class Faulty(Simulator):
    """A provider that checks each request by its rules, and answers with these faults in turn."""

    faults: Sequence[str] = ()

    def next_reply(self) -> Reply:
        name, *rest = self.faults or ["none"]
        self.faults = rest
        said, spoil = FAULTS[name]
        self._script = lambda _: replace(said, tag=self.wire.api[-5:])
        reply = super().next_reply()
        return reply if reply.status != 200 or spoil is None else spoil(reply, self.wire)


EVALUATIONS = st.tuples(
    st.integers(0, 2), st.booleans(), st.lists(st.sampled_from(sorted(FAULTS)), max_size=3)
)


@pytest.mark.usefixtures("provider")
def test_after_any_history_of_faults_the_next_request_is_one_that_providers_take() -> None:
    kinds = (OpenAISimulator, OpenAIResponsesSimulator, AnthropicSimulator)
    with ExitStack() as stack:
        providers = [
            stack.enter_context(serving(type("Faulty", (Faulty, kind), {})([]))) for kind in kinds
        ]

        @settings(settings.get_profile("costly"))
        @given(st.lists(EVALUATIONS, min_size=1, max_size=4))
        def holds(evaluations: list[tuple[int, bool, list[str]]]) -> None:
            conversation = Conversation()
            for one in providers:
                one.refusals.clear()
            for number, streaming, faults in [*evaluations, *((n, False, []) for n in range(3))]:
                provider = providers[number]
                provider.faults = faults
                provider.requests.clear()
                try:
                    conversation = (
                        provider.adapter()
                        .evaluate(
                            ECHO,
                            on_text=(lambda _: None) if streaming else None,
                            conversation=conversation.user("Go on."),
                        )
                        .conversation
                    )
                except PromptEvaluationError:
                    assert faults
                assert provider.refusals == []
                for request in provider.requests:
                    check_sent(provider.wire, request)

        holds()


def check_sent(wire: Wire, request: Json) -> None:
    """Names, inputs and texts are such as the providers take; the SDKs' types don't say."""
    assert json.dumps(request, ensure_ascii=False).encode()
    for message in wire.sent(request):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", message.get("name", "a"))
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            assert block["type"] != "text" or block["text"].strip()
            assert block["type"] != "tool_use" or isinstance(block["input"], dict)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", block.get("name", "a"))
        for call in message.get("tool_calls") or ():
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])


@pytest.mark.parametrize("told", ["many", None, 2.5, [], -3])
def test_a_usage_of_what_is_no_count_is_none(provider: Provider, wire: Wire, told: object) -> None:
    def spoiled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: spoiled(inner) for name, inner in value.items()}
        return told

    line = Line(wire, provider, streaming=False)
    first, second = (
        line.wire.whole(Said("", (("weather", {"name": "A"}),))),
        line.wire.whole(Said("B")),
    )
    for reply in (first, second):
        body: Any = reply.body
        body["usage"] = spoiled(body["usage"])
        provider.will(reply)
    response = evaluate(line)
    assert (response.text, response.usage) == ("B", TokenUsage())


def test_calls_that_share_an_index_are_told_apart_by_their_ids(provider: Provider) -> None:
    line = Line(OpenAIWire(), provider, streaming=True)
    pieces = line.wire.streamed(
        Said(calls=(("weather", {"name": "A"}), ("weather", {"name": "B"})))
    )
    provider.will(Reply(pieces=[one.replace('"index": 1', '"index": 0') for one in pieces]))
    line.will_say(Said("Done."))
    asked.clear()
    evaluate(line)
    assert [city.name for city in asked] == ["A", "B"]
