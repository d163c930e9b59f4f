"""The prompt on how to read code: the steps, the costs, and the rule.

`AGENT_PROMPT` is a template like any other: preview it, clone its section into your own, and attach
`foldline.agent.tools.code_tools` to it, as `agent_template` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.agent.tools import code_tools
from foldline.ide.operations import OPERATIONS
from foldline.prompts import MarkdownSection, PromptTemplate
from foldline.prompts.dataclasses import FrozenDataclass

if TYPE_CHECKING:
    from collections.abc import Collection

    from foldline.ide.workspace import Workspace

ALL_TOOLS = tuple(operation.tool for operation in OPERATIONS if operation.tool)

_STEPS = (
    ("SEARCH", ("search_for_files", "grep_in_files", "get_tree"), "find candidates"),
    ("OUTLINE", ("get_file_outline",), "understand the best candidates without reading them"),
    ("DRILL", ("read_symbol", "read_lines"), "read the definitions and ranges that matter"),
    ("CONNECT", ("find_references",), "follow what is used across files"),
    ("GENERATE", ("generate_scoped_context",), "answer once you are confident"),
)

_COSTS = (
    ("get_file_outline", "~500 bytes", "prefer this"),
    ("read_symbol", "~1-2 KB", "when you need one definition"),
    ("read_lines", "variable", "when you need an exact range"),
    ("find_references", "~2-3 KB", "for what spans files"),
    ("read_file", "~8 KB", "LAST RESORT, only for configuration and other files that aren't code"),
)

RULE = "RULE: Never call read_file on a code file without first calling get_file_outline."


@FrozenDataclass()
class ReadingCode:
    """Instructions for an agent's tools."""

    steps: str
    costs: str
    rule: str = ""

    @classmethod
    def with_tools(cls, tools: Collection[str]) -> ReadingCode:
        """Return the instructions for an agent with the tools of these names."""
        steps: list[str] = []
        for name, of_step, purpose in _STEPS:
            offered = [tool for tool in of_step if tool in tools]
            if offered or name == "GENERATE":
                what = f"{', '.join(offered)}: {purpose}" if offered else purpose
                steps.append(f"Step {len(steps) + 1}: {name} - {what}")
        costs = [f"  {tool} ({cost}): {when}" for tool, cost, when in _COSTS if tool in tools]
        rule = f"\n\n{RULE}" if {"read_file", "get_file_outline"} <= set(tools) else ""
        return cls("\n".join(steps), "\n".join(costs), rule)


reading_code = MarkdownSection[ReadingCode](
    title="Reading Code",
    key="reading-code",
    template="""
        ${steps}

        COST (cheapest first):
        ${costs}${rule}
        """,
    default_params=ReadingCode.with_tools(ALL_TOOLS),
)

AGENT_PROMPT = PromptTemplate(ns="foldline/agent", key="reading-code", sections=[reading_code])


def agent_prompt(tools: Collection[str] = ALL_TOOLS) -> str:
    """Return the instructions as text, for an agent that has its own `tools`."""
    return AGENT_PROMPT.render(ReadingCode.with_tools(tools)).text


def agent_template(workspace: Workspace) -> PromptTemplate[object]:
    """Return a template with the instructions and the tools, for the files of a workspace."""
    section = reading_code.clone()
    section.tools = code_tools(workspace)
    return PromptTemplate(ns="foldline/agent", key="reading-code", sections=[section])
