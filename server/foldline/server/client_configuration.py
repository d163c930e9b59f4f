"""Reads the client's options, and reports each problem once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.backends.base.waiting import in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.server.server import FoldlineServer

SECTION = "foldline"


async def configure(ls: FoldlineServer, pushed: object = None) -> None:
    """Request the client's options where it answers, else take those that it pushed."""
    workspace = ls.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        items = [types.ConfigurationItem(section=SECTION)]
        answers = await ls.workspace_configuration_async(types.ConfigurationParams(items))
        problems = ls.core.set_client_options(answers[0] if answers else None)
    elif isinstance(pushed, Mapping):
        problems = ls.core.set_client_options(pushed.get(SECTION, pushed))
    else:
        problems = ()  # The options that it pushed before still hold.
    folders = await in_thread(ls.core.folders)
    report(
        ls,
        [
            *problems,
            *(problem for folder in folders for problem in folder.project_options().problems),
        ],
    )
    ls.diagnostics.schedule()


def report(ls: FoldlineServer, problems: Sequence[str]) -> None:
    """Show the problems that were not shown before."""
    new = [problem for problem in dict.fromkeys(problems) if problem not in ls.reported]
    ls.reported.update(new)
    if new:
        message = "foldline: " + "; ".join(new)
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))


async def watch_files(ls: FoldlineServer) -> None:
    """Register for changes on disk of Python files, Markdown, configuration and values."""
    workspace = ls.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace is not None else None
    if watched is None or not watched.dynamic_registration:
        return
    endings = ("py", "toml", "json", "md", "mdc", "txt")
    watchers = [types.FileSystemWatcher(f"**/*.{end}") for end in endings]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    registration = types.Registration(
        id="foldline-watched-files",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=options,
    )
    await ls.client_register_capability_async(types.RegistrationParams([registration]))
