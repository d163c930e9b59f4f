"""`textDocument/documentSymbol`: the section tree of each prompt, from its source alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_DOCUMENT_SYMBOL,
    DocumentSymbol,
    DocumentSymbolOptions,
    SymbolKind,
)

from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import DocumentSymbolParams

    from foldline.ide.features import symbols
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_DOCUMENT_SYMBOL
OPTIONS = DocumentSymbolOptions(label="foldline")
# By the names of foldline's own kinds, which aren't imported before they are needed. Agents drop
# symbols of kinds that code has few of, such as modules, packages, keys and strings.
_KINDS = {
    "PROMPT": SymbolKind.Class,
    "SECTION": SymbolKind.Constant,
    "SUMMARY": SymbolKind.Variable,
    "CHAPTER": SymbolKind.Struct,
}


async def handle(ls: FoldlineServer, params: DocumentSymbolParams) -> list[DocumentSymbol] | None:
    def query(snapshot: LspSnapshot) -> list[DocumentSymbol]:
        from foldline.ide.features import symbols

        return [_symbol(snapshot, symbol) for symbol in symbols.symbols(snapshot.analysis)]

    return await with_snapshot(ls, params.text_document.uri, query)


def kind_of(symbol: symbols.Symbol) -> SymbolKind:
    """Return the LSP kind, by which editors choose an icon."""
    return _KINDS[symbol.kind.name]


def _symbol(snapshot: LspSnapshot, symbol: symbols.Symbol) -> DocumentSymbol:
    return DocumentSymbol(
        name=symbol.name,
        detail=symbol.detail or None,
        kind=kind_of(symbol),
        range=snapshot.range(symbol.range),
        selection_range=snapshot.range(symbol.selection),
        children=[_symbol(snapshot, child) for child in symbol.children],
    )
