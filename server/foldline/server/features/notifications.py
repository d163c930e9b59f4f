"""Notifications of a client: about its documents, folders, settings and trust."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide.structuring import structure
from foldline.records import record
from foldline.server import virtual_documents as virtual
from foldline.server.client_configuration import configure, watch_files
from foldline.server.indexing import index_progress
from foldline.server.warm_up import warm_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.server.server import FoldlineServer


@record
class Trust:
    trusted: bool


async def initialized(ls: FoldlineServer, params: types.InitializedParams) -> None:
    """Report wrong settings, and load what the first requests need."""
    if ls.settings_problems:
        message = "foldline: " + "; ".join(ls.settings_problems)
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
    ls.watch_plugins()
    window = ls.client_capabilities.window
    if window is not None and window.work_done_progress:
        ls.core.progress_of = index_progress(ls, asyncio.get_running_loop())
    warming = asyncio.create_task(warm_up(ls.protocol.is_asked))
    await configure(ls)
    await watch_files(ls)
    await virtual.register(ls)
    await warming


def opened(
    ls: FoldlineServer, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams
) -> None:
    """Use the editor's text instead of the file's, as it is now."""
    ls.open_document(params.text_document.uri)


def closed(ls: FoldlineServer, params: types.DidCloseTextDocumentParams) -> None:
    """Go back to the text on disk."""
    ls.core.close_document(params.text_document.uri)


async def configured(ls: FoldlineServer, params: types.DidChangeConfigurationParams) -> None:
    """Read the client's options again."""
    await configure(ls, params.settings)


def trusted(ls: FoldlineServer, params: object) -> None:
    """Take in that the user trusts the workspace, or no longer does."""
    ls.core.set_trusted(trusted=structure(params, Trust).trusted)


async def changed_on_disk(ls: FoldlineServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Read files again that changed outside of the editor."""
    ls.core.changed_on_disk([change.uri for change in params.changes])


def changed_folders(ls: FoldlineServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    ls.core.set_root_uris(folder.uri for folder in ls.documents.folders.values())


NOTIFICATIONS: Mapping[str, Callable[..., object]] = {
    types.INITIALIZED: initialized,
    types.TEXT_DOCUMENT_DID_OPEN: opened,
    types.TEXT_DOCUMENT_DID_CHANGE: opened,
    types.TEXT_DOCUMENT_DID_CLOSE: closed,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: configured,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: changed_on_disk,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: changed_folders,
    "foldline/didChangeTrust": trusted,
}
"""The handler of each notification."""
