"""`workspace/willRenameFiles`: changes what Markdown says of files that are about to move."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.backends.base.uris import path_of_uri
from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.errors import REFUSALS, RenameRefused
from foldline.ide.plugins import Plugin, Renames, plugins
from foldline.server.snapshots import edit_in

if TYPE_CHECKING:
    from foldline.ide.folder import Folder
    from foldline.server.server import FoldlineServer

METHOD = types.WORKSPACE_WILL_RENAME_FILES
OPTIONS = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**"), scheme="file")]
)
# Unless that is `never`, VS Code's own Markdown changes links after the move.
_LINKS = types.ConfigurationItem(section="markdown.updateLinksOnFileMove.enabled")


async def handle(ls: FoldlineServer, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    workspace, values = ls.client_capabilities.workspace, list[object]()
    if workspace is not None and workspace.configuration:
        values += await ls.workspace_configuration_async(types.ConfigurationParams([_LINKS]))

    def edit() -> types.WorkspaceEdit:
        moves: defaultdict[Folder, dict[str, str]] = defaultdict(dict)
        for file in params.files:
            # A link moves, and not what it leads to.
            names = (Path(path_of_uri(uri) or "/") for uri in (file.old_uri, file.new_uri))
            old, new = (name.parent.resolve() / name.name for name in names)
            folder = ls.core.folder(old)
            if not new.is_relative_to(folder.root):
                raise RenameRefused(f"{new} is outside of its workspace folder")
            of_root = [path.relative_to(folder.root).as_posix() for path in (old, new)]
            moves[folder][of_root[0]] = of_root[1]
        links = not {"prompt", "always"}.intersection(map(str, values))
        answers = [
            plugins().ask(Plugin.follow, folder, Renames(paths, {}, links))
            for folder, paths in moves.items()
        ]
        return edit_in(ls, chain.from_iterable(chain.from_iterable(answers)))

    try:
        return await in_thread(edit, LONG)
    except REFUSALS as error:
        # The files move all the same, and no editor shows an error of this request.
        message = f"What names the moved files stays as it is: {error}"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
        return None
