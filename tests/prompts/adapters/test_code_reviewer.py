"""The code reviewer of the specifications runs: offline, on the wire, and by its own transcript."""

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline.agent.reading_steps import ALL_TOOLS
from foldline.plugins.stores import SQLiteEventStore
from foldline.prompts import RenderedPrompt
from foldline.prompts.adapters import (
    Appending,
    ScriptedAdapter,
    ScriptedCall,
    ScriptedTurn,
    Transcript,
)
from foldline.prompts.adapters.anthropic import AnthropicAdapter
from foldline.prompts.runtime import PromptRendered

from .providers import Provider
from .wire import validation
from .wire.anthropic_rule import AnthropicCache
from .wire.openai_rule import OpenAICache
from .wires import OpenAIWire, Said

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "code_reviewer"
TRANSCRIPT = EXAMPLE / "code_reviewer" / "transcript.json"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example can be imported as a user does, and is gone afterwards."""

    def forget() -> None:
        for name in [*sys.modules]:
            if name.partition(".")[0] in ("code_reviewer", "reviewer_prompt"):
                del sys.modules[name]

    monkeypatch.syspath_prepend(str(EXAMPLE))
    forget()
    yield
    forget()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "code_reviewer", *arguments],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_it_runs_offline_and_unfolds_what_it_needs(tmp_path: Path) -> None:
    events = tmp_path / "events.db"
    done = run("--events", str(events))
    assert done.returncode == 0, done.stderr
    assert "auth/service.py:55 [high S2]" in done.stdout
    assert "· opened reference-docs: Need the security rules" in done.stderr
    with SQLiteEventStore(events) as store:
        opened = store.openings(prompt_ns="examples/code-reviewer", prompt_key="review-code")
    assert [(o.section_key, o.how, o.turn) for o in opened] == [
        ("workspace.history", "read_section", 2),
        ("reference-docs", "open_sections", 3),
    ]


@pytest.mark.real
def test_another_task_departs_from_the_transcript_and_is_told_so() -> None:
    done = run("Review something else.")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "+Review something else." in done.stderr


@pytest.mark.real
def test_a_recording_of_the_transcript_is_the_transcript(tmp_path: Path) -> None:
    recorded = tmp_path / "again.json"
    assert run("--record", str(recorded)).returncode == 0
    again, kept = Transcript.load(recorded), Transcript.load(TRANSCRIPT)
    assert again.relaxed(prompts=False).exchanges == kept.relaxed(prompts=False).exchanges


@pytest.mark.usefixtures("example")
def test_the_prompt_has_the_sections_of_the_specification() -> None:
    from code_reviewer.planning import Plan
    from code_reviewer.reviewer import CodeReviewer
    from reviewer_prompt import CodeReviewTask

    reviewer = CodeReviewer(EXAMPLE, ScriptedAdapter(Transcript.load(TRANSCRIPT).relaxed()))
    renders: list[PromptRendered] = []
    reviewer.session.bus.subscribe(PromptRendered, renders.append)
    response = reviewer.review(CodeReviewTask("Review it.", focus="security"))

    (folded,) = (event.rendered for event in renders)
    unfolded = response.rendered
    assert [block.key for block in folded.blocks if block.depth == 0] == [
        "guidance",
        "workspace-digest",
        "reference-docs",
        "workspace",
        "planning",
        "review-task",
    ]
    assert [message.role for message in folded.messages] == ["system", "user"]
    assert "**S1**" not in folded.text
    assert "**S1**" in unfolded.text
    assert "There is no plan yet." in folded.text
    assert response.expansions[0].appended
    opened = next(turn for turn in response.conversation.turns[2:] if turn.role == "system")
    assert "**S1**" in opened.text
    names = [tool.name for tool in unfolded.tools]
    assert names == [
        "explain_rule",
        *ALL_TOOLS,
        "make_plan",
        "finish_step",
        "read_section",
    ]
    plan = reviewer.session[Plan].state
    assert [step.done for step in plan.steps] == [True, True, True, False]
    assert all(outcome.result.success for outcome in response.tool_outcomes)
    review = response.output
    assert review is not None
    for finding in review.findings:
        lines = (EXAMPLE / finding.path).read_text(encoding="utf-8").splitlines()
        assert lines[finding.line - 1].strip(), f"{finding.path}:{finding.line} is empty"


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), ()),
        (("--focus", "performance"), ("### 6.1. Focus", "problems of performance first")),
        (
            ("--file", "auth/tokens.py", "--file", "auth/models.py"),
            ("### 6.2. Files", "- `auth/tokens.py`\n- `auth/models.py`"),
        ),
    ],
)
@pytest.mark.usefixtures("example")
def test_the_prompt_shows_the_focus_and_the_files(
    options: tuple[str, ...], shown: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from code_reviewer import cli

    prompts: list[str] = []

    def model(rendered: RenderedPrompt[object], _: object) -> ScriptedTurn:
        prompts.append(rendered.text)
        return ScriptedTurn('{"summary": "Fine.", "findings": []}')

    monkeypatch.setattr(cli, "_adapter", lambda *_: ScriptedAdapter(model))
    assert cli.main(options) == 0
    for text in shown:
        assert text in prompts[0]
    assert prompts[0].count("### 6.") == (1 if shown else 0)


@pytest.mark.real
def test_a_file_that_is_not_there_is_refused() -> None:
    done = run("--file", "auth/missing.py")
    assert done.returncode == 2
    assert "auth/missing.py is not a file below" in done.stderr


@pytest.mark.real
def test_it_asks_a_compatible_endpoint(provider: Provider) -> None:
    wire = OpenAIWire()
    opening = {"section_keys": ["reference-docs"], "reason": "need the rules"}
    finding = {
        "path": "auth/tokens.py",
        "line": 59,
        "severity": "high",
        "problem": "Compared with `!=`.",
        "remedy": "hmac.compare_digest",
        "rule": "S1",
    }
    answer = json.dumps({"summary": "Not ready.", "findings": [finding]})
    provider.will(
        wire.whole(Said("", (("open_sections", opening),))),
        wire.whole(Said("", (("explain_rule", {"rule": "S1"}),))),
        wire.whole(Said(answer)),
    )
    done = subprocess.run(
        [sys.executable, "-m", "code_reviewer", "--base-url", f"{provider.url}/v1", "Look."],
        cwd=EXAMPLE,
        env={"PATH": "", "OPENAI_API_KEY": "test", "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "auth/tokens.py:59 [high S1]" in done.stdout
    first, second, third = provider.requests
    assert "**S1**" not in first["messages"][0]["content"]
    assert second["messages"][0] == first["messages"][0], "what was sent stays as it is"
    assert "**S1**" in second["messages"][3]["content"]
    assert second["tools"] == first["tools"]
    assert third["messages"][5]["role"] == "tool"
    assert first["response_format"]["json_schema"]["strict"] is True


RULES = {"anthropic": AnthropicCache, "openai": OpenAICache, "openai-responses": OpenAICache}


@pytest.mark.parametrize("provider", RULES)
@pytest.mark.usefixtures("example")
def test_it_runs_over_the_providers_wire_formats(
    provider: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from code_reviewer import cli, loopback

    servers: list[Any] = []
    made = loopback.Loopback.__init__

    def remembered(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        servers.append(self)

    monkeypatch.setattr(loopback.Loopback, "__init__", remembered)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert cli.main(["--provider", provider, "--loopback"]) == 0
    (server,) = servers
    shown = [float(share) / 100 for share in re.findall(r"(\d+)% read", capsys.readouterr().err)]
    rule = RULES[provider]()
    metered = []
    for request in server.requests:
        validation.check(provider, request)
        metered.append(rule.meter(request))
    # The example's own rule is simpler, and counts the JSON.
    assert shown[:-1] == pytest.approx([m.read / m.total for m in metered], abs=0.03)
    kept = [now.kept / before.total for before, now in itertools.pairwise(metered)]
    assert kept == [1.0] * len(kept), "nothing changes that was sent"
    assert {json.dumps(request["tools"]) for request in server.requests} == {
        json.dumps(server.requests[0]["tools"])
    }
    marks = json.dumps(server.requests[0]).count(
        '"cache_control"' if provider == "anthropic" else '"prompt_cache_breakpoint"'
    )
    assert marks >= 2, "behind the system part, and behind the plan"
    assert "**S1**" in json.dumps(server.requests[3])


@pytest.mark.usefixtures("example")
def test_another_review_reads_the_system_part_from_the_cache() -> None:
    from code_reviewer import loopback
    from code_reviewer.reviewer import CodeReviewer
    from reviewer_prompt import CodeReviewTask

    said = Transcript.of([ScriptedTurn('{"summary": "Fine."}')] * 2)
    with loopback.serving("anthropic", said) as server:
        adapter = AnthropicAdapter("claude-sonnet-5-5", base_url=server.url, api_key="none")
        first, second = (
            CodeReviewer(EXAMPLE, adapter).review(CodeReviewTask(task)).usage
            for task in ("Review it.", "Is signing in too slow?")
        )
    assert first.cached == 0
    assert second.cached > 0.9 * first.input


@pytest.mark.usefixtures("example")
def test_a_request_of_the_examples_cache_is_billed_by_its_rule() -> None:
    from code_reviewer.loopback import PrefixCache

    cache = PrefixCache(shortest=4)
    short, long = ("word" * 3, True), ("text" * 2, True)
    assert cache.meter([short]) == (0, 0, 3), "too short"
    assert cache.meter([short, ("text" * 2, False)]) == (0, 0, 5), "no breakpoint"
    assert cache.meter([short, long]) == (0, 5, 0)
    assert cache.meter([short, long, ("tail", False)]) == (5, 0, 1)
    assert cache.meter([("Word" * 3, True), long]) == (0, 5, 0), "another beginning"


@pytest.mark.usefixtures("example")
def test_chapters_open_for_the_reviews_that_are_about_them() -> None:
    from code_reviewer.reviewer import CodeReviewer
    from reviewer_prompt import CodeReviewTask

    reviewer = CodeReviewer(EXAMPLE, ScriptedAdapter(lambda *_: '{"summary": "Fine."}'))

    def text(request: str) -> str:
        return reviewer.review(CodeReviewTask(request)).rendered.text

    assert "at most 400 ms" in text("Why is signing in so slow?")
    assert "at most 400 ms" not in text("Is there a vulnerability?")
    assert "reset tokens were accepted" not in text("Is there a vulnerability?")


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("appending", [None, Appending("proxy", system=True)])
def test_the_model_always_has_the_plan(appending: Appending | None) -> None:
    from code_reviewer.reviewer import CodeReviewer
    from reviewer_prompt import CodeReviewTask

    wanted: dict[str, object] = {"section_keys": ["reference-docs"], "reason": "to cite rules"}
    plan = ScriptedCall("make_plan", {"steps": ["Look around", "Write it"]})
    done = ScriptedCall("finish_step", {"step": 1})
    opens = ScriptedTurn("", (ScriptedCall("open_sections", wanted),))
    answer = ScriptedTurn('{"summary": "Fine."}')
    before = [ScriptedTurn("", (plan,)), ScriptedTurn("", (done,)), opens]
    exchanges = [[*before, answer]] if appending else [before, [answer]]
    script = Transcript.of(*exchanges, [answer])
    reviewer = CodeReviewer(EXAMPLE, ScriptedAdapter(script, appending=appending))
    renders: list[PromptRendered] = []
    reviewer.session.bus.subscribe(PromptRendered, renders.append)
    first = reviewer.review(CodeReviewTask("Review it."))
    reviewer.review(CodeReviewTask("Go on."))

    now = "1. [x] Look around\n2. [ ] Write it"
    said = [turn for turn in first.conversation.turns if turn.role == "tool"]
    if appending:
        assert now in said[1].answers[0].text, "the result of the tool"
    else:
        assert said == [], "the conversation has begun anew"
        assert now in renders[1].rendered.text
    assert now in renders[-1].rendered.text, "the next review"


@pytest.mark.usefixtures("example")
def test_a_plan_is_checked_and_kept_in_the_session() -> None:
    from code_reviewer.planning import FinishStep, MakePlan, Plan, PlanningToolsSection, Step
    from foldline.prompts import ToolContext
    from foldline.prompts.runtime import Session

    section = PlanningToolsSection(session=Session())
    other = Session()
    twin = section.clone(session=other)
    assert not twin.make_plan(MakePlan(("one",)), context=ToolContext()).success
    assert twin.make_plan(MakePlan(("one", "two")), context=ToolContext()).success
    assert not twin.finish_step(FinishStep(3), context=ToolContext()).success
    assert not twin.finish_step(FinishStep(0), context=ToolContext()).success
    assert (
        twin.finish_step(FinishStep(2), context=ToolContext()).message == "1. [ ] one\n2. [x] two"
    )
    assert (
        twin.finish_step(FinishStep(1), context=ToolContext()).message == "1. [x] one\n2. [x] two"
    )
    assert other[Plan].state == Plan((Step("one", done=True), Step("two", done=True)))
    assert section.session[Plan].state == Plan(), "the original has its own session"
