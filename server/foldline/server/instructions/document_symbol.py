"""`textDocument/documentSymbol`: the sections of an instruction file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DOCUMENT_SYMBOL, DocumentSymbol, SymbolKind

from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from lsprotocol.types import DocumentSymbolParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DOCUMENT_SYMBOL


async def handle(ls: FoldlineServer, params: DocumentSymbolParams) -> list[DocumentSymbol]:
    return await with_instructions(ls, params.text_document.uri, _symbols)


def _symbols(snapshot: InstructionSnapshot) -> list[DocumentSymbol]:
    top: list[DocumentSymbol] = []
    around: list[tuple[int, list[DocumentSymbol]]] = []
    for section in snapshot.file.sections:
        while around and around[-1][0] <= section.start:
            around.pop()
        children: list[DocumentSymbol] = []
        (around[-1][1] if around else top).append(
            DocumentSymbol(
                name=section.title,
                detail=section.key,
                kind=SymbolKind.String,
                range=snapshot.range(section.start, section.end),
                selection_range=snapshot.range(section.start, section.start),
                children=children,
            )
        )
        around.append((section.end, children))
    return top
