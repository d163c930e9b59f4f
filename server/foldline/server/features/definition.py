"""`textDocument/definition`: from a placeholder, a section's key or a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DEFINITION, Location

from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import DefinitionParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_DEFINITION
OPTIONS = None


async def handle(ls: FoldlineServer, params: DefinitionParams) -> list[Location] | Location | None:
    def query(snapshot: LspSnapshot) -> list[Location]:
        from foldline.ide.features.keys import definitions

        places = definitions(snapshot.analysis, snapshot.offset(params.position))
        return snapshot.locations(places)

    locations = await with_snapshot(ls, params.text_document.uri, query)
    if locations:
        return locations
    from foldline.server.instructions import mentions

    return await mentions.definition(ls, params)
