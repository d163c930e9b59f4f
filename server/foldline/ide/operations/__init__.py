"""All operations, ordered from overview to detail."""

from foldline.ide.operations import (
    code_call_hierarchy,
    code_definition,
    code_diagnostics,
    code_find_references,
    code_grep,
    code_hover,
    code_implementations,
    code_outline,
    code_read_file,
    code_read_lines,
    code_read_symbol,
    code_scoped_context,
    code_search_files,
    code_tree,
)

OPERATIONS = (
    code_tree.OPERATION,
    code_search_files.OPERATION,
    code_grep.OPERATION,
    code_outline.OPERATION,
    code_read_symbol.OPERATION,
    code_read_lines.OPERATION,
    code_find_references.OPERATION,
    code_read_file.OPERATION,
    code_scoped_context.OPERATION,
    code_definition.OPERATION,
    code_implementations.OPERATION,
    code_hover.OPERATION,
    code_call_hierarchy.OPERATION,
    code_diagnostics.OPERATION,
)
