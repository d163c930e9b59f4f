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
        from foldline.ide.features.structure import foldings

        file = snapshot.instructions
        spans = foldings(snapshot.analysis) if file is None else file.foldings
        # The last line of code stays visible: it closes the brackets.
        visible = int(file is None)
        ranges = map(snapshot.range, spans)
        lines = dict.fromkeys((span.start.line, span.end.line - visible) for span in ranges)
        return [FoldingRange(start, end) for start, end in lines if end > start]

    return await with_snapshot(ls, params.text_document.uri, query) or None
