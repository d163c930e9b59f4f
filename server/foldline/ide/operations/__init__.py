"""All operations, ordered from overview to detail; each is loaded when it is first needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.operations.operation import Operation

    OPERATIONS: tuple[Operation[Any, Any], ...]

MODULES = (
    "code_tree",
    "code_search_files",
    "code_grep",
    "code_outline",
    "code_read_symbol",
    "code_read_lines",
    "code_find_references",
    "code_read_file",
    "code_scoped_context",
    "code_definition",
    "code_implementations",
    "code_hover",
    "code_call_hierarchy",
    "code_diagnostics",
)


def operations() -> Iterator[Operation[Any, Any]]:
    """Yield the operations; a caller that finds the one it needs loads none after it."""
    for module in MODULES:
        yield import_module(f"{__name__}.{module}").OPERATION


def __getattr__(name: str) -> object:
    if name != "OPERATIONS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, tuple(operations()))
