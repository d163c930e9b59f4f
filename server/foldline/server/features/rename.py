"""`textDocument/rename`: renames a field in its dataclass, its uses and every template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_RENAME, RenameOptions, WorkspaceEdit

from foldline.ide.errors import RenameRefused
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import RenameParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_RENAME
OPTIONS = RenameOptions(prepare_provider=True)


async def handle(ls: FoldlineServer, params: RenameParams) -> WorkspaceEdit | None:
    def query(snapshot: LspSnapshot) -> WorkspaceEdit | None:
        from foldline.ide.features.field_references import RenameRefusedError, rename

        offset = snapshot.offset(params.position)
        try:
            changes = rename(snapshot.project, snapshot.analysis, offset, params.new_name)
        except RenameRefusedError as error:
            raise RenameRefused(str(error)) from error
        return snapshot.edit(changes) if changes is not None else None

    return await with_snapshot(ls, params.text_document.uri, query)
