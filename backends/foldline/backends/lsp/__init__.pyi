from foldline.backends.lsp.backend import LSPBackend
from foldline.backends.lsp.discovery import FoundServer, server_version
from foldline.backends.lsp.lifecycle import Limits, ServerState, ServerStatus
from foldline.backends.lsp.servers import ServerSpec

__all__ = [
    "FoundServer",
    "LSPBackend",
    "Limits",
    "ServerSpec",
    "ServerState",
    "ServerStatus",
    "server_version",
]
__version__: str
