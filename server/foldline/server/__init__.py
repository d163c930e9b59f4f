"""The foldline language server: prompts and code, folded, for any LSP client.

`app.create_server` builds it; `transport` runs it over stdio or TCP. One module of `features`
serves one LSP method, one module of `commands` serves one `foldline.server.*` command.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__, {"app": (), "diagnostic_items": (), "transport": ()}
)
