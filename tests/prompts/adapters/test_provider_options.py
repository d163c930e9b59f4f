"""What a provider tries out is sent by `options`; what comes of it stays in the conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.prompts import ContextPolicy, MarkdownSection, PromptTemplate
from foldline.prompts.adapters import (
    anthropic_tools,
    openai_responses_tools,
    render_for_evaluation,
)

from .openings import tool
from .providers import Json, Provider, Reply, serving
from .responses_wire import OpenAIResponsesWire
from .wire.simulators import AnthropicSimulator, OpenAIResponsesSimulator, Simulator
from .wire.validation import check
from .wires import AnthropicWire, Said, Wire

SIMULATORS: dict[str, tuple[type[Simulator], str]] = {
    "anthropic": (AnthropicSimulator, "claude-opus-5-5"),
    "openai-responses": (OpenAIResponsesSimulator, "gpt-5.6"),
}
TEMPLATE = PromptTemplate[None](
    ns="t",
    key="stock",
    sections=[
        MarkdownSection[None](
            title="Stock",
            key="stock",
            template="All about the stock.",
            tools=[tool("common"), tool("count_stock")],
        )
    ],
)
CLEARING = {
    "extra_headers": {"anthropic-beta": "context-management-2025-06-27"},
    "extra_body": {
        "context_management": {
            "edits": [
                {
                    "type": "clear_tool_uses_20250919",
                    "trigger": {"type": "tool_uses", "value": 2},
                    "keep": {"type": "tool_uses", "value": 1},
                }
            ]
        }
    },
}


def searched(api: str) -> Json:
    """Options with the prompt's tools, to be searched for."""
    rendered = render_for_evaluation(TEMPLATE)
    if api == "anthropic":
        shown, found = anthropic_tools(rendered)
        name = "tool_search_tool_bm25"
        search: Json = {"type": f"{name}_20251119", "name": name}
        tools = [shown, search, {**found, "defer_loading": True}]
    else:
        shown, found = openai_responses_tools(rendered)
        deferred = [{**found, "defer_loading": True}]
        space = {"type": "namespace", "name": "stock", "description": "Stock", "tools": deferred}
        tools = [shown, {"type": "tool_search"}, space]
    return {"extra_body": {"tools": tools}}


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", SIMULATORS)
def test_a_tool_that_the_providers_search_finds_is_called(api: str, streaming: bool) -> None:
    script = [
        Said(search="count_stock", calls=(("count_stock", {"word": "bolts"}),)),
        Said("Done."),
        Said("Again."),
    ]
    kind, model = SIMULATORS[api]
    options: Any = {"on_text": lambda _: None} if streaming else {}
    with serving(kind(script)) as provider:
        adapter = provider.adapter(model=model, options=searched(api))
        first = adapter.evaluate(TEMPLATE, **options)
        second = adapter.evaluate(
            TEMPLATE, conversation=first.conversation.user("And now?"), **options
        )
    assert provider.refusals == []
    assert second.text == "Again."
    assert [o.result.value for o in first.tool_outcomes] == ["count_stock heard bolts"]
    assert provider.kept_shares() == [1.0, 1.0], "what was found stays"


def test_a_message_that_anthropic_interrupts_is_continued() -> None:
    script = [
        Said("Let me look. ", search="count_stock", pauses=True),
        Said("Still. ", pauses=True),
        Said(calls=(("count_stock", {"word": "a"}),)),
        Said("Done."),
    ]
    with serving(AnthropicSimulator(script)) as provider:
        adapter = provider.adapter(model="claude-opus-5-5", options=searched("anthropic"))
        response = adapter.evaluate(TEMPLATE)
    assert provider.refusals == []
    assert response.turns == 2
    assert [o.result.value for o in response.tool_outcomes] == ["count_stock heard a"]
    roles = [message["role"] for message in provider.requests[3]["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert response.usage.input == sum(metered.total for metered in provider.metered)
    assert response.conversation.turns[1].text == "Let me look. Still. "  # type: ignore[union-attr]


def test_a_message_that_is_interrupted_for_ever_is_an_error() -> None:
    with serving(AnthropicSimulator(lambda _: Said("Hm. ", pauses=True))) as provider:
        adapter = provider.adapter(model="claude-opus-5-5", max_turns=3)
        with pytest.raises(Exception, match="wasn't complete after 3 requests"):
            adapter.evaluate(TEMPLATE)


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
    response = wire.adapter(provider, options=searched("anthropic")).evaluate(TEMPLATE)
    assert response.text == "Done."
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


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_anthropic_clears_old_results_where_a_beta_asks_for_it(streaming: bool) -> None:
    calls = [Said(calls=(("common", {"word": f"w{n} " * 40}),)) for n in range(4)]
    options: Any = {"on_text": lambda _: None} if streaming else {}
    with serving(AnthropicSimulator([*calls, Said("Done.")])) as provider:
        adapter = provider.adapter(model="claude-opus-5-5", options=CLEARING)
        policy = ContextPolicy(keep_turns=None)
        response = adapter.evaluate(TEMPLATE, context_policy=policy, **options)
    assert provider.refusals == []
    assert response.text == "Done."
    read = "".join(block.content for block in provider.metered[-1].blocks)
    assert "heard w3" in read
    assert "heard w0" not in read, "the provider cleared it"
    assert "heard w0" in str(provider.requests[-1]), "and got it"


UNKNOWN: Json = {"type": "telepathy", "id": "t_1", "thought": {"of": ["bolts"]}}


@pytest.mark.parametrize("wire", [AnthropicWire(), OpenAIResponsesWire()], ids=lambda w: w.name)
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_a_block_of_an_unknown_kind_goes_back_as_it_came(
    provider: Provider, wire: Wire, streaming: bool
) -> None:
    provider.will(
        _with_unknown(wire, Said("Hm.", calls=(("common", {"word": "it"}),)), streaming),
        *(_reply(wire, Said(text), streaming) for text in ("Done.", "Again.")),
    )
    options: Any = {"on_text": lambda _: None} if streaming else {}
    adapter = wire.adapter(provider)
    first = adapter.evaluate(TEMPLATE, **options)
    again = adapter.evaluate(TEMPLATE, conversation=first.conversation.user("And now?"), **options)
    assert (first.text, again.text) == ("Done.", "Again.")
    assert [o.result.value for o in first.tool_outcomes] == ["common heard it"]
    for request in provider.requests[1:]:
        sent: list[Json] = []
        for item in wire.sent(request):
            content = item.get("content")
            sent += [item, *(content if isinstance(content, list) else ())]
        assert UNKNOWN in sent


def _reply(wire: Wire, said: Said, streaming: bool) -> Reply:
    return Reply(pieces=wire.streamed(said)) if streaming else wire.whole(said)


def _with_unknown(wire: Wire, said: Said, streaming: bool) -> Reply:
    """A reply whose last block or item is of an unknown kind."""
    reply = _reply(wire, said, streaming)
    if reply.pieces is None:
        body: Any = reply.body
        body["content" if wire.name == "anthropic" else "output"].append(UNKNOWN)
        return reply
    if wire.name == "anthropic":
        index = sum("content_block_start" in piece for piece in reply.pieces)
        begun = {"type": "content_block_start", "index": index, "content_block": UNKNOWN}
        ended = {"type": "content_block_stop", "index": index}
        events = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in (begun, ended)]
        return Reply(pieces=[*reply.pieces[:-2], *events, *reply.pieces[-2:]])
    *pieces, last = reply.pieces
    head, _, data = last.partition("data: ")
    event = json.loads(data)
    event["response"]["output"].append(UNKNOWN)
    return Reply(pieces=[*pieces, f"{head}data: {json.dumps(event)}\n\n"])
