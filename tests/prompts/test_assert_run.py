"""What an evaluation did is asserted; its events are the oracle."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    MarkdownSection,
    PromptTemplate,
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import Appending, ScriptedAdapter, ScriptedCall, ScriptedTurn
from foldline.prompts.runtime import (
    InProcessEventBus,
    ModelAnswered,
    PromptRendered,
    PromptResponse,
    TokenUsage,
    ToolInvoked,
    evaluate_with_disclosure,
)
from foldline.prompts.testing import assert_run

SUMMARY = SectionVisibility.SUMMARY
KEYS = ("docs", "rules", "notes")


def tool(name: str) -> Tool[None, str]:
    def handler(params: None, *, context: ToolContext) -> ToolResult[str]:
        return ToolResult(success=name != "break", value=name)

    return Tool[None, str](name=name, description=name, handler=handler)


TEMPLATE = PromptTemplate[None](
    ns="t",
    key="k",
    sections=[
        MarkdownSection[None](
            title="Task", key="task", template="Do.", tools=[tool("find"), tool("break")]
        ),
        *(
            MarkdownSection[None](
                title=key,
                key=key,
                template=f"All of {key}.",
                summary="Some.",
                visibility=SUMMARY,
                tools=[] if key == "notes" else [tool(f"use_{key}")],
            )
            for key in KEYS
        ),
    ],
)
CALLS: dict[str, Callable[[str], ScriptedCall]] = {
    "open": lambda key: ScriptedCall("open_sections", {"section_keys": [key], "reason": "r"}),
    "read": lambda key: ScriptedCall("read_section", {"section_key": key}),
    "find": lambda _: ScriptedCall("find"),
    "break": lambda _: ScriptedCall("break"),
    "none": lambda _: ScriptedCall("nothing"),
}


Script = list[list[tuple[str, str]]]


def run(script: Script, *, append: bool) -> tuple[PromptResponse[None], list[object]]:
    """Play a run; without `append`, each request for sections renders the prompt anew."""
    events: list[object] = []
    bus = InProcessEventBus()
    bus.subscribe(object, events.append)
    turns = [
        ScriptedTurn("", tuple(CALLS[kind](key) for kind, key in calls), usage=TokenUsage(100, 7))
        for calls in script
    ]
    turns.append(ScriptedTurn("Done.", usage=TokenUsage(50, 3)))
    played = iter(turns)
    adapter = ScriptedAdapter(
        lambda *_: next(played), appending=Appending(tools="proxy") if append else None
    )
    return evaluate_with_disclosure(adapter, TEMPLATE, bus=bus), events


calls = st.tuples(st.sampled_from(sorted(CALLS)), st.sampled_from((*KEYS, "nope")))


@given(st.lists(st.lists(calls, min_size=1, max_size=3), max_size=5), st.booleans())
def test_a_run_is_what_its_events_say(script: Script, append: bool) -> None:
    response, events = run(script, append=append)
    last = max(at for at, event in enumerate(events) if isinstance(event, PromptRendered))
    events = events[last:]
    invoked = [event for event in events if isinstance(event, ToolInvoked)]
    names = [one.name for one in invoked if one.name not in ("open_sections", "read_section")]
    keys = {key for one in response.expansions for key in one.section_keys}
    for one in invoked:
        if one.name == "read_section" and one.success:
            keys.add(getattr(one.params, "section_key"))  # noqa: B009 - Any of two classes.
    usages = (event.usage for event in events if isinstance(event, ModelAnswered))
    tokens = sum(usages, TokenUsage()).total
    assert_run(response, called=names, opened=keys, tokens=tokens)
    assert_run(response, opened=sorted(keys))
    assert_run(response)
    for wrong in (
        {"called": [*names, "find"]},
        {"called": names[1:] or ["find", "find"]},
        {"opened": keys ^ {"docs"}},
        {"tokens": tokens - 1},
    ):
        with pytest.raises(AssertionError):
            assert_run(response, **wrong)


def test_all_that_differs_is_said_a_line_for_each() -> None:
    script = [[("find", ""), ("open", "docs")], [("break", ""), ("read", "notes")]]
    response, _ = run(script, append=True)
    with pytest.raises(AssertionError) as caught:
        assert_run(response, called=["find"], opened=(), tokens=266)
    assert str(caught.value).splitlines() == [
        "called ['find', 'break']; expected ['find']",
        "opened ['docs', 'notes']; expected []",
        "took 267 tokens, and may take 266",
    ]
