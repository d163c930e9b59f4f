"""`textDocument/foldingRange`: prompts, sections and their texts; sections of instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_FOLDING_RANGE
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: types.FoldingRangeParams
) -> list[types.FoldingRange] | None:
    def query(snapshot: LspSnapshot) -> list[types.FoldingRange]:
        ranges = map(snapshot.range, snapshot.source.foldings(snapshot))
        lines = dict.fromkeys((span.start.line, span.end.line) for span in ranges)
        return [types.FoldingRange(start, end) for start, end in lines if end > start]

    return await with_snapshot(ls, params.text_document.uri, query) or None
