"""`textDocument/didChange`: updates the open text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DID_CHANGE

if TYPE_CHECKING:
    from lsprotocol.types import DidChangeTextDocumentParams

    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DID_CHANGE
OPTIONS = None


def handle(ls: FoldlineServer, params: DidChangeTextDocumentParams) -> None:
    ls.open_document(params.text_document.uri)
