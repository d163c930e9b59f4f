"""`workspace/didChangeWatchedFiles`: reads files again that changed outside of the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import WORKSPACE_DID_CHANGE_WATCHED_FILES

if TYPE_CHECKING:
    from lsprotocol.types import DidChangeWatchedFilesParams

    from foldline.server.server import FoldlineServer

METHOD = WORKSPACE_DID_CHANGE_WATCHED_FILES
OPTIONS = None


async def handle(ls: FoldlineServer, params: DidChangeWatchedFilesParams) -> None:
    ls.core.changed_on_disk([change.uri for change in params.changes])
