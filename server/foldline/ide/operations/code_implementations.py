"""`code.implementations`: the implementations and overrides of a symbol."""

from foldline.backends.formatting.navigation import location_lines
from foldline.ide.operations.symbol_operation import symbol_operation

OPERATION = symbol_operation(
    "code.implementations",
    "list what implements or overrides a symbol",
    verb="implementations",
    query=lambda access: access.find_implementations,
    lines=lambda locations, symbol: location_lines(locations, symbol, "implementation"),
)
