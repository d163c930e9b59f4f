"""`shutdown`: nothing runs on behalf of this client any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import SHUTDOWN

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

METHOD = SHUTDOWN
OPTIONS = None


def handle(ls: FoldlineServer, params: None) -> None:
    # At once: the client may send `exit` without waiting for the answer.
    ls.close()
