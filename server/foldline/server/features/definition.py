"""`textDocument/definition`: from a placeholder, a section's key or a name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.backends.base.waiting import in_thread
from foldline.ide import features
from foldline.server.links import links_in, location
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_DEFINITION
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: types.DefinitionParams
) -> list[types.Location] | types.Location | None:
    def query(snapshot: LspSnapshot) -> list[types.Location]:
        places = features.definitions(snapshot.analysis, snapshot.offset(params.position))
        return snapshot.locations(places)

    uri = params.text_document.uri
    if locations := await with_snapshot(ls, uri, query):
        return locations
    links = await links_in(ls, uri, params.position)
    if not links:
        return None
    folder, _, target = links[0]
    return await in_thread(partial(location, ls, folder, target.path, target.line))
