"""`textDocument/documentHighlight`: the references to a field in the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
    DocumentHighlight,
    DocumentHighlightKind,
)

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import DocumentHighlightParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: DocumentHighlightParams
) -> list[DocumentHighlight] | None:
    def question(asked: Asked) -> list[DocumentHighlight]:
        from foldline.ide.features.fields import Role
        from foldline.ide.features.references import highlights

        kinds = {
            Role.DECLARATION: DocumentHighlightKind.Write,
            Role.WRITE: DocumentHighlightKind.Write,
            Role.READ: DocumentHighlightKind.Read,
            Role.PLACEHOLDER: DocumentHighlightKind.Read,
        }
        return [
            DocumentHighlight(asked.range(use.place), kinds[use.role])
            for use in highlights(asked.analysis, asked.offset(params.position))
        ]

    return await ask(ls, params.text_document.uri, question) or None
