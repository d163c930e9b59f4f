"""The core behind every shell; it knows neither LSP nor MCP nor the command line.

A `Workspace` holds folders, open documents and their prompts.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.ide.workspace import AccessOptions, Workspace

__all__ = ["AccessOptions", "Workspace"]

_LATER = {"workspace": ("AccessOptions", "Workspace")}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from foldline.backends.references.exports import load

        return load(__name__, _LATER, name)
