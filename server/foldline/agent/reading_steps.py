"""Instructions for reading code in few bytes: the steps, the costs, and the rule."""

from __future__ import annotations

from collections.abc import Collection

from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.answer_sizes import SIZES
from foldline.ide.operations.operation import cost_of

ALL_TOOLS = tuple(operation.tool for operation in OPERATIONS if operation.tool)

STEPS = (
    ("SEARCH", ("search_for_files", "grep_in_files", "get_tree"), "find candidates"),
    ("OUTLINE", ("get_file_outline",), "understand the best candidates without reading them"),
    ("DRILL", ("read_symbol", "read_lines"), "read the definitions and ranges that matter"),
    ("CONNECT", ("find_references",), "follow what is used across files"),
    ("GENERATE", ("generate_scoped_context",), "answer once you are confident"),
)

# The cheapest first. Some lines cost about what the symbol around them does.
COSTS = sorted(
    (
        ("get_tree", "where is what"),
        ("search_for_files", "for files by their words"),
        ("grep_in_files", "for lines by a pattern"),
        ("get_file_outline", "prefer this to reading the file"),
        ("read_symbol", "when you need one definition"),
        ("read_lines", "when you need an exact range"),
        ("find_references", "for what spans files"),
        ("generate_scoped_context", "for what matches a question, in one call"),
        ("read_file", "LAST RESORT, for files that aren't code"),
    ),
    key=lambda cost: SIZES.get(cost[0], SIZES["read_symbol"]).median,
)

RULE = "RULE: Never call read_file on a code file without first calling get_file_outline."
RULED = frozenset({"read_file", "get_file_outline"})


def mcp_instructions(tools: Collection[str] = ALL_TOOLS) -> str:
    """Return the instructions in few bytes, as MCP clients put them into every conversation.

    Some clients cut them: the rule and the steps are in the first 250 bytes.
    """
    ruled = set(tools) >= RULED
    first = [RULE] if ruled else []
    steps = [
        f"{name} {', '.join(offered)}"
        for name, of_step, _ in STEPS
        if (offered := [tool for tool in of_step if tool in tools and tool != "get_tree"])
    ]
    first.append(f"Steps: {'; '.join(steps)}.")
    resort = " (last resort: not on a code file without its outline)" if ruled else ""
    costs = [
        f"{tool} {cost_of(tool)}{resort if tool == 'read_file' else ''}"
        for tool, _ in COSTS
        if tool in tools
    ]
    return (
        f"{' '.join(first)}\nMedian answers, cheapest first: {', '.join(costs)}.\n"
        "Paths are relative to the workspace. An answer that is longer than its budget (bytes) "
        "ends with a cursor: repeat the call with it for the rest."
    )
