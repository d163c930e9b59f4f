"""`textDocument/foldingRange`: prompts, sections and their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_FOLDING_RANGE, FoldingRange

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import FoldingRangeParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_FOLDING_RANGE
OPTIONS = None


async def handle(ls: FoldlineServer, params: FoldingRangeParams) -> list[FoldingRange] | None:
    def question(asked: Asked) -> list[FoldingRange]:
        from foldline.ide.features.structure import foldings

        ranges = (asked.range(span) for span in foldings(asked.analysis))
        # The last line stays visible: it closes the brackets.
        lines = dict.fromkeys((span.start.line, span.end.line - 1) for span in ranges)
        return [FoldingRange(start, end) for start, end in lines if end > start]

    return await ask(ls, params.text_document.uri, question) or None
