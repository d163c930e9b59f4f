"""What an agent loads by itself of a section that `foldline fold` has moved."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents import Agent, Ended

DONE = {"text": "The script is played."}
SUMMARY = "where the metadata lives"
TEXT = "It lives in `meta.toml`."
FILE = f"# Rules\nBe brief.\n\n## Metadata\n<!-- fold: {SUMMARY} -->\n{f'{TEXT} ' * 40}\n"
WAYS: dict[str, tuple[str, ...]] = {
    "nested": ("--to", "auth/{file}"),
    "rule": ("--to-rule", "data", "--paths", "auth/**", "--client", "claude-code,cursor,copilot"),
    "skill": ("--to-skill", "find-metadata", "--client", "claude-code,codex"),
}


def play(agent: Agent, way: str, file: str, steps: list[dict[str, Any]], said: str) -> Ended:
    """Fold a file of the workspace in a way, and play steps."""
    words = [word.format(file=file) for word in WAYS[way]]
    (agent.workspace / file).write_text(FILE, encoding="utf-8")
    subprocess.run(["git", "init", "-q", "."], cwd=agent.workspace, check=True)
    program = [sys.executable, "-m", "foldline.agent", "fold", file, *words]
    subprocess.run(program, cwd=agent.workspace, check=True, capture_output=True)
    agent.configure()
    ended = agent.play([*steps, DONE], said)
    assert ended.status == 0, ended.stderr
    return ended


def check_first(ended: Ended, way: str) -> None:
    """Check the first request: the summary and where the text is, not the text; skills by name."""
    said = ended.requests[0].said
    assert "Be brief." in said
    assert f"Folded: {SUMMARY}" in said
    assert TEXT not in said
    assert (said.count("find-metadata") > 1) == (way == "skill")
