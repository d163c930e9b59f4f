"""`textDocument/documentHighlight`: the references to a field in the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    def query(snapshot: LspSnapshot) -> list[types.DocumentHighlight]:
        kinds = {
            features.Role.DECLARATION: types.DocumentHighlightKind.Write,
            features.Role.WRITE: types.DocumentHighlightKind.Write,
            features.Role.READ: types.DocumentHighlightKind.Read,
            features.Role.PLACEHOLDER: types.DocumentHighlightKind.Read,
        }
        return [
            types.DocumentHighlight(snapshot.range(use.place), kinds[use.role])
            for use in features.highlights(snapshot.analysis, snapshot.offset(params.position))
        ]

    return await with_snapshot(ls, params.text_document.uri, query) or None
