"""`textDocument/prepareRename`: the field name at a position, in a template or its declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_PREPARE_RENAME, PrepareRenamePlaceholder

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import PrepareRenameParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_PREPARE_RENAME
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: PrepareRenameParams
) -> PrepareRenamePlaceholder | None:
    def question(asked: Asked) -> PrepareRenamePlaceholder | None:
        from foldline.ide.features.rename import renameable

        target = renameable(asked.analysis, asked.offset(params.position))
        if target is None:
            return None
        return PrepareRenamePlaceholder(asked.range(target.place), target.field.id)

    return await ask(ls, params.text_document.uri, question)
