"""`textDocument/references`: the uses of what an instruction file names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_REFERENCES

from foldline.server.instructions.mentions import uses

if TYPE_CHECKING:
    from lsprotocol.types import Location, ReferenceParams

    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_REFERENCES


async def handle(ls: FoldlineServer, params: ReferenceParams) -> list[Location] | None:
    return await uses(ls, params)
