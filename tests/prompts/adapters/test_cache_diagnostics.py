"""Why earlier input wasn't read from the cache, where a provider says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from foldline.prompts import MarkdownSection, PromptTemplate
from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.runtime import InProcessEventBus, ModelAnswered, TokenUsage
from foldline.prompts.runtime.conversation import AssistantTurn, Conversation, UserTurn

from .openings import tool
from .providers import serving
from .wire.prefix import text_of
from .wire.simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
    Simulator,
)
from .wires import Said

KINDS: dict[str, tuple[type[Simulator], str]] = {
    "anthropic": (AnthropicSimulator, "claude-opus-5-5"),
    "responses": (OpenAIResponsesSimulator, "gpt-5.6"),
}
ANSWERS = [Said(calls=(("look_up", {}),)), Said("Fine."), Said("Done.")]


def template(*tools: str) -> PromptTemplate[None]:
    body = MarkdownSection[None](
        title="Long",
        key="long",
        template=text_of(3_000, "long"),
        tools=[tool(name) for name in tools],
    )
    return PromptTemplate(ns="t", key="t", sections=[body])


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[type[Simulator], str]:
    return KINDS[request.param]


def chat(
    kind: tuple[type[Simulator], str], second: PromptTemplate[None], **options: Any
) -> tuple[Simulator, TokenUsage, list[ModelAnswered]]:
    """A conversation with another prompt in the end; the usage of its last message."""
    simulator, model = kind
    bus = InProcessEventBus()
    answers: list[ModelAnswered] = []
    bus.subscribe(ModelAnswered, answers.append)
    edit = options.pop("edit", lambda conversation: conversation)
    with serving(simulator(ANSWERS)) as provider:
        adapter = provider.adapter(model=model, cache_diagnostics=True)
        first = adapter.evaluate(template("look_up"), bus=bus, **options)
        assert first.usage.cache_misses == ()
        going_on = edit(first.conversation).user("And?")
        response = adapter.evaluate(second, conversation=going_on, bus=bus, **options)
    assert provider.refusals == []
    return provider, response.usage, answers


def edited(conversation: Conversation) -> Conversation:
    first, *others = conversation.turns
    assert isinstance(first, UserTurn)
    text = first.parts[0]
    assert isinstance(text, str)
    changed = replace(first, parts=(text.replace("long", "Long", 1),))
    return replace(conversation, turns=(changed, *others))


@pytest.mark.parametrize("streaming", [False, True])
def test_a_changed_tool_is_the_reason(kind: tuple[type[Simulator], str], streaming: bool) -> None:
    options: Any = {"on_text": lambda _: None} if streaming else {}
    _, usage, answers = chat(kind, template("look_down"), **options)
    (miss,) = usage.cache_misses
    assert miss.startswith("tools changed: about 3,")
    assert miss.endswith(" tokens")
    assert [answer.usage.cache_misses for answer in answers] == [(), (), (miss,)]


def test_a_changed_message_is_the_reason(kind: tuple[type[Simulator], str]) -> None:
    provider, usage, _ = chat(kind, template("look_up"), edit=edited)
    (miss,) = usage.cache_misses
    what = "messages" if isinstance(provider, AnthropicSimulator) else "input"
    assert miss.startswith(f"{what} changed: about 3,")
    assert usage.cached < 100


def test_nothing_is_said_of_a_prefix_that_stays(kind: tuple[type[Simulator], str]) -> None:
    provider, usage, answers = chat(kind, template("look_up"))
    assert usage.cache_misses == ()
    assert all(answer.usage.cache_misses == () for answer in answers)
    assert provider.kept_shares() == [1.0, 1.0]


def test_each_request_names_the_message_before() -> None:
    provider, _, _ = chat(KINDS["anthropic"], template("look_up"))
    asked = [request["diagnostics"]["previous_message_id"] for request in provider.requests]
    assert asked == [None, *list(provider.answered)[:2]]
    provider, _, _ = chat(KINDS["responses"], template("look_up"))
    options = [request.get("prompt_cache_options") for request in provider.requests]
    first, second = list(provider.answered)[:2]
    assert options == [None, {"comparison_response_id": first}, {"comparison_response_id": second}]


def test_an_answer_that_is_not_known_any_more_is_no_reason(
    kind: tuple[type[Simulator], str],
) -> None:
    def forgotten(conversation: Conversation) -> Conversation:
        *others, last = conversation.turns
        assert isinstance(last, AssistantTurn)
        return replace(conversation, turns=(*others, replace(last, message_id="gone")))

    _, usage, _ = chat(kind, template("look_up"), edit=forgotten)
    assert usage.cache_misses == ()


def test_nothing_is_asked_by_default(kind: tuple[type[Simulator], str]) -> None:
    simulator, model = kind
    with serving(simulator(ANSWERS)) as provider:
        provider.adapter(model=model).evaluate(template("look_up"))
    for request in provider.requests:
        assert "diagnostics" not in request
        assert "prompt_cache_options" not in request


def test_options_of_the_cache_stay() -> None:
    with serving(OpenAIResponsesSimulator(ANSWERS)) as provider:
        provider.adapter(
            model="gpt-5.6",
            cache_diagnostics=True,
            options={"prompt_cache_options": {"ttl": "30m"}},
        ).evaluate(template("look_up"))
    assert provider.refusals == []
    assert provider.requests[1]["prompt_cache_options"]["ttl"] == "30m"


@pytest.mark.parametrize(
    ("simulator", "model"),
    [(OpenAISimulator, "gpt-5.6"), (OpenAIResponsesSimulator, "gpt-5.5")],
)
def test_what_has_no_diagnostics_says_so(simulator: type[Simulator], model: str) -> None:
    with (
        serving(simulator([])) as provider,
        pytest.raises(PromptConfigurationError, match="no cache diagnostics"),
    ):
        provider.adapter(model=model, cache_diagnostics=True)


def test_the_reasons_of_several_requests_add_up() -> None:
    usage = TokenUsage(1, cache_misses=("tools changed: about 5 tokens",))
    assert (usage + usage + TokenUsage()).cache_misses == usage.cache_misses * 2
