"""`workspace/didChangeConfiguration`: reads the client's options again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import WORKSPACE_DID_CHANGE_CONFIGURATION

from foldline.server.client_configuration import configure

if TYPE_CHECKING:
    from lsprotocol.types import DidChangeConfigurationParams

    from foldline.server.server import FoldlineServer

METHOD = WORKSPACE_DID_CHANGE_CONFIGURATION
OPTIONS = None


async def handle(ls: FoldlineServer, params: DidChangeConfigurationParams) -> None:
    await configure(ls, params.settings)
