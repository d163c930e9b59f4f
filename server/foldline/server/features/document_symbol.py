"""`textDocument/documentSymbol`: the section tree of each prompt, from its source alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.features.prompt_symbols import Symbol
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_DOCUMENT_SYMBOL
OPTIONS = types.DocumentSymbolOptions(label="foldline")
# By the names of foldline's own kinds, which aren't imported before they are needed. Agents drop
# symbols of kinds that code has few of, such as modules, packages, keys and strings.
_KINDS = {
    "PROMPT": types.SymbolKind.Class,
    "SECTION": types.SymbolKind.Constant,
    "SUMMARY": types.SymbolKind.Variable,
    "CHAPTER": types.SymbolKind.Struct,
}


async def handle(
    ls: FoldlineServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
    document = ls.client_capabilities.text_document
    options = document and document.document_symbol
    hierarchical = options and options.hierarchical_document_symbol_support

    def query(snapshot: LspSnapshot) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
        listed = features.symbols(snapshot.analysis)
        if hierarchical:
            return [_symbol(snapshot, symbol) for symbol in listed]
        return list(_flat(snapshot, listed))

    return await with_snapshot(ls, params.text_document.uri, query, lambda _: [])


def kind_of(symbol: Symbol) -> types.SymbolKind:
    """Return the LSP kind, by which editors choose an icon."""
    return _KINDS[symbol.kind.name]


def _flat(
    snapshot: LspSnapshot, found: Iterable[Symbol], container: str | None = None
) -> Iterator[types.SymbolInformation]:
    """Yield symbols and all below them, each with the name of the one around it."""
    for symbol in found:
        location = types.Location(snapshot.uri, snapshot.range(symbol.range))
        yield types.SymbolInformation(
            location, symbol.name, kind_of(symbol), container_name=container
        )
        yield from _flat(snapshot, symbol.children, symbol.name)


def _symbol(snapshot: LspSnapshot, symbol: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name,
        detail=symbol.detail or None,
        kind=kind_of(symbol),
        range=snapshot.range(symbol.range),
        selection_range=snapshot.range(symbol.selection),
        children=[_symbol(snapshot, child) for child in symbol.children],
    )
