"""`textDocument/didClose`: goes back to the text on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DID_CLOSE

if TYPE_CHECKING:
    from lsprotocol.types import DidCloseTextDocumentParams

    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DID_CLOSE
OPTIONS = None


def handle(ls: FoldlineServer, params: DidCloseTextDocumentParams) -> None:
    ls.core.close_document(params.text_document.uri)
