"""`textDocument/foldingRange`: prompts, sections and their texts."""

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
        from foldline.ide.features.structure import foldings

        ranges = (snapshot.range(span) for span in foldings(snapshot.analysis))
        # The last line stays visible: it closes the brackets.
        lines = dict.fromkeys((span.start.line, span.end.line - 1) for span in ranges)
        return [FoldingRange(start, end) for start, end in lines if end > start]

    return await with_snapshot(ls, params.text_document.uri, query) or None
