"""The tools over SmartFileAccess, one module each."""

from foldline.agent.mcp.tools import (
    find_references,
    get_file_outline,
    get_tree,
    read_file,
    read_lines,
    read_symbol,
)

# In the order in which a reader of code should think of them.
TOOLS = (
    get_tree.TOOL,
    get_file_outline.TOOL,
    read_symbol.TOOL,
    read_lines.TOOL,
    find_references.TOOL,
    read_file.TOOL,
)
