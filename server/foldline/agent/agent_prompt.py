"""What an agent is told about reading code: the steps, the costs, and the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

ALL_TOOLS = (
    "get_tree",
    "search_for_files",
    "grep_in_files",
    "get_file_outline",
    "read_symbol",
    "read_lines",
    "find_references",
    "read_file",
    "generate_scoped_context",
)

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
    ("read_file", "~8 KB", "LAST RESORT, only for configuration and other files that are no code"),
)

RULE = "RULE: Never call read_file on a code file without first calling get_file_outline."


def agent_prompt(tools: Collection[str] = ALL_TOOLS) -> str:
    """The instructions for an agent that has `tools`: steps, costs from cheap to dear, the rule."""
    lines: list[str] = []
    for name, of_step, purpose in _STEPS:
        offered = [tool for tool in of_step if tool in tools]
        if offered or name == "GENERATE":
            what = f"{', '.join(offered)}: {purpose}" if offered else purpose
            lines.append(f"Step {len(lines) + 1}: {name} - {what}")
    lines += ["", "COST (cheapest first):"]
    lines += [f"  {tool} ({cost}): {when}" for tool, cost, when in _COSTS if tool in tools]
    if {"read_file", "get_file_outline"} <= set(tools):
        lines += ["", RULE]
    return "\n".join(lines)
