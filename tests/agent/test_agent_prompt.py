"""The agent prompt, by the requirement SF-13."""

import re
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from foldline.agent.cli import main
from foldline.agent.instructions import (
    AGENT_PROMPT,
    ReadingCode,
    agent_prompt,
    agent_template,
)
from foldline.agent.mcp.calls import Tools
from foldline.agent.mcp.server import INSTRUCTIONS, AgentServer
from foldline.agent.mcp.stdio import Options
from foldline.agent.reading_steps import ALL_TOOLS, RULE, mcp_instructions
from foldline.ide.operations import OPERATIONS, answer_sizes
from foldline.ide.operations.answer_sizes import SIZES
from foldline.ide.operations.operation import cost_of
from foldline.ide.workspace import Workspace


def test_the_steps_come_in_their_order_with_their_tools() -> None:
    text = agent_prompt()
    steps = [line for line in text.splitlines() if line.startswith("Step ")]
    assert [line.split()[2] for line in steps] == [
        "SEARCH",
        "OUTLINE",
        "DRILL",
        "CONNECT",
        "GENERATE",
    ]
    assert "search_for_files, grep_in_files" in steps[0]
    assert "generate_scoped_context" in steps[-1]


def test_costs_go_from_cheap_to_dear_and_the_rule_is_told() -> None:
    lines = agent_prompt().splitlines()
    heading = lines.index("COST HIERARCHY (cheapest → most expensive, by the median answer):")
    tools = [line.split()[0] for line in lines[heading + 1 : lines.index("", heading)]]
    assert sorted(tools) == sorted(ALL_TOOLS)
    measured = [SIZES[tool].median for tool in tools if tool != "read_lines"]
    assert measured == sorted(measured)
    assert tools.index("read_lines") == tools.index("read_symbol") + 1
    assert agent_prompt().endswith(RULE)
    told = INSTRUCTIONS.partition("cheapest first: ")[2]
    assert sorted(ALL_TOOLS, key=told.index) == tools


def test_an_agent_hears_only_of_the_tools_that_it_has() -> None:
    text = agent_prompt(["get_file_outline", "read_symbol"])
    lines = text.splitlines()
    assert lines[2].startswith("Step 1: OUTLINE")
    assert lines[4] == "Step 3: GENERATE - answer once you are confident"
    assert "read_file" not in text
    assert not text.endswith("\n")


def test_the_prompt_is_a_template_that_carries_the_tools(tmp_path: Path) -> None:
    workspace = Workspace.at(tmp_path)
    rendered = agent_template(workspace).render()
    assert [tool.name for tool in rendered.tools] == list(ALL_TOOLS)
    assert rendered.text == agent_prompt()
    assert AGENT_PROMPT.render(ReadingCode.with_tools(ALL_TOOLS)).text == agent_prompt()
    workspace.close()


def test_the_mcp_server_tells_of_its_tools_and_of_the_rule() -> None:
    names = {tool.name for tool in Tools().listed}
    assert all(name in INSTRUCTIONS for name in names - {"generate_scoped_context"})
    assert "not on a code file without its outline" in INSTRUCTIONS


SUBSETS = [
    ALL_TOOLS,
    ("get_file_outline", "read_symbol"),
    ("read_file",),
    ("get_tree", "read_file", "get_file_outline"),
    ("generate_scoped_context",),
]


def named(text: str) -> set[str]:
    return {tool for tool in ALL_TOOLS if tool in re.findall(r"\w+", text)}


def instructions_of_a_server(tools: Collection[str]) -> str:
    operations = [operation for operation in OPERATIONS if operation.tool in tools]
    return AgentServer(Options(), Tools(operations)).protocol.instructions or ""


def text_of_a_template(tools: Collection[str]) -> str:
    workspace = Workspace()
    operations = [operation for operation in OPERATIONS if operation.tool in tools]
    template = agent_template(workspace, operations)
    assert {tool.name for tool in template.render().tools} == set(tools)
    return template.render().text


@pytest.mark.parametrize("tools", SUBSETS)
@pytest.mark.parametrize(
    "make", [agent_prompt, mcp_instructions, instructions_of_a_server, text_of_a_template]
)
def test_every_shell_names_the_readers_tools_and_no_other(
    make: Callable[[Collection[str]], str], tools: Collection[str]
) -> None:
    text = make(tools)
    assert named(text) == set(tools)
    assert ("without first calling" in text) == ({"read_file", "get_file_outline"} <= set(tools))


def test_the_rule_and_the_steps_are_in_the_first_bytes_of_the_instructions() -> None:
    first = INSTRUCTIONS.encode()[:250].decode()
    assert first.startswith(RULE)
    places = [first.index(f" {step} ") for step in ("SEARCH", "OUTLINE", "DRILL", "CONNECT")]
    assert places == sorted(places)
    assert "GENERATE generate_scoped_context." in first


def test_costs_are_those_that_were_measured() -> None:
    assert set(SIZES) == set(ALL_TOOLS) - {"read_lines"}
    for tool, size in SIZES.items():
        assert cost_of(tool) == f"~{size.median / 1000:.1f} KB"
        assert f"{tool} ({cost_of(tool)})" in agent_prompt()
        assert f"{tool} {cost_of(tool)}" in INSTRUCTIONS
        assert 0 < size.median <= size.ninetieth
    for operation in OPERATIONS:
        stated = re.findall(r"~[\d.]+(?:-[\d.]+)? K?B", operation.description)
        assert not stated or stated == [cost_of(operation.tool)], operation.tool
    assert cost_of("get_file_outline") in Tools().find("get_file_outline").description


def test_no_number_of_bytes_is_written_elsewhere() -> None:
    folder = Path(answer_sizes.__file__ or "").parents[2]
    for file in [*folder.glob("ide/operations/*.py"), folder / "agent" / "instructions.py"]:
        assert not re.findall(r"~\d[\d.]*(?:-\d+)? (?:KB|bytes)", strip(file.read_text())), file


def strip(source: str) -> str:
    """Return the source without the example of `cost_of`."""
    return source.replace("such as `~1.0 KB`", "")


def test_the_command_line_shows_the_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompts", "show", "agent"]) == 0
    assert capsys.readouterr().out == agent_prompt() + "\n"
    assert main(["prompts", "show", "agent", "--tools", "read_file"]) == 0
    assert capsys.readouterr().out == agent_prompt(["read_file"]) + "\n"
    assert main(["prompts", "show", "mcp"]) == 0
    assert capsys.readouterr().out == INSTRUCTIONS + "\n"


def test_the_command_line_lists_what_it_can_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompts"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["agent", "mcp", "choose-symbols", "answer-question"]
    for name in names:
        assert main(["prompts", "show", name]) == 0
        assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show"], "name a prompt; there are agent, mcp"),
        (["show", "agnt"], "there is no prompt 'agnt'; there are agent, mcp"),
        (["show", "agent", "--tools", "cat"], "there is no tool 'cat'; there are get_tree"),
        (["show", "choose-symbols", "--tools", "get_tree"], "names no tools"),
        (["list", "agent"], "foldline prompts show NAME"),
    ],
)
def test_wrong_arguments_say_what_there_is(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prompts", *arguments]) == 2
    assert message in capsys.readouterr().err
