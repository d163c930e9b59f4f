"""The agent prompt, by the requirement SF-13."""

from pathlib import Path

from foldline.agent.agent_prompt import (
    AGENT_PROMPT,
    ALL_TOOLS,
    RULE,
    ReadingCode,
    agent_prompt,
    agent_template,
)
from foldline.agent.mcp.calls import Tools
from foldline.agent.mcp.server import INSTRUCTIONS
from foldline.ide.workspace import Workspace


def test_sf13_the_steps_come_in_their_order_with_their_tools() -> None:
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


def test_sf13_costs_go_from_cheap_to_dear_and_the_rule_is_told() -> None:
    costs = agent_prompt().partition("COST")[2]
    tools = ["get_file_outline", "read_symbol", "read_lines", "find_references", "read_file"]
    places = [costs.index(f"  {tool} (") for tool in tools]
    assert places == sorted(places)
    assert agent_prompt().endswith(RULE)


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
    assert "never on code whose outline you have not seen" in INSTRUCTIONS
