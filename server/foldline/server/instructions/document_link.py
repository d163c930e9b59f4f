"""`textDocument/documentLink`: what an instruction file names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DOCUMENT_LINK

from foldline.server.instructions.mentions import links

if TYPE_CHECKING:
    from lsprotocol.types import DocumentLink, DocumentLinkParams

    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DOCUMENT_LINK


async def handle(ls: FoldlineServer, params: DocumentLinkParams) -> list[DocumentLink] | None:
    return await links(ls, params.text_document.uri) or None
