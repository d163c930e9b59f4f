"""`workspace/didChangeWorkspaceFolders`: adds and removes workspace folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS

if TYPE_CHECKING:
    from lsprotocol.types import DidChangeWorkspaceFoldersParams

    from foldline.server.server import FoldlineServer

METHOD = WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS
OPTIONS = None


def handle(ls: FoldlineServer, params: DidChangeWorkspaceFoldersParams) -> None:
    ls.core.set_root_uris(folder.uri for folder in ls.documents.folders.values())
