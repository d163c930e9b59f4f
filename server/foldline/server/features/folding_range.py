"""`textDocument/foldingRange`: prompts, sections and their texts; sections of instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_FOLDING_RANGE, FoldingRange

from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import FoldingRangeParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_FOLDING_RANGE
OPTIONS = None


async def handle(ls: FoldlineServer, params: FoldingRangeParams) -> list[FoldingRange] | None:
    def query(snapshot: LspSnapshot) -> list[FoldingRange]:
        ranges = map(snapshot.range, snapshot.source.foldings(snapshot))
        lines = dict.fromkeys((span.start.line, span.end.line) for span in ranges)
        return [FoldingRange(start, end) for start, end in lines if end > start]

    return await with_snapshot(ls, params.text_document.uri, query) or None
