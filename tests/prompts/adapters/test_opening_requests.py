"""Single openings: what each provider is sent, and what events and responses tell of them."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.prompts import (
    ContextPolicy,
    MarkdownSection,
    Prompt,
    PromptTemplate,
    Task,
    TaskSection,
)
from foldline.prompts.adapters import (
    Appending,
    RecordingAdapter,
    ScriptedAdapter,
    ScriptedCall,
    ScriptedTurn,
    Transcript,
)
from foldline.prompts.errors import ExpansionLimitError, PromptConfigurationError
from foldline.prompts.runtime import (
    Conversation,
    Expansion,
    InProcessEventBus,
    PromptRendered,
    PromptResponse,
    SectionsOpened,
    Session,
    ToolInvoked,
    UserTurn,
    evaluate_with_disclosure,
)

from .openings import FULL, SUMMARY, WIRES, tool
from .providers import serving
from .wire.simulators import (
    AnthropicSimulator,
    OpenAISimulator,
    Simulator,
)
from .wires import Said

DOCS = MarkdownSection[None](
    title="Docs",
    key="docs",
    template="All docs.",
    summary="Some docs.",
    visibility=SUMMARY,
    tools=[tool("look_up")],
    children=[MarkdownSection[None](title="More", key="more", template="More docs.")],
)
RULES = DOCS.clone(title="Rules", key="rules", template="All rules.", children=[], tools=[])
TASK = TaskSection[Task]()
PROMPT = PromptTemplate(ns="t", key="p", sections=[DOCS, TASK]).bind(Task("Go."))


def opens(*keys: str) -> Said:
    return Said(calls=(("open_sections", {"section_keys": list(keys), "reason": "why"}),))


def evaluate(
    wire: str, prompt: Prompt[None], *script: Said, **options: Any
) -> tuple[Simulator, PromptResponse[None]]:
    simulator, model = WIRES[wire]
    settings = {"max_turns": options.pop("max_turns", 16)}
    with serving(simulator(script)) as provider:
        adapter = provider.adapter(model=model, **settings)
        response = evaluate_with_disclosure(adapter, prompt, **options)
    assert provider.refusals == []
    return provider, response


OPENED = (
    "Sections expanded: `docs`. Reason: why. Continue with your task using the newly visible "
    "content.\n\n## 1. Docs\n\nAll docs.\n\n### 1.1. More\n\nMore docs."
)


def test_anthropic_gets_deferred_tools_and_references_to_them() -> None:
    provider, response = evaluate(
        "deferred tools", PROMPT, opens("docs"), Said(calls=(("look_up", {}),)), Said("Done.")
    )
    first, second, third = provider.requests
    assert [(t["name"], t.get("defer_loading", False)) for t in first["tools"]] == [
        ("open_sections", False),
        ("look_up", True),
    ]
    assert "The turn ends" not in first["tools"][0]["description"]
    assert second["messages"][:1] == first["messages"]
    assert second["messages"][2]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": second["messages"][1]["content"][0]["id"],
            "content": [{"type": "tool_reference", "tool_name": "look_up"}],
            "is_error": False,
        },
        {"type": "text", "text": OPENED},
    ]
    assert third["messages"][4]["content"][0]["content"] == "look_up heard nothing"
    assert response.turns == 3
    assert first["cache_control"] == {"type": "ephemeral"}
    assert provider.metered[1].kept == provider.metered[0].total


def test_responses_can_get_the_tools_of_opened_sections_as_an_item() -> None:
    provider, response = evaluate(
        "responses, added tools",
        PROMPT,
        opens("docs"),
        Said(calls=(("look_up", {"word": "it"}),)),
        Said("Done."),
    )
    first, second, third = provider.requests
    assert [tool["name"] for tool in first["tools"]] == ["open_sections"]
    assert second["tools"] == third["tools"] == first["tools"]
    result, added = second["input"][-2:]
    assert result["output"] == OPENED
    assert added["type"] == "additional_tools"
    assert added["role"] == "developer"
    assert [tool["name"] for tool in added["tools"]] == ["look_up"]
    assert third["input"][: len(second["input"])] == second["input"]
    assert third["input"][-1]["output"] == "look_up heard it"
    assert provider.kept_shares() == [1.0, 1.0]
    assert [outcome.call.name for outcome in response.tool_outcomes] == ["open_sections", "look_up"]


def test_an_api_without_added_tools_refuses_the_means() -> None:
    with (
        serving(OpenAISimulator([])) as provider,
        pytest.raises(PromptConfigurationError, match=r'Use Appending\(tools="proxy"\)'),
    ):
        provider.adapter(model="gpt-5.6", appending=Appending("deferred"))


def test_chat_completions_get_one_tool_that_calls_the_others() -> None:
    call = ("call_tool", {"name": "look_up", "arguments": {"word": "it"}})
    provider, response = evaluate(
        "chat completions", PROMPT, opens("docs"), Said(calls=(call,)), Said("Done.")
    )
    first, second, third = provider.requests
    names = [t["function"]["name"] for t in first["tools"]]
    assert names == ["open_sections", "call_tool"]
    text = second["messages"][2]["content"]
    assert text.startswith(OPENED)
    assert "`look_up`: The tool <look_up>.\n\nParameters: {" in text
    assert third["messages"][3]["tool_calls"][0]["function"]["name"] == "call_tool"
    assert third["messages"][4]["content"] == "look_up heard it"
    assert [o.call.name for o in response.tool_outcomes] == ["open_sections", "look_up"]


@pytest.mark.parametrize("arguments", ["[]", "not JSON", {"arguments": {}}, {"name": "nothing"}])
def test_a_call_of_no_tool_is_answered_with_the_tools_that_there_are(arguments: object) -> None:
    provider, _ = evaluate(
        "chat completions", PROMPT, Said(calls=(("call_tool", arguments),)), Said("Done.")
    )
    assert provider.requests[1]["messages"][2]["content"].startswith("Error: ")


def test_a_tool_cannot_be_called_before_its_section_is_open() -> None:
    provider, _ = evaluate("deferred tools", PROMPT, Said(calls=(("look_up", {}),)), Said("Done."))
    (result,) = provider.requests[1]["messages"][2]["content"]
    assert "There is no tool 'look_up'" in result["content"]


def test_a_system_section_opens_as_a_system_message_where_the_model_takes_one() -> None:
    prompt = PromptTemplate(ns="t", key="p", system=[DOCS], sections=[TASK]).bind(Task("Go."))
    provider, response = evaluate(
        "deferred tools, system messages", prompt, opens("docs"), Said("Done.")
    )
    first, second = provider.requests
    assert [block["type"] for block in first["system"]] == ["text"]
    assert "Some docs." in first["system"][0]["text"]
    assert second["system"] == first["system"]
    assert second["messages"][3] == {
        "role": "system",
        "content": "## 1. Docs\n\nAll docs.\n\n### 1.1. More\n\nMore docs.",
    }
    assert "All docs." not in str(second["messages"][2])
    assert [turn.role for turn in response.conversation.turns] == [
        *("system", "user", "assistant", "tool", "system", "assistant")
    ]
    openai, _ = evaluate("chat completions", prompt, opens("docs"), Said("Done."))
    assert [m["role"] for m in openai.requests[1]["messages"]] == [
        *("system", "user", "assistant", "tool")
    ], "endpoints that are only compatible may not take it"


def test_everything_else_of_the_message_runs_too_and_the_events_tell() -> None:
    bus = InProcessEventBus()
    opened: list[SectionsOpened] = []
    renders: list[PromptRendered] = []
    calls: list[ToolInvoked] = []
    bus.subscribe(SectionsOpened, opened.append)
    bus.subscribe(PromptRendered, renders.append)
    bus.subscribe(ToolInvoked, calls.append)
    order: list[str] = []
    for kind in (SectionsOpened, ToolInvoked):
        bus.subscribe(kind, lambda event: order.append(type(event).__name__))
    session = Session(bus=bus)
    both = PromptTemplate(ns="t", key="p", sections=[DOCS, RULES], disclosure="open").bind()
    asked = opens("docs").calls + opens("rules").calls + opens("docs").calls
    provider, response = evaluate(
        "deferred tools", both, Said(calls=asked), Said("Done."), session=session
    )
    assert [(e.section_keys, e.appended, e.tools) for e in opened] == [
        (("docs",), True, ("look_up",)),
        (("rules",), True, ()),
    ]
    assert order == [*["ToolInvoked", "SectionsOpened"] * 2, "ToolInvoked"]
    assert len({e.evaluation_id for e in (*opened, *renders, *calls)}) == 1
    assert [(c.name, c.success) for c in calls] == [
        ("open_sections", True),
        ("open_sections", True),
        ("open_sections", False),
    ]
    assert response.expansions == (
        Expansion(("docs",), "why", appended=True),
        Expansion(("rules",), "why", appended=True),
    )
    assert dict(session.visibility_overrides()) == {("docs",): FULL, ("rules",): FULL}
    results = provider.requests[1]["messages"][2]["content"]
    assert [r["type"] for r in results] == [*["tool_result"] * 3, "text"]
    assert "Already shown in full: 'docs'" in results[2]["content"]
    assert len(renders) == 1


def closed(*, session: Session) -> bool:
    return not session.visibility_overrides()


def test_an_opening_that_changes_something_else_is_rendered_anew() -> None:
    shy = MarkdownSection[None](
        title="Shy",
        key="shy",
        template="Only while docs are closed.",
        enabled=closed,  # type: ignore[arg-type]  # It asks for the session, too.
    )
    prompt = PromptTemplate(ns="t", key="p", sections=[DOCS, RULES, shy], disclosure="open").bind()
    bus = InProcessEventBus()
    opened: list[SectionsOpened] = []
    bus.subscribe(SectionsOpened, opened.append)
    provider, response = evaluate(
        "deferred tools",
        prompt,
        opens("docs"),
        opens("rules"),
        Said("Done."),
        session=Session(bus=bus),
    )
    assert [(e.appended, e.why) for e in response.expansions] == [
        (True, ""),
        (False, "the section 'shy' changes, too"),
    ]
    assert [(e.appended, e.why) for e in opened] == [
        (e.appended, e.why) for e in response.expansions
    ]
    third = provider.requests[2]
    assert len(third["messages"]) == 1
    text = third["messages"][0]["content"]
    assert ("All docs." in text, "All rules." in text, "Only while" in text) == (True, True, False)


def test_rendering_anew_tells_tasks_as_before() -> None:
    provider, response = evaluate(
        "chat completions", PROMPT, opens("docs"), Said("Done."), opening="render"
    )
    assert (
        "**Expansion Context:** Sections expanded" in provider.requests[1]["messages"][0]["content"]
    )
    assert response.expansions[0].why == "`opening` is 'render'"


def test_the_budgets_hold_for_appended_sections() -> None:
    with pytest.raises(ExpansionLimitError, match="asked 1 times"):
        evaluate("deferred tools", PROMPT, opens("docs"), max_expansions=0)
    long = DOCS.clone(template="All docs. " * 100)
    prompt = PromptTemplate(ns="t", key="p", sections=[long]).bind()
    with pytest.raises(ExpansionLimitError, match="tokens long"):
        evaluate("deferred tools", prompt, opens("docs"), expansion_budget=100)
    _, response = evaluate(
        "deferred tools", prompt, opens("docs"), Said("Done."), expansion_budget=300
    )
    assert response.expansions[0].tokens == 224


def test_nothing_changes_for_a_prompt_in_which_nothing_can_be_opened() -> None:
    plain = PromptTemplate(ns="t", key="p", sections=[TASK]).bind(Task("Go."))
    provider, response = evaluate("chat completions", plain, Said("Done."))
    assert "tools" not in provider.requests[0]
    assert not response.conversation.appends


def test_a_recorded_opening_can_be_played_again() -> None:
    with serving(OpenAISimulator([opens("docs"), Said("Done.")])) as provider:
        recording = RecordingAdapter(provider.adapter(model="gpt-5.6"))
        evaluate_with_disclosure(recording, PROMPT)
    script = Transcript.from_json(recording.transcript.to_json())
    assert script.appending == Appending("proxy", system=False)
    assert len(script.exchanges) == 1
    response = evaluate_with_disclosure(ScriptedAdapter(script), PROMPT)
    assert response.text == "Done."
    assert response.expansions[0].appended


def test_a_scripted_model_can_open_by_appending() -> None:
    call = ScriptedCall("open_sections", {"section_keys": ["docs"], "reason": "why"})
    script = Transcript.of([ScriptedTurn(tool_calls=(call,)), ScriptedTurn("Done.")])
    adapter = ScriptedAdapter(script, appending=Appending("deferred"))
    response = evaluate_with_disclosure(adapter, PROMPT)
    assert response.expansions[0].appended
    assert response.tool_outcomes[0].result.message == OPENED


def test_a_tool_may_be_called_as_the_proxy_is() -> None:
    own = PromptTemplate(
        ns="t", key="p", sections=[DOCS.clone(tools=[tool("call_tool")]), TASK]
    ).bind(Task("Go."))
    call = ("call_tool_", {"name": "call_tool", "arguments": {"word": "it"}})
    provider, _ = evaluate(
        "chat completions", own, opens("docs"), Said(calls=(call,)), Said("Done.")
    )
    assert provider.requests[2]["messages"][4]["content"] == "call_tool heard it"


def test_a_chat_goes_on_behind_what_was_opened() -> None:
    simulator = AnthropicSimulator(
        [opens("docs"), Said("Yes."), Said(calls=(("look_up", {}),)), Said("Fine.")]
    )
    session = Session()
    with serving(simulator) as provider:
        adapter = provider.adapter(model="claude-sonnet-5")
        first = evaluate_with_disclosure(
            adapter, PROMPT, session=session, conversation=Conversation()
        )
        assert first.conversation.opened == (("docs",),)
        assert session.conversation() == first.conversation
        kept = Conversation.from_json(session.conversation().to_json())
        again = evaluate_with_disclosure(
            adapter, PROMPT, session=session, conversation=kept.user("And now?")
        )
        assert again.text == "Fine."
        assert again.tool_outcomes[0].result.value == "look_up heard nothing"
    assert provider.refusals == []
    assert provider.requests[2]["tools"] == provider.requests[0]["tools"]
    assert provider.kept_shares() == [1.0, 1.0, 1.0]


def test_an_opening_that_cannot_be_appended_begins_a_chat_anew() -> None:
    script = Transcript.of(
        [ScriptedTurn("Hello.")],
        [
            ScriptedTurn(
                tool_calls=(
                    ScriptedCall("open_sections", {"section_keys": ["docs"], "reason": "why"}),
                )
            )
        ],
        [ScriptedTurn("Done.")],
    )
    adapter = ScriptedAdapter(script)
    first = evaluate_with_disclosure(adapter, PROMPT, conversation=Conversation())
    second = evaluate_with_disclosure(
        adapter, PROMPT, conversation=first.conversation.user("Go on.")
    )
    assert [type(turn).__name__ for turn in second.conversation.turns] == [
        *("UserTurn", "AssistantTurn", "UserTurn", "AssistantTurn")
    ]
    begin = second.conversation.turns[0]
    assert isinstance(begin, UserTurn)
    assert "All docs." in begin.text


def test_a_context_policy_never_shortens_what_was_opened() -> None:
    long = DOCS.clone(template="All docs. " * 200)
    prompt = PromptTemplate(ns="t", key="p", sections=[long, TASK]).bind(Task("Go."))
    calls = [Said(calls=(("look_up", {"word": f"{n} " * 100}),)) for n in range(4)]
    simulator = AnthropicSimulator([opens("docs"), *calls, Said("Done."), Said("Yes.")])
    with serving(simulator) as provider:
        adapter = provider.adapter(
            model="claude-sonnet-5", context_policy=ContextPolicy(keep_turns=1, budget=100)
        )
        response = evaluate_with_disclosure(adapter, prompt)
        again = response.conversation.user("Sure?")
        evaluate_with_disclosure(adapter, prompt, conversation=again)
    assert provider.refusals == []
    *_, before, last = provider.requests
    assert "All docs. All docs." in str(before["messages"][2])
    assert "look_up heard" not in str(before["messages"][4]), "an older result is shortened"
    assert last["messages"][:10] == before["messages"][:10]
    assert "look_up heard" not in str(last["messages"][10]), "it is old by now"
