"""`workspace/willRenameFiles`: changes what Markdown says of files that are about to move."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.backends.base.uris import path_of_uri
from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.errors import REFUSALS, PathRefused
from foldline.ide.plugins import Plugin, plugins
from foldline.server.snapshots import edit_in

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

METHOD = types.WORKSPACE_WILL_RENAME_FILES
OPTIONS = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**"), scheme="file")]
)


async def handle(ls: FoldlineServer, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    if not params.files:
        return None

    def edit() -> types.WorkspaceEdit:
        uris = chain.from_iterable((file.old_uri, file.new_uri) for file in params.files)
        paths = [Path(path_of_uri(uri) or "/") for uri in uris]
        # A link moves, and not what it leads to.
        paths = [path.parent.resolve() / path.name for path in paths]
        folder = ls.core.folder(paths[0])
        names = [path.relative_to(folder.root).as_posix() for path in paths]
        moves = dict(zip(names[::2], names[1::2], strict=True))
        followed = plugins().ask(Plugin.follow, folder, moves)
        return edit_in(ls, folder, chain.from_iterable(followed))

    try:
        return await in_thread(edit, LONG)
    except PathRefused:
        return None  # It isn't in the workspace.
    except (*REFUSALS, ValueError) as error:
        # The files move all the same, and no editor shows an error of this request.
        message = f"What names the moved files stays as it is: {error}"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
        return None
