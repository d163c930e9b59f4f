"""Language servers: found, started, asked, and never the reason for a failure.

`LSPBackend` is the way in. It has one server for each (server, root), all of them on one event
loop in a thread of its own; `servers` is the table of the known ones.
"""

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
