"""`textDocument/inlayHint`: the number and token count of each section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_INLAY_HINT,
    InlayHint,
    InlayHintOptions,
    MarkupContent,
    MarkupKind,
)

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import InlayHintParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_INLAY_HINT
OPTIONS = InlayHintOptions(resolve_provider=False)


async def handle(ls: FoldlineServer, params: InlayHintParams) -> list[InlayHint] | None:
    def question(asked: Asked) -> list[InlayHint]:
        from foldline.ide.features.lenses import inlays

        if not asked.options.inlay_hints:
            return []
        start, end = asked.offset(params.range.start), asked.offset(params.range.end)
        return [
            InlayHint(
                position=asked.index.position(inlay.offset),
                label=inlay.label,
                tooltip=MarkupContent(MarkupKind.Markdown, inlay.tooltip),
                padding_left=True,
            )
            for inlay in inlays(asked.analysis, asked.counter)
            if start <= inlay.offset <= end
        ]

    return await ask(ls, params.text_document.uri, question) or None
