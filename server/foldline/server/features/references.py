"""`textDocument/references`: what refers to a field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_REFERENCES, Location

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import ReferenceParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_REFERENCES
OPTIONS = None


async def handle(ls: FoldlineServer, params: ReferenceParams) -> list[Location] | None:
    def query(snapshot: LspSnapshot) -> list[Location]:
        places = features.references(
            snapshot.project,
            snapshot.analysis,
            snapshot.offset(params.position),
            include_declaration=params.context.include_declaration,
        )
        return snapshot.locations(places)

    return await with_snapshot(ls, params.text_document.uri, query) or None
