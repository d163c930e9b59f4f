"""The prompt on how to read code: the steps, the costs, and the rule.

`AGENT_PROMPT` is a template like any other: preview it, clone its section into your own, and attach
`foldline.agent.tools.code_tools` to it, as `agent_template` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from foldline.agent.reading_steps import ALL_TOOLS, COSTS, RULE, RULED, STEPS
from foldline.agent.tools import code_tools
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.operation import Operation, cost_of
from foldline.ide.workspace import Workspace
from foldline.prompts import MarkdownSection, PromptTemplate, Stability, Stable
from foldline.prompts.dataclasses import FrozenDataclass


@FrozenDataclass()
class ReadingCode:
    """Instructions for an agent's tools."""

    __stability__: ClassVar[Stability] = Stable

    steps: str
    costs: str
    rule: str = ""

    @classmethod
    def with_tools(cls, tools: Collection[str]) -> ReadingCode:
        """Return the instructions for an agent with the tools of these names."""
        steps: list[str] = []
        for name, of_step, purpose in STEPS:
            offered = [tool for tool in of_step if tool in tools]
            if offered or name == "GENERATE":
                what = f"{', '.join(offered)}: {purpose}" if offered else purpose
                steps.append(f"Step {len(steps) + 1}: {name} - {what}")
        costs = [f"  {tool} ({cost_of(tool)}): {when}" for tool, when in COSTS if tool in tools]
        rule = f"\n\n{RULE}" if set(tools) >= RULED else ""
        return cls("\n".join(steps), "\n".join(costs), rule)


reading_code = MarkdownSection[ReadingCode](
    title="Reading Code",
    key="reading-code",
    template="""
        ${steps}

        COST HIERARCHY (cheapest → most expensive, by the median answer):
        ${costs}${rule}
        """,
    default_params=ReadingCode.with_tools(ALL_TOOLS),
)

AGENT_PROMPT = PromptTemplate(ns="foldline/agent", key="reading-code", sections=[reading_code])


def agent_prompt(tools: Collection[str] = ALL_TOOLS) -> str:
    """Return the instructions as text, for an agent that has its own `tools`."""
    return AGENT_PROMPT.render(ReadingCode.with_tools(tools)).text


def agent_template(
    workspace: Workspace, operations: Iterable[Operation[Any, Any]] = OPERATIONS
) -> PromptTemplate[object]:
    """Return a template with these tools and their instructions, for the files of a workspace."""
    tools = code_tools(workspace, operations)
    params = ReadingCode.with_tools([tool.name for tool in tools])
    section = reading_code.clone(tools=tools, default_params=params)
    return PromptTemplate(ns="foldline/agent", key="reading-code", sections=[section])
