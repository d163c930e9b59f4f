"""LSP features of instruction files, a module for each method, like `features` of prompt modules.

`HANDLERS` lists them; other requests about these files are answered with nothing.
"""

from __future__ import annotations

from foldline.server.instructions import document_symbol, hover

HANDLERS = {feature.METHOD: feature.handle for feature in (document_symbol, hover)}
