"""The code reviewer of the specifications runs: offline, on the wire, and by its own transcript."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.agent.agent_prompt import ALL_TOOLS
from foldline.prompts import RenderedPrompt
from foldline.prompts.adapters import ScriptedAdapter, ScriptedTurn, Transcript
from foldline.prompts.runtime import EventStore, PromptRendered

from .providers import Provider
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


def test_ts_15_ts_20_it_runs_offline_and_unfolds_what_it_needs(tmp_path: Path) -> None:
    events = tmp_path / "events.db"
    done = run("--events", str(events))
    assert done.returncode == 0, done.stderr
    assert "auth/service.py:55 [high S2]" in done.stdout
    assert "· opened reference-docs: Need the security rules" in done.stderr
    with EventStore(events) as store:
        opened = store.openings(prompt_ns="examples/code-reviewer", prompt_key="review-code")
    assert [(o.section_key, o.how, o.turn) for o in opened] == [
        ("workspace.history", "read_section", 2),
        ("reference-docs", "open_sections", 3),
    ]


def test_another_task_departs_from_the_transcript_and_is_told_so() -> None:
    done = run("Review something else.")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "+Review something else." in done.stderr


def test_a_recording_of_the_transcript_is_the_transcript(tmp_path: Path) -> None:
    recorded = tmp_path / "again.json"
    assert run("--record", str(recorded)).returncode == 0
    again, kept = Transcript.load(recorded), Transcript.load(TRANSCRIPT)
    assert again.relaxed(prompts=False).exchanges == kept.relaxed(prompts=False).exchanges


@pytest.mark.usefixtures("example")
def test_tk_11_the_prompt_has_the_sections_of_the_specification() -> None:
    from code_reviewer.reviewer import CodeReviewer
    from reviewer_prompt import CodeReviewTask

    reviewer = CodeReviewer(EXAMPLE, ScriptedAdapter(Transcript.load(TRANSCRIPT).relaxed()))
    renders: list[PromptRendered] = []
    reviewer.session.bus.subscribe(PromptRendered, renders.append)
    response = reviewer.review(CodeReviewTask("Review it.", focus="security"))

    folded, unfolded = (event.rendered for event in renders)
    assert [block.key for block in folded.blocks if block.depth == 0] == [
        "guidance",
        "workspace-digest",
        "reference-docs",
        "planning",
        "workspace",
        "review-task",
    ]
    assert "**S1**" not in folded.text
    assert "**S1**" in unfolded.text
    assert "There is no plan yet." in folded.text
    assert "1. [x] Outline the service" in unfolded.text
    assert "**Expansion Context:** Sections expanded: `reference-docs`." in unfolded.text
    names = [tool.name for tool in unfolded.tools]
    assert names == [
        "explain_rule",
        "make_plan",
        "finish_step",
        *ALL_TOOLS,
        "read_section",
    ]
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
def test_tk_11_the_prompt_shows_the_focus_and_the_files(
    options: tuple[str, ...], shown: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from code_reviewer import cli

    prompts: list[str] = []

    def model(rendered: RenderedPrompt[object], _: object) -> ScriptedTurn:
        prompts.append(rendered.text)
        return ScriptedTurn('{"summary": "Fine.", "findings": []}')

    monkeypatch.setattr(cli, "_adapter", lambda _: ScriptedAdapter(model))
    assert cli.main(options) == 0
    for text in shown:
        assert text in prompts[0]
    assert prompts[0].count("### 6.") == (1 if shown else 0)


def test_a_file_that_is_not_there_is_refused() -> None:
    done = run("--file", "auth/missing.py")
    assert done.returncode == 2
    assert "auth/missing.py is not a file below" in done.stderr


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
    assert "**S1**" in second["messages"][2]["content"]
    assert second["tools"] == first["tools"]
    assert third["messages"][4]["role"] == "tool"
    assert first["response_format"]["json_schema"]["strict"] is True


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
    assert twin.finish_step(FinishStep(2), context=ToolContext()).message == "Left: 1. one"
    assert twin.finish_step(FinishStep(1), context=ToolContext()).message == "All steps are done."
    assert other[Plan].state == Plan((Step("one", done=True), Step("two", done=True)))
    assert section.session[Plan].state == Plan(), "the original has its own session"
