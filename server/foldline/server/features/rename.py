"""`textDocument/rename`: renames a field in its dataclass, its uses and every template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_RENAME, RenameOptions, WorkspaceEdit

from foldline.ide.errors import RenameRefused
from foldline.server.edits import workspace_edit
from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import RenameParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_RENAME
OPTIONS = RenameOptions(prepare_provider=True)


async def handle(ls: FoldlineServer, params: RenameParams) -> WorkspaceEdit | None:
    def question(asked: Asked) -> WorkspaceEdit | None:
        from foldline.ide.features.rename import RenameRefusedError, rename

        offset = asked.offset(params.position)
        try:
            changes = rename(asked.project, asked.analysis, offset, params.new_name)
        except RenameRefusedError as error:
            raise RenameRefused(str(error)) from error
        return workspace_edit(asked, changes) if changes is not None else None

    return await ask(ls, params.text_document.uri, question)
