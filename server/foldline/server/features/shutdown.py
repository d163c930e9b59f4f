"""`shutdown`: stops everything that runs for this client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

METHOD = types.SHUTDOWN
OPTIONS = None


def handle(ls: FoldlineServer, params: None) -> None:
    # Immediately: the client may send `exit` without waiting for the response.
    ls.close()
