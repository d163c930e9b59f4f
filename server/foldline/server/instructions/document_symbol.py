"""`textDocument/documentSymbol`: the sections of an instruction file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DOCUMENT_SYMBOL, DocumentSymbol, SymbolKind

from foldline.ide.structuring import unstructure
from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from lsprotocol.types import DocumentSymbolParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DOCUMENT_SYMBOL


async def handle(ls: FoldlineServer, params: DocumentSymbolParams) -> list[DocumentSymbol]:
    return await with_instructions(ls, params.text_document.uri, _symbols)


def listed(snapshot: InstructionSnapshot) -> dict[str, object]:
    """The file as the list of prompts has it."""
    path, file = snapshot.document.path, snapshot.file
    by_key = {section.key: section for section in file.sections}

    def section(symbol: DocumentSymbol) -> dict[str, object]:
        found = by_key[symbol.detail or ""]
        return {
            "key": found.key,
            "path": found.path,
            "title": found.title,
            "number": found.number,
            "visibility": "SUMMARY" if found.mark else "FULL",
            "range": unstructure(symbol.range),
            "children": [section(child) for child in symbol.children or ()],
        }

    return {
        "uri": snapshot.document.uri,
        "name": file.name,
        "ns": path.parent.relative_to(snapshot.folder.root).as_posix(),
        "key": file.name,
        "range": unstructure(snapshot.range(0, len(file.text))),
        "sections": [section(symbol) for symbol in _symbols(snapshot)],
    }


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
