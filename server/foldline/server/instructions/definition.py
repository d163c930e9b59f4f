"""`textDocument/definition`: from a name in an instruction file to what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DEFINITION

from foldline.server.instructions.mentions import definition

if TYPE_CHECKING:
    from lsprotocol.types import DefinitionParams, Location

    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DEFINITION


async def handle(ls: FoldlineServer, params: DefinitionParams) -> Location | None:
    return await definition(ls, params)
