"""`textDocument/prepareRename`: the field name at a position, in a template or its declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_PREPARE_RENAME, PrepareRenamePlaceholder

from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import PrepareRenameParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_PREPARE_RENAME
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: PrepareRenameParams
) -> PrepareRenamePlaceholder | None:
    def query(snapshot: LspSnapshot) -> PrepareRenamePlaceholder | None:
        from foldline.ide.features.field_references import target_at

        target = target_at(snapshot.analysis, snapshot.offset(params.position))
        if target is None:
            return None
        return PrepareRenamePlaceholder(snapshot.range(target.place), target.field.id)

    return await with_snapshot(ls, params.text_document.uri, query)
