"""The costs of answers, as descriptions of tools and instructions for agents state them."""

from __future__ import annotations

from foldline.ide.operations.answer_sizes import SIZES


def cost_of(tool: str) -> str:
    """Return the median size of a tool's answers, such as `~1.0 KB`; lines cost what they hold."""
    if tool == "read_lines":
        return "as long as the range"
    return f"~{SIZES[tool].median / 1000:.1f} KB"
