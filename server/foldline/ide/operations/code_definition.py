"""`code.definition`: the definition of a symbol."""

from foldline.backends.formatting.navigation_text import format_locations
from foldline.ide.operations.symbol_operation import symbol_operation

OPERATION = symbol_operation(
    "code.definition",
    "show where a symbol is defined",
    verb="definition",
    query=lambda access: access.goto_definition,
    text=lambda locations, symbol: format_locations(locations, symbol, "definition"),
)
