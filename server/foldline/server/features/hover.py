"""`textDocument/hover`: a placeholder's field; a section's number, size, summary and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_HOVER, Hover, MarkupContent, MarkupKind

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import HoverParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_HOVER
OPTIONS = None


async def handle(ls: FoldlineServer, params: HoverParams) -> Hover | None:
    def question(asked: Asked) -> Hover | None:
        from foldline.ide.features.hover import hover

        found = hover(asked.analysis, asked.offset(params.position), asked.counter)
        if found is None:
            return None
        return Hover(MarkupContent(MarkupKind.Markdown, found.markdown), asked.range(found.place))

    return await ask(ls, params.text_document.uri, question)
