"""The extras of foldline that install the packages it needs besides the standard library."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

# The packages of other extras than `server`.
_EXTRAS = {
    "jinja2": "adopt",
    "markdown_it": "web",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "psycopg": "postgres",
    "pydantic": "mcp",
    "starlette": "web",
    "uvicorn": "web",
    "yaml": "adopt",
}
# Other projects bring some of them, which are then not enough.
_CODE = ("cattrs", "platformdirs", "regex", "tree_sitter")


def extra_of(module: str) -> str:
    """Return the extra that installs a module."""
    return _EXTRAS.get(module.partition(".")[0], "server")


def needs(what: str, module: str) -> str:
    """Return the sentence that says how to install a module that something needs."""
    return f"{what} needs {module!r}: install foldline[{extra_of(module)}]"


@cache
def require_code_packages() -> None:
    """Check for the packages that reading code needs.

    They are imported where they are used, so it would fail only in the middle of a query.

    Raises:
        ModuleNotFoundError: One is missing; the message names the extra.
    """
    for module in _CODE:
        if find_spec(module) is None:
            raise ModuleNotFoundError(needs("Reading code", module), name=module)
