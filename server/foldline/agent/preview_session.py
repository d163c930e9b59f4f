"""A preview of the command line: opened as its options say, and following its files."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from foldline.backends.errors import PathError
from foldline.backends.files.limits import SOURCE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.uris import uri_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from foldline.ide.previews.previews import Previews
    from foldline.ide.workspace import Workspace

REASON = "Opened on the command line"


@dataclass(frozen=True, slots=True)
class FirstView:
    """A prompt, and how it's shown at first."""

    file: Path
    name: str | None
    open: Sequence[str]
    chapters: frozenset[str] | None
    params: Mapping[str, Mapping[str, Any]]
    parameter_set: str | None


async def open_preview(workspace: Workspace, previews: Previews, view: FirstView) -> str:
    """Open the preview, and return its session's id.

    Raises:
        IdeError, BackendError: The prompt can't be shown.
    """
    uri = uri_of(view.file)
    workspace.open_document(uri, read_text(view.file, SOURCE_BYTES, strict=True), 1)
    session_id = (await previews.open(uri, view.name)).sessionId
    if view.params or view.parameter_set:
        await previews.set_values(session_id, view.params, parameter_set=view.parameter_set)
    if view.chapters is not None:
        await previews.choose(
            session_id, lambda options: replace(options, chapters=frozenset(), action="close")
        )
    if view.chapters:
        await previews.open_chapters(session_id, sorted(view.chapters), REASON)
    if view.open:
        await previews.open_sections(session_id, view.open, REASON)
    return session_id


async def follow_files(workspace: Workspace, file: Path) -> None:
    """Take in files that change, until cancelled."""
    from foldline.agent.watching import changed_files

    version = 1
    async for paths in changed_files(file, workspace.root_of(file)):
        # Deleted or replaced by what has no text: the last text stays.
        with suppress(PathError):
            if file in paths:
                version += 1
                workspace.open_document(uri_of(file), read_text(file, SOURCE_BYTES), version)
        workspace.changed_on_disk([uri_of(path) for path in paths])
