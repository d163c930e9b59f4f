"""`textDocument/references`: what refers to a field, or to the definition that a text names."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.backends.base.waiting import LONG, in_thread
from foldline.backends.errors import BackendError
from foldline.ide import features
from foldline.ide.uris import uri_of
from foldline.server.convert import LineIndex
from foldline.server.links import links_in
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.links import ResolvedLink
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

    if places := await with_snapshot(ls, params.text_document.uri, query):
        return places
    links = await links_in(ls, params.text_document.uri, params.position)
    return await in_thread(partial(_uses, ls, links[0]), LONG) if links else None


def _uses(ls: FoldlineServer, link: ResolvedLink) -> list[types.Location] | None:
    files, target = link.folder.access.file_backend, link.target
    try:
        uses = link.folder.access.find_references(f"{target.path}:{target.line}")
    except BackendError:
        return None  # No name of code stands there.
    encoding = ls.documents.position_codec.encoding
    index = cache(lambda path: LineIndex.of(files.load(path).text, encoding))
    return [
        types.Location(uri_of(files.root / one.path), index(one.path).line(one.line - 1))
        for one in uses
    ]
