"""Codex and Gemini CLI use foldline at the first try: `uv run poe agents`.

They are larger than opencode, which is why the suite doesn't run them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from foldline.agent.reading_steps import RULE

from ..test_mcp_finding import QUESTIONS
from .agents import codex, gemini
from .ladder import STEPS, TOOLS, check_ladder
from .moved import WAYS, check_moved

if TYPE_CHECKING:
    from pathlib import Path

DONE = {"text": "The script is played."}


def test_codex_has_the_tools_in_its_first_request(tmp_path: Path) -> None:
    agent = codex(tmp_path)
    agent.install()
    ended = agent.play(STEPS, "Who uses TokenSigner.read?")
    assert ended.status == 0, ended.stderr
    assert "The script is played." in ended.stdout
    assert {f"mcp__foldline.{name}" for name in TOOLS} <= set(ended.requests[0].tools)
    assert RULE in ended.requests[0].said
    check_ladder(ended.results)


def test_codex_finds_the_tools_by_the_words_of_a_question(tmp_path: Path) -> None:
    """Beside the models that it knows, it lists no tool: they search for them."""
    agent = codex(tmp_path)
    agent.install()
    searches: list[dict[str, Any]] = [
        {"call": "tool_search", "arguments": {"query": question, "limit": 3}}
        for question in QUESTIONS
    ]
    ended = agent.play([*searches, DONE], "-c", 'model="gpt-5.5"', "Who uses TokenSigner.read?")
    assert ended.status == 0, ended.stderr
    assert len(ended.results) == len(QUESTIONS)
    missed = [
        question
        for (question, tool), found in zip(QUESTIONS.items(), ended.results, strict=True)
        if f'"name": "{tool}"' not in found
    ]
    assert not missed


def test_codex_gets_a_page_whole(tmp_path: Path) -> None:
    agent = codex(tmp_path)
    (agent.workspace / "big.txt").write_text("".join(f"line {n}\n" for n in range(20_000)))
    agent.install()
    arguments = {"path": "big.txt", "budget": 60_000}
    ended = agent.play([{"call": "read_file", "arguments": arguments}, DONE], "Read big.txt.")
    assert ended.status == 0, ended.stderr
    (page,) = ended.results
    first, last = (line for line in page.splitlines() if "big.txt:" in line or "cursor" in line)
    assert "20000 lines" in first
    assert "cursor text@" in last
    shown = [line for line in page.splitlines() if line.startswith("line ")]
    assert shown == [f"line {n}" for n in range(len(shown))]


def test_gemini_climbs_the_ladder(tmp_path: Path) -> None:
    agent = gemini(tmp_path)
    agent.install()
    ended = agent.play(STEPS, "Who uses TokenSigner.read?")
    assert ended.status == 0, ended.stderr
    assert {f"mcp_foldline_{name}" for name in TOOLS} <= set(ended.requests[0].tools)
    assert RULE in ended.requests[0].said
    check_ladder([json.loads(result).get("output", result) for result in ended.results])


@pytest.mark.parametrize("argument", ["--project=demo"])
def test_a_prompt_is_a_command_of_gemini(argument: str, tmp_path: Path) -> None:
    agent = gemini(tmp_path)
    agent.install("--project", "--trust")
    ended = agent.play([DONE], f"/examples/code-reviewer/review {argument}")
    assert ended.status == 0, ended.stderr
    (request,) = ended.requests
    assert "[This prompt comes from an MCP server." in request.said
    assert "mcp_foldline_read_section" in request.tools


@pytest.mark.parametrize("way", WAYS)
def test_codex_loads_what_has_moved(way: str, tmp_path: Path) -> None:
    def shell(command: str) -> dict[str, Any]:
        return {"call": "exec_command", "arguments": {"cmd": command}}

    skill = shell("cat .agents/skills/find-metadata/SKILL.md")
    check_moved(codex(tmp_path), way, "AGENTS.md", shell("cat auth/service.py"), skill)


@pytest.mark.parametrize("way", WAYS)
def test_gemini_loads_what_has_moved(way: str, tmp_path: Path) -> None:
    agent = gemini(tmp_path)
    look = {"file_path": str(agent.workspace / "auth/service.py")}
    skill = {"call": "activate_skill", "arguments": {"name": "find-metadata"}}
    check_moved(agent, way, "GEMINI.md", {"call": "read_file", "arguments": look}, skill)
