"""`code.callHierarchy`: the callers and callees of a function."""

from foldline.backends.formatting.navigation_text import format_calls
from foldline.ide.operations.symbol_operation import symbol_operation

OPERATION = symbol_operation(
    "code.callHierarchy",
    "list who calls a function, and whom it calls",
    verb="calls",
    query=lambda access: access.call_hierarchy,
    text=format_calls,
    found=lambda calls: calls.incoming or calls.outgoing,
)
