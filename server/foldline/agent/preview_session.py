"""A preview of the command line: opened as its options say, and following its files."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from foldline.agent.watching import changed_files
from foldline.backends.errors import PathError
from foldline.backends.files.limits import SOURCE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.prompts.action import Action
from foldline.ide.prompts.actions import PreviewPrompt
from foldline.ide.prompts.perform import perform
from foldline.ide.prompts.request import PromptRef
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace


async def open_preview(
    workspace: Workspace, file: Path, name: str | None, actions: Iterable[Action[Any]]
) -> str:
    """Open a preview, do to it what it's to begin with, and return its session's id.

    Raises:
        IdeError, BackendError: The prompt can't be shown.
    """
    uri = uri_of(file)
    workspace.open_document(uri, read_text(file, SOURCE_BYTES, strict=True), 1)
    state = await perform(workspace, PromptRef(uri=uri, name=name), PreviewPrompt())
    for action in actions:
        await perform(workspace, state.sessionId, action)
    return state.sessionId


async def follow_files(workspace: Workspace, file: Path) -> None:
    """Take in files that change, until cancelled."""
    version = 1
    async for paths in changed_files(file, workspace.root_of(file)):
        # Deleted or replaced by what has no text: the last text stays.
        with suppress(PathError):
            if file in paths:
                version += 1
                workspace.open_document(uri_of(file), read_text(file, SOURCE_BYTES), version)
        workspace.changed_on_disk([uri_of(path) for path in paths])
