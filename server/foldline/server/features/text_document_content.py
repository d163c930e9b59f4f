"""`workspace/textDocumentContent`: the text of a prompt as a document, by its URI.

Clients whose library lacks the method may still send it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

METHOD = types.WORKSPACE_TEXT_DOCUMENT_CONTENT
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult:
    return types.TextDocumentContentResult(await ls.virtual.text(ls, params.uri))
