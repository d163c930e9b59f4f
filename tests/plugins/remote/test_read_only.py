"""Nothing of a workspace runs and nothing is written for a client over HTTP, whatever it asks."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from foldline.agent.mcp.calls import Tools
from foldline.agent.mcp.server import AgentServer
from foldline.agent.mcp.stdio import Options
from foldline.ide.prompts.actions import ACTIONS

from ...agent.mcp_process import EXAMPLE
from ...security.canaries import plant
from .replicas import ask, call, result, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECONDS = 60
AT_A_TIME = 32
PROMPT = """\
open({mark!r}, "a").write("imported")
from foldline.prompts import MarkdownSection, PromptTemplate, Tool


def run(params, *, context):
    open({mark!r}, "a").write("called")


prompt = PromptTemplate(
    ns="planted",
    key="one",
    sections=[MarkdownSection(title="One", key="one", template="${{who}}", summary="Short")],
)
"""
HOSTILE: list[object] = [
    "../../../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    ".venv/bin/python",
    "$(touch MARK)",
    "; touch MARK #",
    "-c'import os'",
    "\0",
    "\ud800",
    "x" * 5000,
    "(a+)+$" * 20,
    -1,
    10**30,
    True,
    [],
    ["planted/one"] * 100,
    {"__class__": "os"},
]


def tools() -> dict[str, list[str]]:
    """Every tool that any client could get, with its arguments."""
    from foldline.agent.mcp.prompt_tools import PromptTools

    server = AgentServer(Options(roots=(EXAMPLE,), trusted=True))
    known = {tool.name: list(tool.input_schema["properties"]) for tool in Tools().listed}
    for action in ACTIONS:
        if action.names.description:
            known[action.names.snake] = ["prompt", "arguments", "open"]
    for tool in PromptTools(server.workspace).listed:
        known[tool.name] = list(tool.input_schema["properties"])
    return known


def asked() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool with each hostile value in all of its arguments, and as it is meant."""
    for name, arguments in tools().items():
        for value in HOSTILE:
            yield name, dict.fromkeys(arguments, value)
        meant = {"prompt": "planted/one", "arguments": {"who": "me"}, "keys": ["one"], "key": "one"}
        meant |= {"tool": "run", "section_keys": ["one"], "path": "prompts.py", "name": "pay"}
        yield name, {argument: meant[argument] for argument in arguments if argument in meant}


def digest(root: Path) -> str:
    """What is in all files of the workspace."""
    found = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        found.update(str(path).encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


@pytest.mark.real
@pytest.mark.parametrize("name", ["settings", "environment"])
async def test_no_tool_runs_or_writes_anything_whatever_its_arguments(
    name: str, tmp_path: Path
) -> None:
    root, mark, environment = plant(name, tmp_path)
    (root / "prompts.py").write_text(PROMPT.format(mark=str(mark)))
    before = digest(root)
    with serving("--root", str(root), environment=environment) as replica:
        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            some = asyncio.Semaphore(AT_A_TIME)

            async def check(tool: str, arguments: dict[str, Any]) -> None:
                async with some:
                    response = await call(client, replica.url, tool, **arguments)
                assert response.status_code in (200, 400), (tool, arguments, response.text)
                assert "root:x:0" not in response.text

            async with asyncio.TaskGroup() as tasks:
                for tool, arguments in asked():
                    tasks.create_task(check(tool, arguments))
            # The engines have really been asked.
            text = ""
            while "2 confirmed" not in text:
                answer = result(await call(client, replica.url, "find_references", name="pay"))
                text = answer["content"][0]["text"]
                assert "ask again" in text or "2 confirmed" in text
            for given in ({}, {"who": "me"}):
                refused = await ask(
                    client, replica.url, "prompts/get", name="planted/one", arguments=given
                )
                assert refused.status_code == 400, refused.text
            listed = result(await ask(client, replica.url, "tools/list"))
        assert "call_prompt_tool" not in {tool["name"] for tool in listed["tools"]}
        assert {tool["annotations"]["readOnlyHint"] for tool in listed["tools"]} == {True}
    assert not mark.exists(), mark.read_text()
    assert digest(root) == before


async def test_the_tool_that_calls_tools_is_none(tmp_path: Path) -> None:
    server = AgentServer(Options(roots=(tmp_path,), remote=True))
    assert not server.prompt_tools.has("call_prompt_tool")
    assert server.prompt_tools.has("read_section")
    assert not server.workspace.settings.trusted
    await server.close()


@pytest.mark.real
async def test_roots_of_a_client_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    with serving() as replica:
        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            roots = {"roots": [{"uri": tmp_path.as_uri()}]}
            response = await ask(
                client,
                replica.url,
                "tools/call",
                name="get_tree",
                arguments={},
                inputResponses={"roots": roots},
            )
            assert "mine.py" not in response.text
            assert "review.py" in response.text
