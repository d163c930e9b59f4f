"""`initialized`: reports wrong settings, and loads what the first requests need."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol.types import INITIALIZED, MessageType, ShowMessageParams

from foldline.backends.base.waiting import in_thread
from foldline.server import virtual_documents as virtual
from foldline.server.client_configuration import configure, watch_files
from foldline.server.indexing import index_progress
from foldline.server.warm_up import warm_up

if TYPE_CHECKING:
    from lsprotocol.types import InitializedParams

    from foldline.server.server import FoldlineServer

METHOD = INITIALIZED
OPTIONS = None


async def handle(ls: FoldlineServer, params: InitializedParams) -> None:
    if ls.settings_problems:
        message = "foldline: " + "; ".join(ls.settings_problems)
        ls.window_show_message(ShowMessageParams(MessageType.Warning, message))
    window = ls.client_capabilities.window
    if window is not None and window.work_done_progress:
        ls.core.progress_of = index_progress(ls, asyncio.get_running_loop())
    await in_thread(warm_up)
    await configure(ls)
    await watch_files(ls)
    await virtual.register(ls)
