"""Conversations of several evaluations: each request shows what its prompt shows, on every wire."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.prompts import (
    Chapter,
    ChaptersExpansionPolicy,
    ContextPolicy,
    MarkdownSection,
    Priority,
    PromptTemplate,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
    apply_expansion,
    evaluate_with_expansions,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import VisibilityExpansionRequired
from foldline.prompts.runtime import (
    Conversation,
    PromptResponse,
    Session,
    SetVisibilityOverride,
    VisibilityOverrides,
    evaluate_with_disclosure,
)

from .openings import FULL, SUMMARY, WIRES, tool
from .providers import Json, serving
from .test_opening import added, known_tools, own_tools, shapes, texts
from .wire.simulators import AnthropicSimulator
from .wires import Said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foldline.prompts.adapters import BaseAdapter
    from foldline.prompts.visibility import SectionPath

    from .wire.simulators import Simulator

DOCS = MarkdownSection[None](
    title="Docs",
    key="docs",
    template="<ALL DOCS>",
    summary="<SOME DOCS>",
    visibility=SUMMARY,
    tools=[tool("t_look_up")],
)
NOTES = DOCS.clone(
    title="Notes", key="notes", template="<ALL NOTES>", summary="<SOME NOTES>", tools=[]
)
TEMPLATE = PromptTemplate(ns="t", key="p", sections=[DOCS, NOTES, TaskSection[Task]()])
OPENS = Said(calls=(("open_sections", {"section_keys": ["docs"], "reason": "why"}),))


class Talk:
    """A model on loopback, and what it was asked."""

    def __init__(self, simulator: Simulator, model: str) -> None:
        self.simulator = simulator
        self.adapter: BaseAdapter = simulator.adapter(model=model)

    def says(self, *script: Said) -> None:
        self.simulator._script = [Said("")] * len(self.simulator.metered) + list(script)

    @property
    def last(self) -> str:
        """All that the last request says."""
        return texts(self.request)

    @property
    def request(self) -> Json:
        request: Json = self.simulator.requests[-1]
        return request

    @property
    def tools(self) -> set[str]:
        return known_tools(self.request)

    def sent(self) -> list[Json]:
        messages: list[Json] = self.simulator.wire.sent(self.request)
        return messages


@pytest.fixture(params=WIRES)
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    simulator, model = WIRES[request.param]
    with serving(simulator([])) as provider:
        yield Talk(provider, model)
    assert provider.refusals == []


# The loops of the specifications


def loop_with_overrides(talk: Talk, conversation: Conversation) -> PromptResponse[None]:
    overrides: dict[SectionPath, SectionVisibility] = {}
    task = Task("Go.")
    while True:
        try:
            return talk.adapter.evaluate(
                TEMPLATE.bind(task), visibility_overrides=overrides, conversation=conversation
            )
        except VisibilityExpansionRequired as request:
            overrides.update(request.requested_overrides)
            task = replace(task, expansion_instructions=request.expansion_instructions)


def loop_with_session(talk: Talk, conversation: Conversation) -> PromptResponse[None]:
    session = Session()
    while True:
        try:
            return talk.adapter.evaluate(
                TEMPLATE.bind(Task("Go.")), session=session, conversation=conversation
            )
        except VisibilityExpansionRequired as request:
            for path, visibility in request.requested_overrides.items():
                session[VisibilityOverrides].apply(
                    SetVisibilityOverride(path=path, visibility=visibility)
                )


def loop_with_both(talk: Talk, conversation: Conversation) -> PromptResponse[None]:
    session = Session()
    overrides: dict[SectionPath, SectionVisibility] = {("docs",): SUMMARY}
    while True:
        try:
            return talk.adapter.evaluate(
                TEMPLATE.bind(Task("Go.")),
                session=session,
                visibility_overrides=overrides,
                conversation=conversation,
            )
        except VisibilityExpansionRequired as request:
            apply_expansion(request, overrides, session=session)


def helper(talk: Talk, conversation: Conversation) -> PromptResponse[None]:
    return evaluate_with_expansions(
        lambda overrides: talk.adapter.evaluate(
            TEMPLATE.bind(Task("Go.")), visibility_overrides=overrides, conversation=conversation
        )
    )


@pytest.mark.parametrize("loop", [loop_with_overrides, loop_with_session, loop_with_both, helper])
def test_a_retry_loop_reaches_the_model_in_a_conversation(
    talk: Talk, loop: Callable[[Talk, Conversation], PromptResponse[None]]
) -> None:
    talk.says(Said("Hello."), OPENS, Said(calls=(("t_look_up", {}),)), Said("Done."), Said("Bye."))
    first = talk.adapter.evaluate(TEMPLATE.bind(Task("Go.")), conversation=Conversation())
    assert "<SOME DOCS>" in talk.last
    second = loop(talk, first.conversation.user("Read the docs."))
    assert (second.text, second.rendered.blocks[0].visibility) == ("Done.", FULL)
    assert talk.last.count("<ALL DOCS>") == 1
    assert "<SOME DOCS>" not in talk.last
    assert "t_look_up" in talk.tools
    assert "t_look_up heard nothing" in str(talk.sent())
    assert ("**Expansion Context:**" in talk.last) is (loop is loop_with_overrides)
    assert talk.last.index("Hello.") < talk.last.index("Read the docs.")

    third = talk.adapter.evaluate(
        TEMPLATE.bind(Task("Go.")), conversation=second.conversation.user("Thanks.")
    )
    assert third.text == "Bye."
    assert ("<ALL DOCS>" in talk.last, "<SOME DOCS>" in talk.last) == (False, True), (
        "this evaluation was given no overrides, so the section is folded again"
    )
    assert "t_look_up" not in talk.tools


def test_what_the_helper_opens_stays_open_in_later_evaluations(talk: Talk) -> None:
    talk.says(OPENS, *[Said("Yes.")] * 5)
    prompt = TEMPLATE.bind(Task("Go."))
    said = evaluate_with_disclosure(talk.adapter, prompt, conversation=Conversation()).conversation
    for task in ("Go.", "Go.", "Stop.", "Stop."):
        conversation = Conversation.from_json(said.user("And now?").to_json())
        response = talk.adapter.evaluate(TEMPLATE, Task(task), conversation=conversation)
        said = response.conversation
        assert response.rendered.blocks[0].visibility is FULL
        assert talk.last.count("<ALL DOCS>") == 1
        assert "t_look_up" in talk.tools
    *kept, anew, last = talk.simulator.kept_shares()
    assert (kept, last) == ([1.0, 1.0, 1.0], 1.0)
    assert anew < 1, "another task is another beginning"


# Changes between two evaluations


def test_text_that_is_opened_between_two_evaluations_is_appended(talk: Talk) -> None:
    talk.says(Said("Hello."), Said("Yes."), Said("Bye."))
    prompt = TEMPLATE.bind(Task("Go."))
    said = talk.adapter.evaluate(prompt, conversation=Conversation()).conversation
    for _ in range(2):
        response = talk.adapter.evaluate(
            prompt,
            conversation=said.user("Now with notes."),
            visibility_overrides={("notes",): FULL, ("docs",): SUMMARY},
        )
        said = response.conversation
        # Without `read_section` the requests have other tools, so the prompt is rendered anew.
        assert talk.last.count("<ALL NOTES>") == 1
        assert "<SOME DOCS>" in talk.last
    both = TEMPLATE.with_sections((*TEMPLATE.sections, NOTES.clone(key="more", template="<MORE>")))
    talk.says(Said("Hello."), Said("Yes."))
    said = talk.adapter.evaluate(both.bind(Task("Go.")), conversation=Conversation()).conversation
    before = talk.sent()
    talk.adapter.evaluate(
        both.bind(Task("Go.")),
        conversation=said.user("Now with notes."),
        visibility_overrides={("notes",): FULL},
    )
    assert _plain(talk.sent()[: len(before)]) == _plain(before)
    assert talk.last.count("<ALL NOTES>") == 1
    assert talk.last.index("<ALL NOTES>") < talk.last.index("Now with notes.")
    assert talk.simulator.kept_shares()[-1] == 1.0


def _plain(messages: list[Json]) -> list[str]:
    return [texts({"messages": [message]}) for message in messages]


def test_tools_come_with_a_section_that_the_caller_opens_where_sections_are_appended(
    talk: Talk,
) -> None:
    call: tuple[str, object] = ("t_look_up", {})
    talk.says(Said("Hello."), Said("Yes."))
    prompt = TEMPLATE.bind(Task("Go."))
    first = evaluate_with_disclosure(talk.adapter, prompt, conversation=Conversation())
    assert first.conversation.appends
    response = talk.adapter.evaluate(
        prompt,
        conversation=first.conversation.user("Now with docs."),
        visibility_overrides={("docs",): FULL},
    )
    assert talk.tools == {"t_look_up"}
    assert talk.last.count("<ALL DOCS>") == 1
    appended = bool(response.conversation.sent.brought)
    assert (talk.simulator.kept_shares() == [1.0]) is appended
    if appended:
        call = ("call_tool", {"name": "t_look_up", "arguments": {}})
    talk.says(Said(calls=(call,)), Said("Done."))
    last = talk.adapter.evaluate(
        prompt,
        conversation=response.conversation.user("Look it up."),
        visibility_overrides={("docs",): FULL},
    )
    assert last.tool_outcomes[0].result.value == "t_look_up heard nothing"


def test_a_tool_that_is_gone_is_not_promised_any_more(talk: Talk) -> None:
    talk.says(OPENS, Said("Yes."), Said("Bye."))
    first = evaluate_with_disclosure(
        talk.adapter, TEMPLATE.bind(Task("Go.")), conversation=Conversation()
    )
    assert "t_look_up" in talk.tools
    bare = TEMPLATE.with_sections((DOCS.clone(tools=[]), *TEMPLATE.sections[1:]))
    talk.adapter.evaluate(bare, Task("Go."), conversation=first.conversation.user("Go on."))
    assert talk.tools == set()
    assert talk.last.count("<ALL DOCS>") == 1


@FrozenDataclass()
class Weather:
    now: str


def test_a_changed_value_is_rendered_anew_and_the_old_one_is_gone(talk: Talk) -> None:
    template = PromptTemplate(
        ns="t",
        key="p",
        sections=[MarkdownSection[Weather](title="Now", key="now", template="<${now}>")],
    )
    talk.says(Said("Hm."), Said("Oh."), Said("Ah."))
    said = Conversation()
    for now in ("rain", "sun", "sun"):
        said = talk.adapter.evaluate(template, Weather(now), conversation=said).conversation
        assert f"<{now}>" in talk.last
        said = said.user("And now?")
    assert "<rain>" not in talk.last
    assert [turn.role for turn in said.turns] == ["user", *["assistant", "user"] * 3]
    assert talk.simulator.kept_shares()[-1] == 1.0


def test_another_adapter_goes_on_with_what_was_opened() -> None:
    simulators = [WIRES["deferred tools"], WIRES["chat completions"]]
    prompt = TEMPLATE.bind(Task("Go."))
    with serving(simulators[0][0]([OPENS, Said("Yes.")])) as provider:
        first = evaluate_with_disclosure(
            provider.adapter(model=simulators[0][1]), prompt, conversation=Conversation()
        )
    script = [Said(calls=(("t_look_up", {}),)), Said("Done.")]
    with serving(simulators[1][0](script)) as provider:
        talk = Talk(provider, simulators[1][1])
        response = talk.adapter.evaluate(prompt, conversation=first.conversation.user("Go on."))
        assert provider.refusals == []
    assert response.tool_outcomes[0].result.success
    assert "t_look_up" in talk.tools
    assert talk.last.count("<ALL DOCS>") == 1, "its first result doesn't repeat the beginning"


@pytest.mark.parametrize("other", ["claude-sonnet-5", "claude-opus-4-1"])
def test_a_model_without_messages_in_between_is_not_sent_those_of_another(other: str) -> None:
    prompt = PromptTemplate(
        ns="t", key="p", system=[DOCS.clone(tools=[]), NOTES], sections=[TaskSection[Task]()]
    ).bind(Task("Go."))
    opened: dict[SectionPath, SectionVisibility] = {("docs",): FULL}
    with serving(AnthropicSimulator([Said("A."), Said("B."), Said("C.")])) as provider:
        talk = Talk(provider, "claude-opus-5-5")
        said = talk.adapter.evaluate(prompt, conversation=Conversation()).conversation
        said = talk.adapter.evaluate(
            prompt, conversation=said.user("Go on."), visibility_overrides=opened
        ).conversation
        assert [turn.role for turn in said.turns][-2:] == ["system", "assistant"]
        provider.adapter(model=other).evaluate(
            prompt, conversation=said.user("Go on."), visibility_overrides=opened
        )
        assert provider.refusals == []
        assert "<ALL DOCS>" in str(talk.request["system"])


def test_a_section_that_lost_its_summary_since_is_shown(talk: Talk) -> None:
    talk.says(OPENS, Said("Yes."), Said("Bye."))
    first = evaluate_with_disclosure(
        talk.adapter, TEMPLATE.bind(Task("Go.")), conversation=Conversation()
    )
    plain = MarkdownSection[None](title="Docs", key="docs", template="<ALL DOCS>")
    talk.adapter.evaluate(
        TEMPLATE.with_sections((plain, *TEMPLATE.sections[1:])),
        Task("Go."),
        conversation=first.conversation.user("Go on."),
    )
    assert talk.last.count("<ALL DOCS>") == 1


@pytest.mark.parametrize("kept", [-1, -2, -3])
def test_turns_that_were_dropped_by_hand_are_made_up_for(talk: Talk, kept: int) -> None:
    """Show what the dropped ones showed, and keep the others."""
    talk.says(OPENS, Said("Yes."), Said("Bye."))
    prompt = TEMPLATE.bind(Task("Go."))
    first = evaluate_with_disclosure(
        talk.adapter, prompt, conversation=Conversation().user("Hello!")
    )
    said = first.conversation.user("And now?")
    said = replace(said, turns=tuple(t for t in said.turns[kept:] if t.role != "tool"))
    response = talk.adapter.evaluate(prompt, conversation=said)
    assert response.rendered.blocks[0].visibility is FULL
    assert talk.last.count("<ALL DOCS>") == 1
    assert talk.tools == {"t_look_up"}
    assert "And now?" in talk.last
    assert response.conversation.said[-1] == "And now?"


def test_a_changed_definition_of_a_tool_reaches_the_model(talk: Talk) -> None:
    talk.says(OPENS, Said("Yes."), Said("Bye."))
    first = evaluate_with_disclosure(
        talk.adapter, TEMPLATE.bind(Task("Go.")), conversation=Conversation()
    )
    other = tool("t_look_up")
    other.description = "<Looks up words.>"
    talk.adapter.evaluate(
        TEMPLATE.with_sections((DOCS.clone(tools=[other]), *TEMPLATE.sections[1:])),
        Task("Go."),
        conversation=first.conversation.user("Go on."),
    )
    assert "<Looks up words.>" in str(talk.request)
    assert "The tool <t_look_up>." not in str(talk.request)


def test_what_the_model_opened_by_a_new_beginning_stays_open(talk: Talk) -> None:
    talk.says(OPENS, Said("Yes."), Said("Bye."))
    prompt = TEMPLATE.bind(Task("Go."))
    first = evaluate_with_disclosure(
        talk.adapter, prompt, conversation=Conversation(), opening="render"
    )
    assert first.conversation.opened == (("docs",),)
    talk.adapter.evaluate(prompt, conversation=first.conversation.user("Go on."))
    assert "<ALL DOCS>" in talk.last
    talk.says(Said("Oh."))
    closed = first.conversation.close([("docs",)])
    talk.adapter.evaluate(prompt, conversation=closed.user("Go on."))
    assert "<ALL DOCS>" not in talk.last


def test_another_prompt_does_not_get_what_was_opened_of_the_first(talk: Talk) -> None:
    talk.says(OPENS, Said("Yes."), Said("Bye."))
    first = evaluate_with_disclosure(
        talk.adapter, TEMPLATE.bind(Task("Go.")), conversation=Conversation()
    )
    other = PromptTemplate(ns="t", key="other", sections=TEMPLATE.sections)
    talk.adapter.evaluate(other, Task("Go."), conversation=first.conversation.user("Go on."))
    assert ("<ALL DOCS>" in talk.last, "<SOME DOCS>" in talk.last) == (False, True)


def test_a_summary_with_another_value_is_not_left_standing(talk: Talk) -> None:
    template = PromptTemplate(
        ns="t",
        key="p",
        sections=[
            MarkdownSection[Weather](
                title="Now",
                key="now",
                template="<It is ${now}.>",
                summary="<SOME ${now}>",
                visibility=SUMMARY,
            ),
            NOTES,
        ],
    )
    talk.says(Said("Hm."), Said("Oh."))
    said = talk.adapter.evaluate(template, Weather("rain"), conversation=Conversation())
    talk.adapter.evaluate(
        template,
        Weather("sun"),
        conversation=said.conversation.user("And now?"),
        visibility_overrides={("now",): FULL},
    )
    assert ("<SOME rain>" in talk.last, "<It is sun.>" in talk.last) == (False, True)


def test_what_was_read_of_a_section_that_is_gone_goes_too(talk: Talk) -> None:
    not_hidden = [True]
    template = PromptTemplate(
        ns="t",
        key="p",
        sections=[
            TaskSection[Task](),
            NOTES.clone(key="secret", template="<ALL SECRETS>", enabled=lambda: not_hidden[0]),
            NOTES,
        ],
    )
    reads = [Said(calls=(("read_section", {"section_key": k}),)) for k in ("secret", "notes")]
    talk.says(*reads, Said("Hm."), Said("Oh."))
    said = talk.adapter.evaluate(template, Task("Go."), conversation=Conversation()).conversation
    assert "<ALL SECRETS>" in talk.last
    not_hidden[0] = False
    talk.adapter.evaluate(template, Task("Go."), conversation=said.user("And now?"))
    assert ("<ALL SECRETS>" in talk.last, "<ALL NOTES>" in talk.last) == (False, True)


def test_a_conversation_stored_by_an_earlier_version_shows_everything_once(talk: Talk) -> None:
    talk.says(OPENS, Said("Yes."), Said("Bye."))
    prompt = TEMPLATE.bind(Task("Go."))
    first = evaluate_with_disclosure(
        talk.adapter, prompt, conversation=Conversation().user("Hello!")
    )
    stored = json.loads(first.conversation.user("Go on.").to_json())
    del stored["sent"]
    for turn in stored["turns"]:
        turn.pop("sections", None)
        for answer in turn.get("answers", ()):
            del answer["sections"]
    talk.adapter.evaluate(prompt, conversation=Conversation.from_json(json.dumps(stored)))
    assert talk.last.count("<ALL DOCS>") == 1
    assert talk.last.count("Go on.") == talk.last.count("Hello!") == 1


def test_opening_render_renders_anew_in_any_conversation(talk: Talk) -> None:
    talk.says(Said("Hello."), OPENS, Said("Yes."))
    prompt = TEMPLATE.bind(Task("Go."))
    first = evaluate_with_disclosure(talk.adapter, prompt, conversation=Conversation())
    second = evaluate_with_disclosure(
        talk.adapter, prompt, conversation=first.conversation.user("Go on."), opening="render"
    )
    assert [(e.appended, e.why) for e in second.expansions] == [(False, "`opening` is 'render'")]
    assert talk.last.count("<ALL DOCS>") == 1


def test_the_order_of_the_sections_is_that_of_the_prompt(talk: Talk) -> None:
    first, second = (
        MarkdownSection[None](title=key, key=key, template=f"<{key}>") for key in ("a", "b")
    )
    talk.says(Said("Hm."), Said("Oh."))
    made = [
        PromptTemplate(
            ns="t", key="p", sections=pair, heading=lambda heading: f"## {heading.title}"
        )
        for pair in ((first, second), (second, first))
    ]
    said = talk.adapter.evaluate(made[0], conversation=Conversation()).conversation
    talk.adapter.evaluate(made[1], conversation=said.user("Go on."))
    assert talk.last.index("<b>") < talk.last.index("<a>")


# Chapters


def chapter(key: str) -> Chapter[None]:
    return Chapter[None](
        key=key,
        title=key.title(),
        sections=[
            MarkdownSection[None](
                title=key.title(), key=key, template=f"<ALL {key}>", tools=[tool(f"t_{key}")]
            )
        ],
    )


SUPPORT = PromptTemplate(
    ns="t",
    key="support",
    sections=[TaskSection[Task]()],
    chapters=[chapter("billing"), chapter("security")],
)
CLASSIFIED: dict[str, Any] = {
    "goal_section_key": "task",
    "chapters_expansion_policy": ChaptersExpansionPolicy.INTENT_CLASSIFIER,
}


def support(talk: Talk, goal: str, conversation: Conversation) -> PromptResponse[None]:
    return talk.adapter.evaluate(SUPPORT, Task(goal), conversation=conversation, **CLASSIFIED)


def shown(talk: Talk) -> list[str]:
    """The chapters whose text the model got; it has their tools, and no others."""
    found = [key for key in ("billing", "security") if f"<ALL {key}>" in talk.last]
    assert talk.tools == {f"t_{key}" for key in found}
    return found


def test_text_and_tools_of_chapters_follow_each_decision(talk: Talk) -> None:
    talk.says(Said("A."), Said("B."), Said(calls=(("t_security", {}),)), Said("C."), Said("D."))
    said = support(talk, "Fix billing.", Conversation()).conversation
    assert shown(talk) == ["billing"]
    said = support(talk, "Review security.", said.user("Next.")).conversation
    assert shown(talk) == ["security"]
    said = support(talk, "Billing and security.", said.user("Next.")).conversation
    assert shown(talk) == ["billing", "security"]
    support(talk, "Nothing of it.", said.user("Next."))
    assert shown(talk) == []


def test_the_classifier_sees_what_the_user_says_in_the_conversation(talk: Talk) -> None:
    talk.says(Said("A."), Said("B."), Said("C."))
    said = support(talk, "Help.", Conversation()).conversation
    assert shown(talk) == []
    said = support(talk, "Help.", said.user("It is about billing.")).conversation
    assert shown(talk) == ["billing"]
    support(talk, "Help.", said.user("Go on."))
    assert shown(talk) == ["billing"], "it was asked for in this conversation"


def test_a_chapter_without_tools_is_appended_so_that_the_prefix_stays(talk: Talk) -> None:
    bare = [
        Chapter[None](key=c.key, title=c.title, sections=[c.sections[0].clone(tools=[])])
        for c in SUPPORT.sections
        if isinstance(c, Chapter)
    ]
    template = PromptTemplate(ns="t", key="p", sections=[TaskSection[Task]()], chapters=bare)
    talk.says(Said("A."), Said("B."), Said("C."))
    said = Conversation()
    for text in ("Hello.", "Billing?", "Security?"):
        response = talk.adapter.evaluate(
            template, Task("Help."), conversation=said.user(text), **CLASSIFIED
        )
        said = response.conversation
        for block in response.rendered.blocks:
            assert talk.last.count(block.text.strip()) == 1
    assert all(share >= 0.99 for share in talk.simulator.kept_shares())
    assert [turn.role for turn in said.turns] == [
        *("user", "user", "assistant", "user", "user", "assistant", "user", "user", "assistant")
    ]
    talk.says(Said("D."))
    talk.adapter.evaluate(
        template,
        Task("Help."),
        conversation=said.user("Bye."),
        **CLASSIFIED,
        intent_classifier=lambda query: query.chapter.key == "billing",
    )
    assert ("<ALL billing>" in talk.last, "<ALL security>" in talk.last) == (True, False)


# Context policies


@FrozenDataclass()
class ReadFile:
    path: str


def read_file(params: ReadFile, *, context: ToolContext) -> ToolResult[str]:
    del context
    text = f"<{params.path}> " * 1_000
    return ToolResult(value=text, summary=f"<outline of {params.path}>", priority=Priority.LOW)


READER = PromptTemplate(
    ns="t",
    key="reader",
    sections=[
        MarkdownSection[None](
            title="Read",
            key="read",
            template="Read files.",
            tools=[Tool[ReadFile, str](name="read_file", description="Reads.", handler=read_file)],
        )
    ],
)


def _results(talk: Talk) -> list[str]:
    found = []
    for message in talk.sent():
        if message.get("role") == "tool":
            found.append(message["content"])
        elif message.get("type") == "function_call_output":
            found.append(message["output"])
        elif message.get("role") == "user" and isinstance(message["content"], list):
            found += [b["content"] for b in message["content"] if b["type"] == "tool_result"]
    return found


def test_a_policy_holds_over_all_evaluations_of_a_conversation(talk: Talk) -> None:
    policy = ContextPolicy(keep_turns=2, budget=10_000)
    said = Conversation()
    for number in range(6):
        path = f"f{number}.py"
        talk.says(Said(calls=(("read_file", {"path": path}),)), Said("Read."))
        response = talk.adapter.evaluate(
            READER, conversation=said.user(f"Read {path}."), context_policy=policy
        )
        said = Conversation.from_json(response.conversation.to_json())
        results = _results(talk)
        assert len(results) == number + 1
        assert results[-1].startswith(f"<{path}> <{path}>")
        assert results[:-1] == [f"<outline of f{n}.py>" for n in range(number)]


def test_a_handle_reads_a_result_of_an_earlier_evaluation(talk: Talk) -> None:
    policy = ContextPolicy(keep_turns=1, handles=True)
    talk.says(Said(calls=(("read_file", {"path": "a.py"}),)), Said("Read."))
    said = talk.adapter.evaluate(READER, conversation=Conversation(), context_policy=policy)
    stored = Conversation.from_json(said.conversation.user("Again.").to_json())
    talk.says(Said(calls=(("read_result", {"handle": "r1"}),)), Said("Done."))
    talk.adapter.evaluate(READER, conversation=stored, context_policy=policy)
    first, second = _results(talk)
    assert first.startswith("<outline of a.py>\n[shortened; read_result returns it")
    assert second == "<a.py> " * 1_000


def test_a_handle_is_kept_when_other_turns_are_dropped_and_the_policy_ends(talk: Talk) -> None:
    policy = ContextPolicy(keep_turns=1, handles=True)
    calls = [Said(calls=(("read_file", {"path": path}),)) for path in ("a.py", "b.py", "c.py")]
    talk.says(*calls, Said("Read."))
    said = talk.adapter.evaluate(READER, conversation=Conversation(), context_policy=policy)
    turns = said.conversation.turns
    dropped = replace(said.conversation, turns=(turns[0], *turns[3:])).user("Again.")
    talk.says(Said(calls=(("read_result", {"handle": "r2"}),)), Said("Done."))
    talk.adapter.evaluate(READER, conversation=dropped)
    assert _results(talk)[-1] == "<b.py> " * 1_000


def test_a_policy_that_comes_with_an_opened_section_holds_at_once(talk: Talk) -> None:
    policy = ContextPolicy(keep_turns=1)
    (reads,) = READER.sections
    tools = [
        Tool[ReadFile, str](
            name="read_file", description="Reads.", handler=read_file, context_policy=policy
        )
    ]
    folded = reads.clone(key="docs", summary="<SOME DOCS>", visibility=SUMMARY, tools=tools)
    template = PromptTemplate(ns="t", key="p", sections=[folded, TaskSection[Task]()])
    name = "read_file"
    talk.says(OPENS)
    simulator = talk.simulator

    def model(request: Json) -> Said:
        number = len(simulator.requests)
        if number == 1:
            return OPENS
        path = {"path": f"{number}.py"}
        if number > 4:
            return Said("Done.")
        offered = {t.get("function", t)["name"] for t in request["tools"]}
        offered |= {t["name"] for t in added(request)}
        if name in offered:
            return Said(calls=((name, path),))
        return Said(calls=(("call_tool", {"name": name, "arguments": path}),))

    simulator._script = model
    evaluate_with_disclosure(talk.adapter, template, Task("Go."))
    assert "<2.py> <2.py>" not in str(talk.sent())
    assert "<4.py> <4.py>" in str(talk.sent())


# Any sequence


@dataclass(frozen=True)
class Step:
    """One evaluation: what differs from the one before, and what the model does."""

    by: str
    """`loop`, `helper` or `plain`: the model opens a section, and the door that it comes through;
    `caller` or `session`: they open one."""
    pick: int
    chapters: frozenset[str]
    value: int
    calls: bool
    other: bool
    """True for the other adapter."""


STEPS = st.builds(
    Step,
    st.sampled_from(["loop", "helper", "plain", "caller", "session"]),
    st.integers(0, 40),
    # Mostly the same, so that there is something to go on with.
    st.sampled_from([*[frozenset[str]()] * 3, frozenset(["c0"]), frozenset(["c0", "c1"])]),
    st.sampled_from([*[0] * 6, 1]),
    st.booleans(),
    st.sampled_from([*[False] * 4, True]),
)


@FrozenDataclass()
class Value:
    value: int = 0


@st.composite
def chapter_templates(draw: st.DrawFn) -> PromptTemplate[None]:
    roles = st.sampled_from([None, "system", "developer"])
    tops = [draw(shapes(f"s{n}")).section(draw(roles)) for n in range(draw(st.integers(1, 2)))]
    value = MarkdownSection[Value](title="V", key="value", template="<BODY value ${value}>")
    chapters = [
        Chapter[None](
            key=f"c{n}", title=f"C{n}", sections=[draw(shapes(f"c{n}s")).section(draw(roles))]
        )
        for n in range(2)
    ]
    last = [value, *chapters] if draw(st.booleans()) else [*chapters, value]
    return PromptTemplate(
        ns="t",
        key="t",
        sections=[*tops, *last],
        disclosure=draw(st.sampled_from(["auto", "open"])),
    )


class Chat:
    """A conversation by steps, over one or two adapters."""

    def __init__(self, talks: Sequence[Talk], template: PromptTemplate[None]) -> None:
        self.talks = talks
        self.template = template
        self.session = Session()
        self.said = Conversation()
        self.policy = ContextPolicy(keep_turns=1, budget=200)

    def take(self, step: Step) -> None:
        talk = self.talks[step.other]
        opens = step.by in ("loop", "helper", "plain")
        asked: list[str] = []

        def model(request: Json) -> Said:
            offered = {t.get("function", t)["name"] for t in request.get("tools", ())}
            if opens and not asked and "open_sections" in offered:
                keys = re.findall(r'with key "([\w.]+)"', texts(request))
                if keys:
                    asked.append(keys[step.pick % len(keys)])
                    arguments = {"section_keys": asked, "reason": "why"}
                    return Said(calls=(("open_sections", arguments),))
            own = sorted(known_tools(request))
            if step.calls and own and "called" not in asked:
                asked.append("called")
                name = own[step.pick % len(own)]
                arguments = {"word": f"<BODY of a result> {'x' * 300}"}
                if name in offered or name not in texts(request):
                    return Said(calls=((name, arguments),))
                return Said(calls=(("call_tool", {"name": name, "arguments": arguments}),))
            return Said("Done.")

        # The ids of calls are unique in a conversation, whoever the provider is.
        talk.simulator._script = lambda request: replace(model(request), tag=f"p{step.other:d}")
        response = self.evaluated(talk, step)
        if response is None:
            return
        self.said = Conversation.from_json(response.conversation.to_json())
        self.check(talk, response)

    def evaluated(self, talk: Talk, step: Step) -> PromptResponse[None] | None:
        prompt = self.template.bind(Value(step.value))
        options: dict[str, Any] = {
            "conversation": self.said.user(f"Evaluation of {step.value}."),
            "session": self.session,
            "context_policy": self.policy,
            "goal_section_key": "value",
            "chapters_expansion_policy": ChaptersExpansionPolicy.INTENT_CLASSIFIER,
            "intent_classifier": lambda query: query.chapter.key in step.chapters,
        }
        folded = [
            path
            for path, node in self.template.expand_chapters(only=step.chapters).plan.by_path.items()
            if node.declared is SUMMARY
        ]
        opened = {folded[step.pick % len(folded)]: FULL} if folded else {}
        match step.by:
            case "helper":
                return evaluate_with_disclosure(talk.adapter, prompt, **options)
            case "loop":
                return evaluate_with_expansions(
                    lambda overrides: talk.adapter.evaluate(
                        prompt, visibility_overrides=overrides, **options
                    )
                )
            case "caller":
                return talk.adapter.evaluate(prompt, visibility_overrides=opened, **options)
            case "session":
                self.session.apply_visibility_overrides(opened)
        try:
            return talk.adapter.evaluate(prompt, **options)
        except VisibilityExpansionRequired:
            return None

    def check(self, talk: Talk, response: PromptResponse[None]) -> None:
        """The model has seen all that `rendered` claims, once, and nothing else of the prompt."""
        assert talk.simulator.refusals == []
        # Without blanks: breakpoints divide a text.
        last = "".join(talk.last.split())
        for block in response.rendered.blocks:
            assert "".join(block.text.split()) in last
        mark = r"<(?:BODY|SUMMARY)[a-z\d.]+>"
        claimed = re.findall(mark, "".join(response.rendered.text.split()))
        found = re.findall(mark, last.replace("<BODYofaresult>", ""))
        folded_then = Counter(found) - Counter(claimed)
        assert not Counter(claimed) - Counter(found)
        assert all(mark.startswith("<SUMMARY") for mark in folded_then), "summaries may go ahead"
        assert known_tools(talk.request) - {"read_result"} == own_tools(response.rendered)


PAIRS = [
    ("deferred tools", "chat completions"),
    ("deferred tools, system messages", "responses"),
    ("responses, added tools", "a model without either"),
]


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_any_sequence_of_evaluations_shows_what_each_claims(pair: tuple[str, str]) -> None:
    with ExitStack() as stack:
        talks = [
            Talk(stack.enter_context(serving(simulator([]))), model)
            for simulator, model in map(WIRES.__getitem__, pair)
        ]

        @given(chapter_templates(), st.lists(STEPS, min_size=2, max_size=6))
        @settings(settings.get_profile("costly"))
        def holds(template: PromptTemplate[None], steps: list[Step]) -> None:
            chat = Chat(talks, template)
            for step in steps:
                chat.take(step)

        holds()
