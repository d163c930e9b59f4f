"""Many tools: the model finds them by the provider's search, and the prefix stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import MarkdownSection, Prompt, PromptTemplate, Task, TaskSection
from foldline.prompts.adapters import Appending, ToolSearch
from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.runtime import (
    InProcessEventBus,
    ModelAnswered,
    PromptResponse,
    evaluate_with_disclosure,
)

from .openings import FULL, SUMMARY, tool
from .providers import Json, Provider, serving
from .wire.prefix import text_of
from .wire.simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
    Simulator,
)
from .wire.validation import check
from .wires import AnthropicWire, Said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIRES: dict[str, tuple[type[Simulator], str]] = {
    "anthropic": (AnthropicSimulator, "claude-opus-5-5"),
    "responses": (OpenAIResponsesSimulator, "gpt-5.6"),
}
SEARCH = ToolSearch(beyond=3, keep=("common",))


def section(key: str, *tools: str, folded: bool = False) -> MarkdownSection[None]:
    return MarkdownSection[None](
        title=key.title(),
        key=key,
        template=f"All about {key}. {text_of(600, key)}",
        summary=f"Something about {key}.",
        visibility=SUMMARY if folded else FULL,
        tools=[tool(name) for name in tools],
    )


PROMPT = PromptTemplate(
    ns="t",
    key="desk",
    sections=[
        section("ledger", "common", "book_entry", "close_month"),
        section("stock", "count_stock", "order_stock"),
        section("manual", "secret_tool", folded=True),
        TaskSection[Task](),
    ],
).bind(Task("Go."))


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def evaluate(
    wire: str,
    prompt: Prompt[None],
    script: Sequence[Said],
    *,
    tool_search: ToolSearch | None = SEARCH,
    **options: Any,
) -> tuple[Simulator, PromptResponse[None]]:
    simulator, model = WIRES[wire]
    with serving(simulator(script)) as provider:
        adapter = provider.adapter(model=model, tool_search=tool_search)
        response = evaluate_with_disclosure(adapter, prompt, **options)
    assert provider.refusals == []
    return provider, response


def names(tools: Sequence[Json], *, deferred: bool) -> list[str]:
    """The functions of a request that are deferred, or that aren't."""
    flat: list[Json] = []
    for each in tools:
        flat += each["tools"] if each.get("type") == "namespace" else [each]
    return [
        each["name"]
        for each in flat
        if bool(each.get("defer_loading")) is deferred and "description" in each
    ]


def searches_and_calls(name: str, word: str) -> Said:
    return Said(search=name, calls=((name, {"word": word}),))


@pytest.mark.parametrize("streaming", [False, True])
def test_a_tool_that_the_model_finds_is_called_and_the_prefix_stays(
    wire: str, streaming: bool
) -> None:
    bus = InProcessEventBus()
    answers: list[ModelAnswered] = []
    bus.subscribe(ModelAnswered, answers.append)
    script = [
        searches_and_calls("count_stock", "bolts"),
        Said(calls=(("common", {"word": "it"}), ("count_stock", {"word": "nuts"}))),
        searches_and_calls("close_month", "May"),
        Said("Done."),
    ]
    heard: list[str] = []
    options: Any = {"on_text": heard.append} if streaming else {}
    provider, response = evaluate(wire, PROMPT, script, bus=bus, **options)
    assert response.text == "Done."
    assert [o.result.value for o in response.tool_outcomes] == [
        "count_stock heard bolts",
        "common heard it",
        "count_stock heard nuts",
        "close_month heard May",
    ]
    assert [answer.found_tools for answer in answers] == [
        ("count_stock",),
        (),
        ("close_month",),
        (),
    ]
    tools = provider.requests[0]["tools"]
    assert names(tools, deferred=False) == ["common", "open_sections", "call_tool"]
    assert names(tools, deferred=True) == [
        "book_entry",
        "close_month",
        "count_stock",
        "order_stock",
    ]
    assert {str(request["tools"]) for request in provider.requests} == {str(tools)}
    assert provider.kept_shares() == [1.0, 1.0, 1.0]
    assert all(now.read >= before.total for before, now in _pairs(provider)), "all that was sent"
    sent = provider.wire.sent
    for before, now in zip(provider.requests, provider.requests[1:], strict=False):
        assert sent(now)[: len(sent(before))] == sent(before)


def _pairs(provider: Simulator) -> Iterator[tuple[Any, Any]]:
    yield from zip(provider.metered, provider.metered[1:], strict=False)


def test_the_definition_of_a_tool_is_read_only_where_it_was_found(wire: str) -> None:
    script = [Said("No."), searches_and_calls("count_stock", "a"), Said("Done.")]
    simulator, model = WIRES[wire]
    with serving(simulator(script)) as provider:
        adapter = provider.adapter(model=model, tool_search=SEARCH)
        adapter.evaluate(PROMPT)
        adapter.evaluate(PROMPT)
    read = ["".join(block.content for block in metered.blocks) for metered in provider.metered]
    assert [text.count("The tool <count_stock>") for text in read] == [0, 0, 1]
    assert not any("The tool <order_stock>" in text for text in read)


def test_anthropic_gets_the_search_in_front_of_the_deferred_tools() -> None:
    provider, _ = evaluate("anthropic", PROMPT, [Said("Done.")])
    tools = provider.requests[0]["tools"]
    assert tools[3]["type"] == "tool_search_tool_bm25_20251119"
    assert tools[3]["name"] == "tool_search_tool_bm25"
    assert all(not each.get("defer_loading") for each in tools[:4])
    assert all(each["defer_loading"] for each in tools[4:])
    assert not any("cache_control" in each for each in tools[4:])
    regex = ToolSearch(beyond=0, variant="regex")
    provider, _ = evaluate("anthropic", PROMPT, [Said("Done.")], tool_search=regex)
    assert "tool_search_tool_regex" in [each["name"] for each in provider.requests[0]["tools"]]


def test_openai_gets_a_namespace_for_each_section() -> None:
    provider, _ = evaluate("responses", PROMPT, [Said("Done.")])
    tools = provider.requests[0]["tools"]
    assert [each["type"] for each in tools] == [
        *["function"] * 3,
        "tool_search",
        "namespace",
        "namespace",
    ]
    assert [(each["name"], each["description"]) for each in tools[4:]] == [
        ("ledger", "Ledger: book_entry, close_month"),
        ("stock", "Stock: count_stock, order_stock"),
    ]


def test_sections_with_alike_keys_have_namespaces_of_their_own() -> None:
    def group(key: str) -> MarkdownSection[None]:
        return MarkdownSection[None](
            title=key, key=key, template="-", children=[section("a", f"of_{key}_a")]
        )

    flat = section("x_a", "of_flat")
    prompt = PromptTemplate(ns="t", key="t", sections=[group("x"), flat, TaskSection[Task]()])
    search = ToolSearch(beyond=0)
    provider, _ = evaluate(
        "responses", prompt.bind(Task("Go.")), [Said("Done.")], tool_search=search
    )
    spaces = [each["name"] for each in provider.requests[0]["tools"] if "tools" in each]
    assert spaces == ["x_a", "x_a_1"]


def test_the_tool_of_a_folded_section_is_not_found_before_it_opens(wire: str) -> None:
    provider, response = evaluate(
        wire,
        PROMPT,
        [
            Said(search="secret_tool"),
        ],
    )
    assert "secret_tool" not in str(provider.requests[0]["tools"])
    assert response.text == ""
    opening = ("open_sections", {"section_keys": ["manual"], "reason": "why"})
    secret = ("call_tool", {"name": "secret_tool", "arguments": {"word": "it"}})
    provider, response = evaluate(
        wire,
        PROMPT,
        [
            Said(calls=(secret,)),
            Said(calls=(opening,)),
            Said(search="order_stock", calls=(secret, ("order_stock", {"word": "nuts"}))),
            Said("Done."),
        ],
    )
    refused, _, called, ordered = response.tool_outcomes
    assert not refused.result.success
    assert called.result.value == "secret_tool heard it"
    assert ordered.result.value == "order_stock heard nuts"
    assert provider.kept_shares() == [1.0, 1.0, 1.0]


def test_few_tools_are_all_shown(wire: str) -> None:
    provider, _ = evaluate(wire, PROMPT, [Said("Done.")], tool_search=ToolSearch(beyond=5))
    without, _ = evaluate(wire, PROMPT, [Said("Done.")], tool_search=ToolSearch(keep=tuple("abc")))
    for request in (provider.requests[0], without.requests[0]):
        assert names(request["tools"], deferred=True) == []
        assert "tool_search" not in str(request["tools"])


def test_a_conversation_goes_on_with_what_was_found(wire: str) -> None:
    simulator, model = WIRES[wire]
    script = [searches_and_calls("count_stock", "a"), Said("Done."), Said("Again.")]
    with serving(simulator(script)) as provider:
        adapter = provider.adapter(model=model, tool_search=SEARCH)
        first = adapter.evaluate(PROMPT)
        second = adapter.evaluate(PROMPT, conversation=first.conversation.user("And now?"))
    assert provider.refusals == []
    assert second.text == "Again."
    assert provider.kept_shares() == [1.0, 1.0]


def test_a_search_that_anthropic_interrupts_is_continued() -> None:
    script = [
        Said("Let me look. ", search="count_stock", pauses=True),
        Said("Still. ", pauses=True),
        Said(calls=(("count_stock", {"word": "a"}),)),
        Said("Done."),
    ]
    provider, response = evaluate("anthropic", PROMPT, script)
    assert response.turns == 2
    assert [o.result.value for o in response.tool_outcomes] == ["count_stock heard a"]
    assert len(provider.requests) == 4
    roles = [message["role"] for message in provider.requests[3]["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert provider.kept_shares() == [1.0, 1.0, 1.0]
    assert response.usage.input == sum(metered.total for metered in provider.metered)
    assert response.conversation.turns[1].text == "Let me look. Still. "  # type: ignore[union-attr]


def test_a_search_may_be_answered_after_the_results_of_other_calls(provider: Provider) -> None:
    # As Anthropic does where a message calls both its tool and ours.
    wire = AnthropicWire()
    searching = wire.whole(Said(search="count_stock", calls=(("common", {"word": "it"}),), tag="1"))
    body: Any = searching.body
    found = body["content"].pop(1)
    found["content"]["tool_references"] = [{"type": "tool_reference", "tool_name": "count_stock"}]
    calling = wire.whole(Said(calls=(("count_stock", {"word": "bolts"}),), tag="2"))
    later: Any = calling.body
    later["content"].insert(0, found)
    provider.will(searching, calling, wire.whole(Said("Done.")))
    bus = InProcessEventBus()
    answers: list[ModelAnswered] = []
    bus.subscribe(ModelAnswered, answers.append)
    response = wire.adapter(provider, tool_search=SEARCH).evaluate(PROMPT, bus=bus)
    assert response.text == "Done."
    assert [answer.found_tools for answer in answers] == [(), ("count_stock",), ()]
    assert [o.result.value for o in response.tool_outcomes] == [
        "common heard it",
        "count_stock heard bolts",
    ]
    kinds = [
        [part["type"] for part in message["content"]]
        for message in provider.requests[2]["messages"][1:]
    ]
    assert kinds == [
        ["server_tool_use", "tool_use"],
        ["tool_result"],
        ["tool_search_tool_result", "tool_use"],
        ["tool_result"],
    ]
    check("anthropic", provider.requests[2])


def test_a_message_that_is_interrupted_for_ever_is_an_error() -> None:
    with serving(AnthropicSimulator(lambda _: Said("Hm. ", pauses=True))) as provider:
        adapter = provider.adapter(model="claude-opus-5-5", max_turns=3)
        with pytest.raises(Exception, match="wasn't complete after 3 requests"):
            adapter.evaluate(PROMPT)


@pytest.mark.parametrize(
    ("simulator", "settings", "words"),
    [
        (OpenAISimulator, {"model": "gpt-5.6", "tool_search": SEARCH}, "OpenAIAdapter has no tool"),
        (OpenAIResponsesSimulator, {"model": "gpt-5", "tool_search": SEARCH}, "with 'gpt-5'"),
        (AnthropicSimulator, {"model": "claude-opus-4-1", "tool_search": SEARCH}, "opus-4-1"),
        (
            AnthropicSimulator,
            {
                "model": "claude-opus-5-5",
                "tool_search": SEARCH,
                "appending": Appending(tools="deferred"),
            },
            "before they open",
        ),
    ],
)
def test_what_cannot_search_says_so(simulator: type[Simulator], settings: Any, words: str) -> None:
    with serving(simulator([])) as provider, pytest.raises(PromptConfigurationError, match=words):
        provider.adapter(**settings)


def test_a_negative_number_of_tools_is_refused() -> None:
    with pytest.raises(PromptConfigurationError, match="`beyond` must be 0 or more"):
        ToolSearch(beyond=-1)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
    st.integers(0, 8),
    st.sets(st.integers(0, 15)),
)
def test_each_tool_is_sent_once_shown_or_deferred(
    sizes: list[int], beyond: int, kept: set[int]
) -> None:
    from foldline.prompts.adapters import anthropic_tools, openai_responses_tools

    numbers = iter(range(100))
    sections = [
        section(f"s{n}", *(f"t{next(numbers)}" for _ in range(size)))
        for n, size in enumerate(sizes)
    ]
    rendered = PromptTemplate(ns="t", key="t", sections=sections).render()
    search = ToolSearch(beyond=beyond, keep=tuple(f"t{n}" for n in kept))
    every = sorted(each.name for each in rendered.tools)
    for tools in (
        anthropic_tools(rendered, search=search),
        openai_responses_tools(rendered, search=search),
    ):
        shown, deferred = names(tools, deferred=False), names(tools, deferred=True)
        assert sorted(shown + deferred) == every
        wanted = [] if len(every) <= beyond else [n for n in every if n not in search.keep]
        assert sorted(deferred) == wanted
        assert ("tool_search" in str(tools)) == bool(deferred)
