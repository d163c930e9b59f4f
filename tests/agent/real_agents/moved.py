"""What an agent without foldline loads of a section that `foldline fold` has moved."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents import Agent

SUMMARY = "where the metadata lives"
TEXT = "It lives in `meta.toml`."
WAYS = {
    "nested": "--to auth/{}",
    "rule": "--to-rule data --paths auth/** --client claude-code cursor copilot",
    "skill": "--to-skill find-metadata --client claude-code codex",
}


def check_moved(
    agent: Agent, way: str, file: str, look: dict[str, Any], skill: dict[str, Any]
) -> None:
    """Fold a file of the workspace, look at a file of `auth/`, and load the skill if there is one.

    The first request has the summary, where the text is, and the name of the skill, not the text.
    Clients that read instructions of inner folders load those with the first file there.
    """
    section = f"## Metadata\n<!-- fold: {SUMMARY} -->\n{f'{TEXT} ' * 40}\n"
    (agent.workspace / file).write_text(f"# Rules\nBe brief.\n\n{section}", encoding="utf-8")
    words = ["fold", file, *WAYS[way].format(file).split()]
    for command in (["git", "init", "-q"], [sys.executable, "-m", "foldline.agent", *words]):
        subprocess.run(command, cwd=agent.workspace, check=True, capture_output=True)
    agent.configure()
    steps = [look, *[skill] * (way == "skill"), {"text": "The script is played."}]
    ended = agent.play(steps, "What is this repository?")
    assert ended.status == 0, ended.stderr
    first, second, *_ = ended.requests
    assert "Be brief." in first.said
    assert first.said.count(f"Folded: {SUMMARY}") == 1
    assert TEXT not in first.said
    # Skills are listed with their summaries.
    assert first.said.count(SUMMARY) == 1 + (way == "skill")
    assert (TEXT in second.said) == (way == "nested" and agent.name != "codex")
    assert way != "skill" or TEXT in ended.results[-1]
