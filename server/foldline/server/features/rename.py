"""`textDocument/rename`: renames a field, a key or a section with its uses in all files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.server.snapshots import edit_in, with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_RENAME
OPTIONS = types.RenameOptions(prepare_provider=True)


async def handle(ls: FoldlineServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    left: list[str] = []

    def query(snapshot: LspSnapshot) -> types.WorkspaceEdit | None:
        if snapshot.instructions is not None:
            from foldline.ide.instructions.renaming import rename_section

            named = rename_section(snapshot, snapshot.offset(params.position), params.new_name)
            return None if named is None else edit_in(ls, snapshot.folder, named)
        asked = snapshot.project, snapshot.analysis, snapshot.offset(params.position)
        changes = features.rename(*asked, params.new_name)
        if changes is None:
            renamed = features.rename_key(*asked, params.new_name)
            changes, others = renamed or (None, ())
            left.extend(others)
        return snapshot.edit(changes) if changes is not None else None

    edit = await with_snapshot(ls, params.text_document.uri, query)
    if left:
        more = f" and {len(left) - 9} more" if len(left) > 9 else ""
        message = f"Not renamed, as these may mean something else: {', '.join(left[:9])}{more}"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
    return edit
