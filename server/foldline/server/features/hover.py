"""`textDocument/hover`: a placeholder's field; a section's size, summary and cost; a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_HOVER, Hover

from foldline.server.links import links_in
from foldline.server.markup import hover_markup
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import HoverParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_HOVER
OPTIONS = None


async def handle(ls: FoldlineServer, params: HoverParams) -> Hover | None:
    def query(snapshot: LspSnapshot) -> Hover | None:
        hover = snapshot.source.hover(snapshot, snapshot.offset(params.position))
        if hover is None:
            return None
        return Hover(hover_markup(ls, hover.markdown), snapshot.range(hover.place))

    hover = await with_snapshot(ls, params.text_document.uri, query)
    if hover is not None:
        return hover
    links = await links_in(ls, params.text_document.uri, params.position)
    return Hover(hover_markup(ls, links[0].target.about), links[0].range) if links else None
