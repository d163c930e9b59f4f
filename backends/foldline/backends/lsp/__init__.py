"""Language servers: found, started, asked, and never the reason for a failure.

`LSPBackend` is the way in. It has one server for each (server, root), all of them on one event
loop in a thread of its own; `servers` is the table of the known ones.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_LATER = {
    "backend": ("LSPBackend",),
    "discovery": ("FoundServer", "server_version"),
    "lifecycle": ("Limits", "ServerState", "ServerStatus"),
    "servers": ("ServerSpec",),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from foldline.backends.references.exports import load

        return load(__name__, _LATER, name)
