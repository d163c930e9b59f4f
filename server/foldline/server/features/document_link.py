"""`textDocument/documentLink`: web addresses in templates, and files they are read from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DOCUMENT_LINK, DocumentLink, DocumentLinkOptions

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import DocumentLinkParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DOCUMENT_LINK
OPTIONS = DocumentLinkOptions(resolve_provider=False)


async def handle(ls: FoldlineServer, params: DocumentLinkParams) -> list[DocumentLink] | None:
    def question(asked: Asked) -> list[DocumentLink]:
        from foldline.ide.features.structure import links

        return [
            DocumentLink(asked.range(link.span), target=_target(link.target))
            for link in links(asked.analysis)
        ]

    return await ask(ls, params.text_document.uri, question) or None


def _target(target: str) -> str:
    return target if "://" in target else Path(target).as_uri()
