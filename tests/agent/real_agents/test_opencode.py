"""opencode uses foldline at the first try, with a script in place of a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from foldline.agent.reading_steps import RULE

from .agents import Agent, opencode
from .ladder import STEPS, TOOLS, check_ladder

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

REVIEW = "examples/code-reviewer/review"
DONE = {"text": "The script is played."}


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return opencode(tmp_path)


def test_opencode_reads_code_from_its_first_request_on(agent: Agent) -> None:
    agent.install()
    ended = agent.play(STEPS, "Who uses TokenSigner.read?")
    assert ended.status == 0, ended.stderr
    assert "The script is played." in ended.stdout
    assert {f"foldline_{name}" for name in TOOLS} <= set(ended.requests[0].tools)
    assert RULE in ended.requests[0].said
    check_ladder(ended.results)


def test_a_prompt_with_options_is_a_command(agent: Agent) -> None:
    agent.install("--project", "--trust")
    steps: list[dict[str, Any]] = [
        {"call": "read_section", "arguments": {"prompt": REVIEW, "section_key": "history"}},
        DONE,
    ]
    ended = agent.play(steps, "--command", "foldline:examples_code-reviewer_review", "demo")
    assert ended.status == 0, ended.stderr
    said = ended.requests[0].said
    assert "[This prompt comes from an MCP server." in said
    assert "demo" in said
    # Every tool that the text names is there.
    named = set(re.findall(r"[Cc]all `(\w+)`", said))
    assert named == {"open_sections", "read_section"}
    assert {f"foldline_{name}" for name in named} <= set(ended.requests[0].tools)
    assert not list(agent.workspace.rglob("__pycache__"))


@pytest.mark.slow
def test_a_server_that_dies_is_an_error_that_the_model_reads(agent: Agent) -> None:
    agent.install()
    tree = {"call": "get_tree", "arguments": {}}
    ended = agent.play([tree, {**tree, "kill": True}, DONE], "Look around.")
    assert ended.status == 0, ended.stderr
    assert "The script is played." in ended.stdout
    before, after = ended.results
    assert "auth/" in before
    assert "auth/" not in after
    assert after
