"""The tools over SmartFileAccess, one module each."""

from foldline.agent.mcp.tools import (
    find_references,
    get_file_outline,
    get_tree,
    grep_in_files,
    read_file,
    read_lines,
    read_symbol,
    search_for_files,
)

# In the order in which a reader of code should think of them.
TOOLS = (
    get_tree.TOOL,
    search_for_files.TOOL,
    grep_in_files.TOOL,
    get_file_outline.TOOL,
    read_symbol.TOOL,
    read_lines.TOOL,
    find_references.TOOL,
    read_file.TOOL,
)
