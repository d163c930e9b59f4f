"""`textDocument/didOpen`: uses the editor's text instead of the file's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DID_OPEN

if TYPE_CHECKING:
    from lsprotocol.types import DidOpenTextDocumentParams

    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DID_OPEN
OPTIONS = None


def handle(ls: FoldlineServer, params: DidOpenTextDocumentParams) -> None:
    ls.open_document(params.text_document.uri)
