"""`textDocument/hover`: a placeholder's field; a section's size, summary and cost; a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_HOVER, Hover

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
        from foldline.ide.features.hover import hover

        offset, costs = snapshot.offset(params.position), snapshot.costs
        if costs is not None:
            found = costs.hover(offset)
        else:
            found = hover(snapshot.analysis, offset, snapshot.counter)
        if found is None:
            return None
        return Hover(hover_markup(ls, found.markdown), snapshot.range(found.place))

    found = await with_snapshot(ls, params.text_document.uri, query)
    if found is not None:
        return found
    from foldline.server.instructions import mentions

    return await mentions.hover(ls, params)
