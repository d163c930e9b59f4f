"""The code reviewer of `examples/`, evaluated with a scripted model."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from foldline.prompts import ReadSectionParams, ToolContext
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.errors import ExpansionLimitError, ToolValidationError

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
ANSWER = {
    "summary": "One secret is compared in variable time.",
    "findings": [
        {
            "path": "auth/tokens.py",
            "line": 40,
            "severity": "high",
            "problem": "The signature is compared with `==`.",
            "remedy": "Use `hmac.compare_digest`.",
            "rule": "S1",
        }
    ],
}


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType]]:
    """The example's `reviewer_prompt` and `review`, imported as a user does."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    names = ("reviewer_prompt", "review")
    try:
        prompt, review = (importlib.import_module(name) for name in names)
        yield prompt, review
    finally:
        for name in names:
            sys.modules.pop(name, None)


Modules = tuple[ModuleType, ModuleType]


def opening(*keys: str) -> ScriptedTurn:
    arguments: dict[str, object] = {"section_keys": list(keys), "reason": "Need the rules"}
    return ScriptedTurn("", (ScriptedCall("open_sections", arguments),))


def script(*turns: ScriptedTurn) -> ScriptedAdapter:
    """A model that says one thing in each evaluation."""
    return ScriptedAdapter(Transcript.of(*([turn] for turn in turns)))


def test_the_reviewer_opens_what_the_model_asks_for(modules: Modules) -> None:
    prompt, review = modules
    seen: list[str] = []

    class Watching(ScriptedAdapter):
        def converse(self, rendered, conversation):  # type: ignore[no-untyped-def]  # As in the base.
            seen.append(rendered.text)
            return super().converse(rendered, conversation)

    turns = (opening("reference-docs.security"), ScriptedTurn(json.dumps(ANSWER)))
    adapter = Watching(Transcript.of(*([turn] for turn in turns)))
    reviewer = review.Reviewer(adapter)
    result = reviewer.review("Look for vulnerabilities in the package.", background="An audit.")
    assert isinstance(result, prompt.Review)
    assert result.findings[0].severity is prompt.Severity.HIGH
    first, second = seen
    assert "hmac.compare_digest" not in first
    assert "hmac.compare_digest" in second
    assert "**Expansion Context:** Sections expanded: `reference-docs.security`." in second
    assert "**Background:** An audit." in second
    assert adapter.remaining == 0


def test_the_reviewers_chapters_open_by_intent_and_clearance(modules: Modules) -> None:
    prompt, _ = modules
    goal = prompt.CodeReviewTask(request="Why is signing in so slow? Was there a breach?")
    opened = {
        clearance: [
            decision.key
            for decision in prompt.template.expand_chapters(
                "intent_classifier",
                params=[goal, prompt.Clearance(internal=clearance)],
                goal_section_key="review-task",
            ).chapter_decisions
            if decision.opened
        ]
        for clearance in (False, True)
    }
    assert opened == {False: ["performance"], True: ["performance", "incidents"]}


def test_the_reviewer_has_a_limit(modules: Modules) -> None:
    _, review = modules
    reviewer = review.Reviewer(script(opening("reference-docs")), max_expansions=0)
    with pytest.raises(ExpansionLimitError):
        reviewer.review("Look.")


def test_the_reviewers_tools_work(modules: Modules) -> None:
    prompt, _ = modules
    everything = prompt.template.expand_chapters(params=[prompt.Clearance(internal=True)])
    rendered = everything.render(
        prompt.CodeReviewTask(request="r"),
        prompt.Clearance(internal=True),
        visibility_overrides={("reference-docs",): prompt.SectionVisibility.FULL},
    )
    tools = {tool.name: tool for tool in rendered.tools}
    assert list(tools) == ["explain_rule", "make_plan", "read_section"]
    context = ToolContext()
    explain, plan = tools["explain_rule"], tools["make_plan"]
    assert explain.handler(explain.decode({"rule": "s2"}), context=context).success
    assert not explain.handler(explain.decode({"rule": "S99"}), context=context).success
    made = plan.handler(plan.decode({"steps": ["Look", "Think"]}), context=context)
    assert made.value == "1. [ ] Look\n2. [ ] Think"
    assert not plan.handler(plan.decode({"steps": []}), context=context).success
    history = tools["read_section"].handler(ReadSectionParams("workspace.history"), context=context)
    assert "*October*" in str(history.value)
    with pytest.raises(ToolValidationError):
        tools["read_section"].handler(ReadSectionParams("reference-docs"), context=context)
