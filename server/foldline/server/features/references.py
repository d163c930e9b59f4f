"""`textDocument/references`: what refers to a field, or to the definition that a text names."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.backends.base.waiting import LONG, in_thread
from foldline.backends.errors import BackendError
from foldline.ide import features
from foldline.server.links import links_in, location
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


def _uses(ls: FoldlineServer, link: ResolvedLink) -> list[types.Location]:
    with suppress(BackendError):  # No name of code stands there.
        uses = link.folder.access.find_references(f"{link.target.path}:{link.target.line}")
        return [*filter(None, (location(ls, link.folder, one.path, one.line) for one in uses))]
    return []
