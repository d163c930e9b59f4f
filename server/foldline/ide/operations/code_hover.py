"""`code.hover`: the type and documentation of a symbol."""

from foldline.backends.formatting.navigation import hover_lines
from foldline.ide.operations.symbol_operation import symbol_operation

OPERATION = symbol_operation(
    "code.hover",
    "show the type and documentation of a symbol",
    verb="hover",
    query=lambda access: access.hover,
    lines=hover_lines,
    found=lambda hover: hover.text,
)
