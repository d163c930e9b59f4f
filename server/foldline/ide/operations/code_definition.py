"""`code.definition`: the definition of a symbol."""

from foldline.backends.formatting.navigation import location_lines
from foldline.ide.operations.symbol_operation import symbol_operation

OPERATION = symbol_operation(
    "code.definition",
    "show where a symbol is defined",
    verb="definition",
    query=lambda access: access.goto_definition,
    lines=lambda locations, symbol: location_lines(locations, symbol, "definition"),
)
