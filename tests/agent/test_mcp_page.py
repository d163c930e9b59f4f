"""The page on MCP says what is so."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from foldline.agent.folder_operations import call_operation
from foldline.agent.folders import Folders
from foldline.agent.mcp.calls import Tools
from foldline.agent.mcp.prompt_tools import PromptTools
from foldline.ide.errors import REFUSALS
from foldline.ide.settings import Settings
from foldline.ide.workspace import Workspace

from .mcp_process import EXAMPLE

TOOLS = Tools()
SECTION = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["docs/mcp.md", "README.md"])
def test_every_answer_that_is_shown_is_given(
    name: str, open_folders: Callable[..., Folders]
) -> None:
    page = (Path(__file__).parents[2] / name).read_text(encoding="utf-8")
    (transcript,) = re.findall(r"```text\n(> .*?)```", page, re.DOTALL)
    folders = open_folders(EXAMPLE)
    steps = re.split(r"^> ", transcript, flags=re.MULTILINE)[1:]
    shown = [step.partition("\n") for step in steps]
    assert shown
    for question, _, told in shown:
        name, _, arguments = question.partition(" ")
        try:
            text = asyncio.run(
                call_operation(TOOLS.find(name), folders, json.loads(arguments))
            ).text
        except REFUSALS as error:
            text = str(error)
        assert f"{text}\n" == told


def test_the_tools_are_listed_in_their_order_with_their_size() -> None:
    sentence = SECTION.partition("in this order:")[2].partition(";")[0]
    assert re.findall(r"`(\w+)`", sentence) == [tool.name for tool in TOOLS.listed]
    wire = [tool.model_dump(by_alias=True, exclude_none=True) for tool in TOOLS.listed]
    size = len(json.dumps(wire, separators=(",", ":")).encode())
    assert f"take {size / 1000:.1f} KB" in SECTION


def test_the_tools_for_prompts_are_named_with_their_size() -> None:
    tools = PromptTools(Workspace(Settings(trusted=True))).listed
    assert all(f"`{tool.name}`" in SECTION for tool in tools)
    wire = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    size = len(json.dumps(wire, separators=(",", ":")).encode())
    assert f"take {size / 1000:.1f} KB:" in SECTION


def test_the_configuration_is_json_that_starts_the_server() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)
    server = json.loads(block)["mcpServers"]["foldline"]
    assert server["command"] == "foldline"
    assert server["args"][:2] == ["mcp", "--root"]
