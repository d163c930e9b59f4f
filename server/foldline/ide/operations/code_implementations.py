"""`code.implementations`: the implementations and overrides of a symbol."""

from foldline.backends.formatting.navigation_text import format_locations
from foldline.ide.operations.symbol_operation import symbol_operation

OPERATION = symbol_operation(
    "code.implementations",
    "list what implements or overrides a symbol",
    verb="implementations",
    query=lambda access: access.find_implementations,
    text=lambda locations, symbol: format_locations(locations, symbol, "implementation"),
)
