"""`workspace/textDocumentContent`: the text of a prompt as a document, by its URI.

Clients whose library lacks the method may still send it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import WORKSPACE_TEXT_DOCUMENT_CONTENT
from lsprotocol.types import TextDocumentContentResult as Content

if TYPE_CHECKING:
    from lsprotocol.types import TextDocumentContentParams

    from foldline.server.server import FoldlineServer

METHOD = WORKSPACE_TEXT_DOCUMENT_CONTENT
OPTIONS = None


async def handle(ls: FoldlineServer, params: TextDocumentContentParams) -> Content:
    return Content(await ls.virtual.text(ls, params.uri))
