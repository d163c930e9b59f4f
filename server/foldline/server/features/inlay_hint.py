"""`textDocument/inlayHint`: the number and token count of each section, behind its title's line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.server.markup import hover_markup
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_INLAY_HINT
OPTIONS = types.InlayHintOptions(resolve_provider=False)


async def handle(ls: FoldlineServer, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    def query(snapshot: LspSnapshot) -> list[types.InlayHint]:
        if not snapshot.options.inlay_hints:
            return []
        start, end = snapshot.offset(params.range.start), snapshot.offset(params.range.end)
        return [
            types.InlayHint(
                position=snapshot.index.line(snapshot.index.position(inlay.offset).line).end,
                label=inlay.label,
                tooltip=hover_markup(ls, inlay.tooltip) if inlay.tooltip else None,
                padding_left=True,
            )
            for inlay in snapshot.source.inlays(snapshot)
            if start <= inlay.offset <= end
        ]

    return await with_snapshot(ls, params.text_document.uri, query) or None
