"""`textDocument/definition`: from a placeholder, a section's key or a name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.backends.base.waiting import in_thread
from foldline.backends.errors import PathError
from foldline.ide import features
from foldline.ide.uris import uri_of
from foldline.server.convert import LineIndex
from foldline.server.links import links_in
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.links import ResolvedLink
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
    return await in_thread(partial(_location, ls, links[0])) if links else None


def _location(ls: FoldlineServer, link: ResolvedLink) -> types.Location | None:
    """Return where a link leads; None for a folder, several files, or one that can't be read."""
    files, target = link.folder.access.file_backend, link.target
    try:
        if not target.path or files.is_folder(target.path):
            return None
        text = files.load(target.path).text
    except PathError:
        return None
    index = LineIndex.of(text, ls.documents.position_codec.encoding)
    return types.Location(uri_of(files.root / target.path), index.line(max(target.line - 1, 0)))
