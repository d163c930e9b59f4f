"""The core behind every shell; it knows neither LSP nor MCP nor the command line.

A `Workspace` holds folders, open documents and their prompts.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(__name__, {"workspace": ("AccessOptions", "Workspace")})
