"""`code.callHierarchy`: the callers and callees of a function."""

from foldline.backends.formatting.navigation import call_lines
from foldline.ide.operations.symbol_operation import symbol_operation

OPERATION = symbol_operation(
    "code.callHierarchy",
    "list who calls a function, and whom it calls",
    verb="calls",
    query=lambda access: access.call_hierarchy,
    lines=call_lines,
    found=lambda calls: calls.incoming or calls.outgoing,
)
