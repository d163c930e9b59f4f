"""`textDocument/definition`: from a placeholder to its field, from a key to its section."""

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


async def handle(ls: FoldlineServer, params: DefinitionParams) -> list[Location] | None:
    def query(snapshot: LspSnapshot) -> list[Location]:
        from foldline.ide.features.keys import definitions

        places = definitions(snapshot.analysis, snapshot.offset(params.position))
        return snapshot.locations(places)

    return await with_snapshot(ls, params.text_document.uri, query) or None
