"""`textDocument/references`: what refers to a field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_REFERENCES
OPTIONS = None


async def handle(ls: FoldlineServer, params: types.ReferenceParams) -> list[types.Location] | None:
    def query(snapshot: LspSnapshot) -> list[types.Location]:
        places = features.references(
            snapshot.project,
            snapshot.analysis,
            snapshot.offset(params.position),
            include_declaration=params.context.include_declaration,
        )
        return snapshot.locations(places)

    return await with_snapshot(ls, params.text_document.uri, query) or None
