"""`textDocument/hover`: a placeholder's field; a section's size, summary and cost; a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide.plugins import Plugin, plugins
from foldline.server.links import links_in
from foldline.server.markup import hover_markup
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_HOVER
OPTIONS = None


async def handle(ls: FoldlineServer, params: types.HoverParams) -> types.Hover | None:
    def query(snapshot: LspSnapshot) -> tuple[types.Hover | None, bool]:
        """Return a hover, and True if a plugin tells it, where foldline may have more to tell."""
        offset = snapshot.offset(params.position)
        of_house = snapshot.source.hover(snapshot, offset)
        others = plugins().ask(Plugin.hover, snapshot, offset) if of_house is None else ()
        hover = next(filter(None, (of_house, *others)), None)
        if hover is None:
            return None, False
        shown = types.Hover(hover_markup(ls, hover.markdown), snapshot.range(hover.place))
        return shown, of_house is None

    hover, of_plugin = await with_snapshot(ls, params.text_document.uri, query) or (None, False)
    if hover is not None and not of_plugin:
        return hover
    links = await links_in(ls, params.text_document.uri, params.position)
    return types.Hover(hover_markup(ls, links[0].target.about), links[0].range) if links else hover
