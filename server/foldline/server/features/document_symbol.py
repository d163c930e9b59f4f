"""`textDocument/documentSymbol`: the section tree of each prompt, from its source alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_DOCUMENT_SYMBOL,
    DocumentSymbol,
    DocumentSymbolOptions,
    SymbolKind,
)

from foldline.server.prompt_index import ask
from foldline.server.static.editing import symbols

if TYPE_CHECKING:
    from lsprotocol.types import DocumentSymbolParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer
    from foldline.server.static.editing.symbols import Symbol

METHOD = TEXT_DOCUMENT_DOCUMENT_SYMBOL
OPTIONS = DocumentSymbolOptions(label="foldline")

KINDS = {
    symbols.SymbolKind.PROMPT: SymbolKind.Module,
    symbols.SymbolKind.SECTION: SymbolKind.String,
    symbols.SymbolKind.SUMMARY: SymbolKind.Key,
    symbols.SymbolKind.CHAPTER: SymbolKind.Package,
}


async def handle(ls: FoldlineServer, params: DocumentSymbolParams) -> list[DocumentSymbol] | None:
    def question(asked: Asked) -> list[DocumentSymbol]:
        return [_symbol(asked, each) for each in symbols.symbols(asked.analysis)]

    return await ask(ls, params.text_document.uri, question)


def _symbol(asked: Asked, symbol: Symbol) -> DocumentSymbol:
    return DocumentSymbol(
        name=symbol.name,
        detail=symbol.detail or None,
        kind=KINDS[symbol.kind],
        range=asked.range(symbol.range),
        selection_range=asked.range(symbol.selection),
        children=[_symbol(asked, child) for child in symbol.children],
    )
