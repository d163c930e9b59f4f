"""`textDocument/prepareRename`: the field, key or section at a position, where declared or used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_PREPARE_RENAME
OPTIONS = None


async def handle(
    ls: FoldlineServer, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    def query(snapshot: LspSnapshot) -> types.PrepareRenamePlaceholder | None:
        offset = snapshot.offset(params.position)
        if (file := snapshot.instructions) is not None:
            from foldline.ide.instructions.renaming import heading_at

            if (found := heading_at(file, offset)) is None:
                return None
            return types.PrepareRenamePlaceholder(snapshot.range(found[1]), found[0].title)
        target = features.target_at(snapshot.analysis, offset)
        if target is not None:
            return types.PrepareRenamePlaceholder(snapshot.range(target.place), target.field.id)
        key = features.key_to_rename(snapshot.analysis, offset)
        return types.PrepareRenamePlaceholder(snapshot.range(key.place), key.text) if key else None

    return await with_snapshot(ls, params.text_document.uri, query)
