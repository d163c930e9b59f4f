"""`textDocument/codeLens`: *Preview* above each prompt."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_CODE_LENS, CodeLens, CodeLensOptions, Command

from foldline.server.static import parse_module
from foldline.server.targets import find_document

if TYPE_CHECKING:
    from lsprotocol.types import CodeLensParams

    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_CODE_LENS
OPTIONS = CodeLensOptions(resolve_provider=False)

# A command of the client, which shows the preview; the server's own commands only compute.
CLIENT_PREVIEW = "foldline.preview"


async def handle(ls: FoldlineServer, params: CodeLensParams) -> list[CodeLens]:
    document = await find_document(ls, params.text_document.uri)
    module = await asyncio.to_thread(parse_module, document.text, str(document.path))
    return [
        CodeLens(
            range=document.index.range(prompt.name_range.start, prompt.name_range.end),
            command=Command(
                title="Preview",
                command=CLIENT_PREVIEW,
                arguments=[{"uri": document.uri, "name": prompt.name}],
            ),
        )
        for prompt in module.prompts
    ]
