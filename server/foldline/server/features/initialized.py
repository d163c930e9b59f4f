"""`initialized`: says once what was wrong in the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import INITIALIZED, MessageType, ShowMessageParams

from foldline.server.configuration import configure, watch_files

if TYPE_CHECKING:
    from lsprotocol.types import InitializedParams

    from foldline.server.server import FoldlineServer

METHOD = INITIALIZED
OPTIONS = None


async def handle(ls: FoldlineServer, params: InitializedParams) -> None:
    if ls.settings_problems:
        message = "foldline: initializationOptions: " + "; ".join(ls.settings_problems)
        ls.window_show_message(ShowMessageParams(MessageType.Warning, message))
    await configure(ls)
    await watch_files(ls)
