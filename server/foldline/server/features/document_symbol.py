"""`textDocument/documentSymbol`: the section tree of each prompt, from its source alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_DOCUMENT_SYMBOL,
    DocumentSymbol,
    DocumentSymbolOptions,
    SymbolKind,
)

from foldline.server.static import parse_module
from foldline.server.targets import find_document, range_in

if TYPE_CHECKING:
    from pathlib import Path

    from lsprotocol.types import DocumentSymbolParams

    from foldline.server.convert import LineIndex
    from foldline.server.server import FoldlineServer
    from foldline.server.static import StaticPrompt, StaticSection

METHOD = TEXT_DOCUMENT_DOCUMENT_SYMBOL
OPTIONS = DocumentSymbolOptions(label="foldline")


async def handle(ls: FoldlineServer, params: DocumentSymbolParams) -> list[DocumentSymbol]:
    document = await find_document(ls, params.text_document.uri)
    module = await asyncio.to_thread(parse_module, document.text, str(document.path))
    return [_prompt_symbol(document.index, prompt, document.path) for prompt in module.prompts]


def _prompt_symbol(index: LineIndex, prompt: StaticPrompt, path: Path) -> DocumentSymbol:
    return DocumentSymbol(
        name=prompt.name,
        detail=f"{prompt.ns}/{prompt.key}" if prompt.key else None,
        kind=SymbolKind.Module,
        range=index.range(prompt.range.start, prompt.range.end),
        selection_range=index.range(prompt.name_range.start, prompt.name_range.end),
        children=[_section_symbol(index, section, path) for section in prompt.sections],
    )


def _section_symbol(index: LineIndex, section: StaticSection, path: Path) -> DocumentSymbol:
    whole, name = range_in(section, path)
    return DocumentSymbol(
        name=f"{section.number} {section.title}".strip() or section.key,
        detail=".".join(section.path),
        kind=SymbolKind.String,
        range=index.range(whole.start, whole.end),
        selection_range=index.range(name.start, name.end),
        children=[_section_symbol(index, child, path) for child in section.children],
    )
