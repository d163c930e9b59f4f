"""The prompt on how to read code: the steps, the costs, and the rule.

`AGENT_PROMPT` is a template like any other: preview it, clone its section into your own, and attach
`foldline.agent.tools.code_tools` to it, as `agent_template` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from foldline.agent.tools import code_tools
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.answer_sizes import SIZES
from foldline.ide.operations.operation import cost_of
from foldline.prompts import MarkdownSection, PromptTemplate, Stability, Stable
from foldline.prompts.dataclasses import FrozenDataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from foldline.ide.operations.operation import Operation
    from foldline.ide.workspace import Workspace

ALL_TOOLS = tuple(operation.tool for operation in OPERATIONS if operation.tool)

_STEPS = (
    ("SEARCH", ("search_for_files", "grep_in_files", "get_tree"), "find candidates"),
    ("OUTLINE", ("get_file_outline",), "understand the best candidates without reading them"),
    ("DRILL", ("read_symbol", "read_lines"), "read the definitions and ranges that matter"),
    ("CONNECT", ("find_references",), "follow what is used across files"),
    ("GENERATE", ("generate_scoped_context",), "answer once you are confident"),
)

# The cheapest first. Some lines cost about what the symbol around them does.
_COSTS = sorted(
    (
        ("get_tree", "where is what"),
        ("search_for_files", "for files by their words"),
        ("grep_in_files", "for lines by a pattern"),
        ("get_file_outline", "prefer this to reading the file"),
        ("read_symbol", "when you need one definition"),
        ("read_lines", "when you need an exact range"),
        ("find_references", "for what spans files"),
        ("generate_scoped_context", "for what matches a question, in one call"),
        ("read_file", "LAST RESORT, for files that aren't code or are below 2 KB"),
    ),
    key=lambda cost: SIZES.get(cost[0], SIZES["read_symbol"]).median,
)

RULE = "RULE: Never call read_file on code over 2 KB without first calling get_file_outline."
_RULED = frozenset({"read_file", "get_file_outline"})


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
        for name, of_step, purpose in _STEPS:
            offered = [tool for tool in of_step if tool in tools]
            if offered or name == "GENERATE":
                what = f"{', '.join(offered)}: {purpose}" if offered else purpose
                steps.append(f"Step {len(steps) + 1}: {name} - {what}")
        costs = [f"  {tool} ({cost_of(tool)}): {when}" for tool, when in _COSTS if tool in tools]
        rule = f"\n\n{RULE}" if set(tools) >= _RULED else ""
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


def mcp_instructions(tools: Collection[str] = ALL_TOOLS) -> str:
    """Return the instructions in few bytes, as MCP clients put them into every conversation.

    Some clients cut them: the rule and the steps are in the first 250 bytes.
    """
    ruled = set(tools) >= _RULED
    first = [RULE] if ruled else []
    steps = [
        f"{name} {', '.join(offered)}"
        for name, of_step, _ in _STEPS
        if (offered := [tool for tool in of_step if tool in tools and tool != "get_tree"])
    ]
    first.append(f"Steps: {'; '.join(steps)}.")
    resort = " (last resort: not on code over 2 KB without its outline)" if ruled else ""
    costs = [
        f"{tool} {cost_of(tool)}{resort if tool == 'read_file' else ''}"
        for tool, _ in _COSTS
        if tool in tools
    ]
    return (
        f"{' '.join(first)}\nMedian answers, cheapest first: {', '.join(costs)}.\n"
        "Paths are relative to the workspace. An answer that is longer than its budget (bytes) "
        "ends with a cursor: repeat the call with it for the rest."
    )


def agent_template(
    workspace: Workspace, operations: Iterable[Operation[Any, Any]] = OPERATIONS
) -> PromptTemplate[object]:
    """Return a template with these tools and their instructions, for the files of a workspace."""
    tools = code_tools(workspace, operations)
    params = ReadingCode.with_tools([tool.name for tool in tools])
    section = reading_code.clone(tools=tools, default_params=params)
    return PromptTemplate(ns="foldline/agent", key="reading-code", sections=[section])
