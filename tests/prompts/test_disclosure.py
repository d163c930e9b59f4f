"""Progressive disclosure: presence of the tools, what they accept, what they do, suffixes."""

import contextlib
import dataclasses
import json
import pickle
from collections.abc import Mapping
from typing import Any

import pytest

from foldline.prompts import (
    ExpansionBudget,
    MarkdownSection,
    OpenSectionsParams,
    Prompt,
    PromptTemplate,
    ReadSectionParams,
    RenderedPrompt,
    Section,
    SectionPath,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
    ToolTelemetry,
    apply_expansion,
    build_expansion_instructions,
    evaluate_with_expansions,
    rebind_tasks,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    ExpansionLimitError,
    PromptConfigurationError,
    PromptError,
    PromptValidationError,
    ToolValidationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.runtime import InProcessEventBus, Session, ToolInvoked

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY


@FrozenDataclass()
class Nothing:
    pass


@FrozenDataclass()
class Needed:
    needed: str


def handler(params: Nothing, *, context: ToolContext) -> ToolResult[None]:
    return ToolResult()


def folded(
    key: str,
    *children: Section[object],
    tool: str | None = None,
    visibility: SectionVisibility = SUMMARY,
    on: bool = True,
) -> MarkdownSection[None]:
    return MarkdownSection[None](
        title=key,
        key=key,
        template=f"BODY-{key}",
        summary=f"short-{key}",
        visibility=visibility,
        children=children,
        enabled=lambda _: on,
        tools=[Tool[Nothing, None](name=tool, description="x", handler=handler)] if tool else [],
    )


def full(
    key: str, *children: Section[object], tool: str | None = None, on: bool = True
) -> MarkdownSection[None]:
    return folded(key, *children, tool=tool, visibility=FULL, on=on)


def template(*sections: Section[object], disclosure: str = "auto") -> PromptTemplate[None]:
    return PromptTemplate(ns="n", key="k", sections=sections, disclosure=disclosure)  # type: ignore[arg-type]


def names(rendered: RenderedPrompt[None]) -> list[str]:
    return [tool.name for tool in rendered.tools]


def tool(rendered: RenderedPrompt[None], name: str) -> Tool[object, object]:
    (found,) = [tool for tool in rendered.tools if tool.name == name]
    return found


def open_sections(
    rendered: RenderedPrompt[None],
    *keys: str,
    reason: str = "why",
    context: ToolContext | None = None,
) -> VisibilityExpansionRequired:
    with pytest.raises(VisibilityExpansionRequired) as caught:
        tool(rendered, "open_sections").handler(
            OpenSectionsParams(section_keys=keys, reason=reason), context=context or ToolContext()
        )
    return caught.value


def refusal(rendered: RenderedPrompt[None], *keys: str, reason: str = "why") -> ToolValidationError:
    with pytest.raises(ToolValidationError) as caught:
        tool(rendered, "open_sections").handler(
            OpenSectionsParams(section_keys=keys, reason=reason), context=ToolContext()
        )
    return caught.value


def read(rendered: RenderedPrompt[None], key: str) -> object:
    result = tool(rendered, "read_section").handler(
        ReadSectionParams(section_key=key), context=ToolContext()
    )
    assert result.success is True
    return result.value


# Presence


def test_visibility_has_two_states() -> None:
    assert [member.name for member in SectionVisibility] == ["FULL", "SUMMARY"]


def test_a_summarized_section_brings_a_tool() -> None:
    assert names(template(folded("a")).render()) == ["read_section"]


def test_the_tools_accept_no_overrides() -> None:
    rendered = template(folded("a"), folded("b", tool="t")).render()
    assert names(rendered) == ["open_sections", "read_section"]
    assert [tool.accepts_overrides for tool in rendered.tools] == [False, False]
    assert rendered.descriptor is not None
    assert [tool.name for tool in rendered.descriptor.tools] == ["t"]


def test_the_tools_belong_to_no_section_and_come_last() -> None:
    made = template(folded("a"), full("b", tool="user"))
    assert names(made.render()) == ["user", "read_section"]
    assert all(tool.name != "read_section" for section in made.sections for tool in section.tools)


def test_without_summaries_there_are_no_disclosure_tools() -> None:
    assert names(template(full("a"), full("b", tool="t")).render()) == ["t"]


def test_overrides_that_open_everything_remove_the_tools() -> None:
    made = template(folded("a"), folded("b", tool="t"))
    assert names(made.render(visibility_overrides={("a",): FULL, ("b",): FULL})) == ["t"]
    assert names(made.render(visibility_overrides={("b",): FULL})) == ["t", "read_section"]


def test_a_disabled_summary_brings_no_tool() -> None:
    assert names(template(folded("a", on=False)).render()) == []


def test_presence_is_decided_at_render_by_callables_too() -> None:
    @FrozenDataclass()
    class Mode:
        short: bool = False

    section = MarkdownSection[Mode](
        title="T",
        key="t",
        template="x",
        summary="s",
        visibility=lambda mode: SUMMARY if mode.short else FULL,
    )
    made = template(section)
    assert names(made.render(Mode(short=True))) == ["read_section"]
    assert names(made.render(Mode(short=False))) == []


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (folded("a"), "read_section"),
        (folded("a", tool="t"), "open_sections"),
        (folded("a", full("b")), "read_section"),
        (folded("a", full("b", full("c", tool="t"))), "open_sections"),
    ],
)
def test_tools_of_a_section_or_below_it_decide_which_tool_opens_it(
    section: Section[object], expected: str
) -> None:
    rendered = template(section).render()
    assert names(rendered) == [expected]
    assert f"`{expected}`" in rendered.text


def test_disclosure_open_gives_open_sections_to_all() -> None:
    rendered = template(folded("a"), folded("b", tool="t"), disclosure="open").render()
    assert names(rendered) == ["open_sections"]
    assert rendered.text.count("`open_sections`") == 2


@pytest.mark.parametrize("name", ["open_sections", "read_section"])
def test_user_tools_cannot_take_the_names(name: str) -> None:
    with pytest.raises(PromptValidationError, match="reserved"):
        template(full("a", tool=name))


# open_sections


def test_the_parameters_are_frozen_slotted_and_described() -> None:
    for kind in (OpenSectionsParams, ReadSectionParams):
        assert all(field.metadata["description"] for field in dataclasses.fields(kind))
        assert "__slots__" in kind.__dict__
    params = OpenSectionsParams(section_keys=("a",), reason="r")
    with pytest.raises(dataclasses.FrozenInstanceError):
        params.reason = "other"  # type: ignore[misc]


def test_models_get_a_schema_and_their_arguments_are_decoded() -> None:
    found = tool(template(folded("a", tool="t")).render(), "open_sections")
    schema = json.loads(json.dumps(found.parameters))
    assert schema["required"] == ["section_keys", "reason"]
    assert schema["properties"]["section_keys"]["items"] == {"type": "string"}
    assert found.decode('{"section_keys": ["a"], "reason": "r"}') == OpenSectionsParams(
        section_keys=("a",), reason="r"
    )


def test_nested_sections_are_named_with_dots() -> None:
    rendered = template(full("context", folded("examples", tool="t"))).render()
    request = open_sections(rendered, "context.examples")
    assert request.requested_overrides == {("context", "examples"): FULL}


def test_a_dotted_key_is_matched_whole_and_never_split() -> None:
    rendered = template(folded("a.b", full("c.d"), tool="t")).render()
    assert open_sections(rendered, "a.b").requested_overrides == {("a.b",): FULL}
    assert open_sections(rendered, "a.b.c.d").requested_overrides == {
        ("a.b",): FULL,
        ("a.b", "c.d"): FULL,
    }


def test_a_long_reason_is_refused() -> None:
    rendered = template(folded("a", tool="t")).render()
    assert open_sections(rendered, "a", reason="x" * 256).reason == "x" * 256
    assert "256" in str(refusal(rendered, "a", reason="x" * 257))


def test_an_unknown_key_is_refused_with_near_names() -> None:
    error = refusal(template(folded("context", full("examples"), tool="t")).render(), "contxt")
    assert "no section 'contxt'" in str(error)
    assert error.near[0] == "context"
    assert isinstance(error, PromptError)
    assert isinstance(error, ValueError)


def test_a_section_that_is_already_full_is_refused() -> None:
    made = template(folded("a", tool="t"), full("b"), folded("c"))
    assert "already shown in full" in str(refusal(made.render(), "b"))
    opened = made.render(visibility_overrides={("c",): FULL})
    assert "already shown in full" in str(refusal(opened, "c"))


def test_overrides_to_summary_make_a_section_openable() -> None:
    rendered = template(full("a", tool="t")).render(visibility_overrides={("a",): SUMMARY})
    assert open_sections(rendered, "a").requested_overrides == {("a",): FULL}


def test_a_disabled_section_is_refused() -> None:
    made = template(
        folded("a", full("gone", full("below"), on=False), tool="t"), folded("b", on=False)
    )
    rendered = made.render()
    assert "'b' is disabled" in str(refusal(rendered, "b"))
    assert "'a.gone' is disabled" in str(refusal(rendered, "a.gone"))
    assert "'a.gone.below' is disabled, like all of 'a.gone'" in str(
        refusal(rendered, "a.gone.below")
    )


def test_every_bad_key_is_reported_at_once_and_what_can_be_opened() -> None:
    rendered = template(folded("a", tool="t"), full("b"), folded("c")).render()
    error = str(refusal(rendered, "a", "b", "zzz"))
    assert "'b' is already shown in full" in error
    assert "no section 'zzz'" in error
    assert error.endswith("Summarized sections: a, c.")


def test_no_keys_at_all_are_refused() -> None:
    assert "empty" in str(refusal(template(folded("a", tool="t")).render()))


def test_when_open_sections_is_there_it_opens_any_summary() -> None:
    rendered = template(folded("with", tool="t"), folded("without")).render()
    assert open_sections(rendered, "without").requested_overrides == {("without",): FULL}


def test_opening_a_child_opens_its_summarized_ancestors_too() -> None:
    made = template(folded("a", full("b", folded("c")), tool="t"))
    request = open_sections(made.render(), "a.b.c")
    assert request.requested_overrides == {("a",): FULL, ("a", "b", "c"): FULL}
    opened = made.render(visibility_overrides=request.requested_overrides)
    assert "BODY-c" in opened.text


def test_a_hidden_section_that_lacks_its_parameters_can_still_be_named() -> None:
    child = MarkdownSection[Needed](
        title="C", key="c", template="${needed}", enabled=lambda _: True
    )
    rendered = template(folded("a", child, tool="t")).render()
    assert "subsections: c." in rendered.text
    assert ("a", "c") in open_sections(rendered, "a.c").requested_overrides


def test_the_request_carries_all_that_a_retry_needs() -> None:
    request = open_sections(template(folded("a", tool="t"), folded("b")).render(), "b", "a")
    assert dict(request.requested_overrides) == {("b",): FULL, ("a",): FULL}
    assert request.reason == "why"
    assert request.section_keys == ("b", "a")


def test_opening_changes_nothing_by_itself() -> None:
    made = template(folded("a", tool="t"))
    rendered = made.render()
    before = rendered.text
    open_sections(rendered, "a")
    assert made.render().text == before == rendered.text


def test_opening_never_returns() -> None:
    rendered = template(folded("a", tool="t")).render()
    for keys in (("a",), ("nope",), ()):
        with pytest.raises(PromptError):
            tool(rendered, "open_sections").handler(
                OpenSectionsParams(section_keys=keys, reason=""), context=ToolContext()
            )


def test_the_request_is_rendered_again_directly() -> None:
    made = template(folded("a", tool="t"))
    request = open_sections(made.render(), "a")
    again = made.bind().render(visibility_overrides=request.requested_overrides)
    assert again.text == "## 1. a\n\nBODY-a"
    assert names(again) == ["t"]


def test_the_tools_need_no_context() -> None:
    rendered = template(folded("a", tool="t"), folded("b")).render()
    tools: dict[str, Any] = {tool.name: tool.handler for tool in rendered.tools}
    with pytest.raises(VisibilityExpansionRequired):
        tools["open_sections"](OpenSectionsParams(("a",), "why"), context=None)
    with pytest.raises(ToolValidationError):
        tools["open_sections"](OpenSectionsParams(("x",), "why"), context=None)
    assert "BODY-b" in tools["read_section"](ReadSectionParams("b"), context=None).value


def test_the_message_is_as_specified() -> None:
    rendered = template(full("a", folded("b", tool="t")), folded("c")).render()
    assert str(open_sections(rendered, "a.b", "c", reason="Need it")) == (
        "Visibility expansion required for sections: a.b, c. Reason: Need it"
    )
    noted = VisibilityExpansionRequired(
        "a note", requested_overrides={("a", "b"): FULL}, reason="why", section_keys=("a.b",)
    )
    assert str(noted) == "Visibility expansion required for sections: a.b. Reason: why"
    assert noted.args == ("a note",)
    assert str(pickle.loads(pickle.dumps(noted))) == str(noted)


def test_the_keys_are_kept_as_given_repeats_included() -> None:
    rendered = template(folded("a", tool="t")).render()
    assert open_sections(rendered, "a", "a").section_keys == ("a", "a")


def test_the_handler_fills_the_instructions() -> None:
    rendered = template(folded("a", tool="t"), folded("b")).render()
    expected = (
        "Sections expanded: `a`, `b`. Reason: Need it. "
        "Continue with your task using the newly visible content."
    )
    assert build_expansion_instructions(("a", "b"), "Need it") == expected
    assert open_sections(rendered, "a", "b", reason="Need it").expansion_instructions == expected


def test_the_instructions_are_optional_when_the_request_is_made_by_hand() -> None:
    request = VisibilityExpansionRequired(
        requested_overrides={("a",): FULL}, reason="r", section_keys=("a",)
    )
    assert request.expansion_instructions is None


def vars_of(request: VisibilityExpansionRequired) -> dict[str, object]:
    names = ("requested_overrides", "reason", "section_keys", "expansion_instructions")
    return {name: getattr(request, name) for name in names}


def test_the_request_is_hashable_and_survives_pickling() -> None:
    request = open_sections(template(folded("a", tool="t")).render(), "a")
    assert request in {request}
    copied = pickle.loads(pickle.dumps(request))
    assert str(copied) == str(request)
    assert vars_of(copied) == vars_of(request)


def test_all_requested_sections_open_at_once() -> None:
    made = template(folded("a", tool="t"), folded("b"))
    request = open_sections(made.render(), "a", "b")
    text = made.render(visibility_overrides=request.requested_overrides).text
    assert "BODY-a" in text
    assert "BODY-b" in text


def test_a_tool_knows_only_its_own_prompt() -> None:
    template(folded("elsewhere", tool="t"))
    assert "no section 'elsewhere'" in str(
        refusal(template(folded("a", tool="t")).render(), "elsewhere")
    )


def test_telemetry_is_told_before_the_request_is_raised() -> None:
    told: list[ToolTelemetry] = []
    made = template(folded("a", full("x"), tool="t"), full("b"), full("off", on=False))
    open_sections(made.render(), "a", context=ToolContext(telemetry=told.append))
    (event,) = told
    assert event.tool == "open_sections"
    assert event.metadata == {
        "requested_sections": ["a"],
        "reason": "why",
        "current_visibility_state": {"a": "SUMMARY", "a.x": "FULL", "b": "FULL"},
    }
    with pytest.raises(TypeError):
        event.metadata["reason"] = "other"  # type: ignore[index]


def test_a_refused_call_reports_its_metadata_and_the_refusal() -> None:
    reported: list[ToolTelemetry] = []
    with pytest.raises(ToolValidationError) as caught:
        tool(template(folded("a", tool="t")).render(), "open_sections").handler(
            OpenSectionsParams(section_keys=("zzz",), reason="?"),
            context=ToolContext(telemetry=reported.append),
        )
    (call,) = reported
    assert call.error is caught.value
    assert call.metadata == {
        "requested_sections": ["zzz"],
        "reason": "?",
        "current_visibility_state": {"a": "SUMMARY"},
    }


def test_the_state_names_what_is_below_summarized_sections() -> None:
    reported: list[ToolTelemetry] = []
    made = template(
        folded("a", folded("x", full("deep"), tool="u"), full("off", on=False), tool="t"),
        full("b", folded("y")),
    )
    open_sections(made.render(), "a", context=ToolContext(telemetry=reported.append))
    state = reported[0].metadata["current_visibility_state"]
    assert list(state.items()) == [  # type: ignore[attr-defined]  # A mapping.
        ("a", "SUMMARY"),
        ("a.x", "SUMMARY"),
        ("a.x.deep", "FULL"),
        ("b", "FULL"),
        ("b.y", "SUMMARY"),
    ]


def test_a_callable_of_a_hidden_section_that_fails_does_not_keep_sections_closed() -> None:
    def fails(_: object) -> bool:
        raise RuntimeError("broken")

    hidden = MarkdownSection[None](title="h", key="h", template="H", enabled=fails)
    between = full("between", hidden)
    request = open_sections(template(folded("a", between, tool="t")).render(), "a")
    assert request.section_keys == ("a",)


@pytest.mark.parametrize("key", ["a", "zzz"])
def test_a_handler_that_is_called_with_a_bus_publishes_its_call(key: str) -> None:
    bus = InProcessEventBus()
    events: list[ToolInvoked] = []
    bus.subscribe(ToolInvoked, events.append)
    session = Session(bus=bus)
    rendered = template(folded("a", tool="t"), folded("r")).render()
    context = ToolContext(rendered=rendered, bus=bus, session=session)
    opening = OpenSectionsParams(section_keys=(key,), reason="why")
    with pytest.raises((VisibilityExpansionRequired, ToolValidationError)):
        tool(rendered, "open_sections").handler(opening, context=context)
    reading = ReadSectionParams(section_key="r" if key == "a" else key)
    with contextlib.nullcontext() if key == "a" else pytest.raises(ToolValidationError):
        tool(rendered, "read_section").handler(reading, context=context)
    assert [(event.name, event.params, event.success) for event in events] == [
        ("open_sections", opening, key == "a"),
        ("read_section", reading, key == "a"),
    ]
    assert events[0].metadata["requested_sections"] == [key]
    assert {(event.prompt_ns, event.prompt_key) for event in events} == {("n", "k")}
    assert {event.session_id for event in events} == {session.session_id}


# read_section


def test_reading_gives_the_markdown() -> None:
    rendered = template(full("a", folded("b", full("c")))).render()
    assert read(rendered, "a.b") == "### 1.1. b\n\nBODY-b\n\n#### 1.1.1. c\n\nBODY-c"


def test_reading_changes_nothing() -> None:
    made = template(folded("a"))
    rendered = made.render()
    before = rendered.text
    assert read(rendered, "a") == read(rendered, "a")
    assert made.render().text == rendered.text == before


def test_children_keep_their_visibility_when_their_parent_is_read() -> None:
    value = read(template(folded("a", folded("b"))).render(), "a")
    assert value == (
        "## 1. a\n\nBODY-a\n\n### 1.1. b\n\nshort-b\n\n---\n[This section is summarized. "
        'To view full content, call `read_section` with key "a.b".]'
    )


def test_a_section_below_a_summary_can_be_read_directly() -> None:
    assert read(template(folded("a", folded("b"))).render(), "a.b") == "### 1.1. b\n\nBODY-b"


def test_reading_what_is_open_or_unknown_is_refused() -> None:
    rendered = template(folded("a"), full("b")).render()
    for key, why in (("b", "already shown"), ("zzz", "no section")):
        with pytest.raises(ToolValidationError, match=why):
            read(rendered, key)


# Suffixes


def test_a_summary_ends_with_how_to_open_it() -> None:
    assert template(folded("a", tool="t")).render().text == (
        "## 1. a\n\nshort-a\n\n---\n[This section is summarized. "
        'To view full content, call `open_sections` with key "a".]'
    )


def test_and_with_read_section_for_sections_without_tools() -> None:
    text = template(full("x", folded("a"))).render().text
    assert text.endswith('To view full content, call `read_section` with key "x.a".]')


def test_the_suffix_is_the_last_content_of_the_section() -> None:
    (block,) = template(folded("a", full("b"))).render().blocks
    assert block.segments[-1].kind.value == "suffix"


@pytest.mark.parametrize("name", [None, "t"])
def test_children_are_listed_on_one_line(name: str | None) -> None:
    called = "open_sections" if name else "read_section"
    made = template(
        folded("context", full("examples"), full("constraints"), full("history"), tool=name)
    )
    assert made.render().text.endswith(
        f'---\n[This section is summarized. Call `{called}` with key "context" to view full '
        "content including subsections: examples, constraints, history.]"
    )


def test_children_that_would_not_appear_are_not_listed() -> None:
    assert "subsections: b.]" in template(folded("a", full("b"), full("c", on=False))).render().text
    only = template(folded("a", full("c", on=False))).render().text
    assert only.endswith('To view full content, call `read_section` with key "a".]')


# Overrides and precedence


def test_overrides_open_and_close_nested_sections() -> None:
    made = template(full("a", full("b")), folded("c"))
    text = made.render(visibility_overrides={("a", "b"): SUMMARY, ("c",): FULL}).text
    assert "short-b" in text
    assert "BODY-c" in text


class Remembering:
    """A session as the library sees it."""

    def __init__(self) -> None:
        self.remembered: dict[SectionPath, SectionVisibility] = {}

    def visibility_overrides(self) -> Mapping[SectionPath, SectionVisibility]:
        return self.remembered

    def apply_visibility_overrides(
        self, overrides: Mapping[SectionPath, SectionVisibility], /
    ) -> None:
        self.remembered.update(overrides)


def test_explicit_overrides_win_over_the_sessions_and_those_over_the_declared() -> None:
    made = template(folded("a"), folded("b"), folded("c"))
    session = Remembering()
    session.remembered = {("a",): FULL, ("b",): FULL, ("another", "prompts"): FULL}
    text = made.render(session=session, visibility_overrides={("b",): SUMMARY}).text
    assert "BODY-a" in text
    assert "short-b" in text
    assert "short-c" in text


def test_a_caught_request_wins_over_what_the_caller_and_the_session_say() -> None:
    made = template(folded("a", tool="t"))
    session = Remembering()
    session.remembered = {("a",): SUMMARY}
    overrides: dict[SectionPath, SectionVisibility] = {("a",): SUMMARY}
    request = open_sections(made.render(visibility_overrides=overrides, session=session), "a")
    apply_expansion(request, overrides, session=session)
    assert "BODY-a" in made.render(visibility_overrides=overrides, session=session).text
    assert "BODY-a" in made.render(session=session).text


def test_the_retry_loop_ends_with_the_answer() -> None:
    made = template(folded("a", folded("b", tool="t")))
    wanted = ["a", "a.b"]
    seen: list[str] = []

    def evaluate(overrides: Mapping[SectionPath, SectionVisibility]) -> str:
        rendered = made.render(visibility_overrides=overrides)
        if wanted:
            raise open_sections(rendered, wanted.pop(0))
        return rendered.text

    text = evaluate_with_expansions(
        evaluate, on_expansion=lambda request: seen.extend(request.section_keys)
    )
    assert "BODY-b" in text
    assert seen == ["a", "a.b"]


def test_a_budget_ends_a_loop_that_would_not_end() -> None:
    def evaluate(overrides: Mapping[SectionPath, SectionVisibility]) -> str:
        keys = (f"a{len(overrides)}", f"b{len(overrides)}")
        raise VisibilityExpansionRequired(
            requested_overrides={(key,): FULL for key in keys}, reason="", section_keys=keys
        )

    for budget, word in (
        (ExpansionBudget(max_requests=3), "4 times"),
        (ExpansionBudget(max_sections=5), "6 sections"),
    ):
        with pytest.raises(ExpansionLimitError, match=word) as caught:
            evaluate_with_expansions(evaluate, budget=budget)
        assert isinstance(caught.value.__cause__, VisibilityExpansionRequired)


def test_a_loop_that_does_not_use_the_overrides_ends_with_an_error() -> None:
    """A session's overrides alone would lose against the SUMMARY that the caller insists on."""
    made = template(folded("a", folded("b", tool="t")))
    session = Remembering()
    rounds = iter(range(3))

    def evaluate(_: Mapping[SectionPath, SectionVisibility]) -> str:
        assert next(rounds) < 2
        rendered = made.render(session=session, visibility_overrides={("a",): SUMMARY})
        raise open_sections(rendered, "a.b")

    def remember(request: VisibilityExpansionRequired) -> None:
        apply_expansion(request, session=session)

    with pytest.raises(PromptConfigurationError, match=r"'a\.b' was opened before, and") as caught:
        evaluate_with_expansions(evaluate, on_expansion=remember)
    assert isinstance(caught.value.__cause__, VisibilityExpansionRequired)
    overrides: dict[SectionPath, SectionVisibility] = {("a", "b"): FULL}
    request = open_sections(made.render(visibility_overrides=overrides), "a.b")
    apply_expansion(request, overrides)
    assert "BODY-b" in made.render(visibility_overrides=overrides).text, "only its parent was shut"


def test_a_budget_limits_how_long_a_prompt_becomes() -> None:
    rendered = template(full("a")).render()
    ExpansionBudget(max_characters=len(rendered.text)).check(rendered)
    with pytest.raises(ExpansionLimitError, match="grown"):
        ExpansionBudget(max_characters=len(rendered.text) - 1).check(rendered)


@FrozenDataclass()
class Standing(Task):
    request: str = "Stand."


@pytest.mark.parametrize(
    ("tasks", "bound"),
    [
        ([TaskSection[Task]()], [Task("Do it.")]),
        ([TaskSection[Task](default_params=Task("Do it."))], []),
        ([TaskSection[Task](default_params=Task("Idle."))], [Task("Do it.")]),
        (
            [
                TaskSection[Task](default_params=Task("Do it.")),
                TaskSection[Task](key="b", default_params=Task("And that.")),
                TaskSection[Task](key="c"),
                TaskSection[Standing](key="d"),
            ],
            [],
        ),
    ],
)
def test_the_helper_tells_tasks_how_to_go_on(
    tasks: list[TaskSection[Task]], bound: list[Task]
) -> None:
    made = template(folded("a", tool="t"), *tasks)
    prompt = Prompt(made).bind(*bound)
    request = open_sections(prompt.render(), "a")
    before = prompt.render(visibility_overrides=request.requested_overrides).text
    again = rebind_tasks(prompt, request)
    text = again.render(visibility_overrides=request.requested_overrides).text
    context = f"**Expansion Context:** {request.expansion_instructions}\n\n---\n\n"
    assert text.count(context) == len(tasks)
    assert text.replace(context, "") == before
    other = again.bind(Task("Something else.")).render(
        visibility_overrides=request.requested_overrides
    )
    assert "Something else." in other.text, "the next task counts"
