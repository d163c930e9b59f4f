"""`textDocument/documentHighlight`: the references to a field in the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
    DocumentHighlight,
    DocumentHighlightKind,
)

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import DocumentHighlightParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: DocumentHighlightParams
) -> list[DocumentHighlight] | None:
    def query(snapshot: LspSnapshot) -> list[DocumentHighlight]:
        kinds = {
            features.Role.DECLARATION: DocumentHighlightKind.Write,
            features.Role.WRITE: DocumentHighlightKind.Write,
            features.Role.READ: DocumentHighlightKind.Read,
            features.Role.PLACEHOLDER: DocumentHighlightKind.Read,
        }
        return [
            DocumentHighlight(snapshot.range(use.place), kinds[use.role])
            for use in features.highlights(snapshot.analysis, snapshot.offset(params.position))
        ]

    return await with_snapshot(ls, params.text_document.uri, query) or None
