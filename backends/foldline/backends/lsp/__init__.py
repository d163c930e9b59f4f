"""Language servers: found, started, asked, and never the reason for a failure.

`LSPBackend` is the way in. It has one server for each (server, root), all of them on one event
loop in a thread of its own; `servers` is the table of the known ones.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "backend": ("LSPBackend",),
        "discovery": ("FoundServer", "server_version"),
        "lifecycle": ("Limits", "ServerState", "ServerStatus"),
        "servers": ("ServerSpec",),
    },
)
