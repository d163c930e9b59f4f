"""`textDocument/selectionRange`: name, placeholder, word, line, text, section, prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_SELECTION_RANGE
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: types.SelectionRangeParams
) -> list[types.SelectionRange] | None:
    def query(snapshot: LspSnapshot) -> list[types.SelectionRange]:
        return [_around(snapshot, position) for position in params.positions]

    return await with_snapshot(ls, params.text_document.uri, query)


def _around(snapshot: LspSnapshot, position: types.Position) -> types.SelectionRange:
    offset = snapshot.offset(position)
    around: types.SelectionRange | None = None
    for span in reversed(features.selection(snapshot.analysis, offset)):
        around = types.SelectionRange(snapshot.range(span), around)
    return (
        around if around is not None else types.SelectionRange(snapshot.index.range(offset, offset))
    )
