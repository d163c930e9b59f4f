"""`textDocument/selectionRange`: name, placeholder, word, line, text, section, prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_SELECTION_RANGE, SelectionRange

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import Position, SelectionRangeParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_SELECTION_RANGE
OPTIONS = None


async def handle(ls: FoldlineServer, params: SelectionRangeParams) -> list[SelectionRange] | None:
    def question(asked: Asked) -> list[SelectionRange]:
        return [_around(asked, position) for position in params.positions]

    return await ask(ls, params.text_document.uri, question)


def _around(asked: Asked, position: Position) -> SelectionRange:
    from foldline.ide.features.structure import selection

    offset = asked.offset(position)
    around: SelectionRange | None = None
    for span in reversed(selection(asked.analysis, offset)):
        around = SelectionRange(asked.range(span), around)
    return around if around is not None else SelectionRange(asked.index.range(offset, offset))
