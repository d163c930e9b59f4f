"""`foldline preview --serve`: the preview as a web page that follows its files on disk."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from foldline.agent.watching import changed_files
from foldline.backends.errors import PathError
from foldline.backends.files.limits import SOURCE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.lifecycle import exit_with_parent
from foldline.ide.previews.previews import Previews
from foldline.ide.render.renderer import STOP_SECONDS
from foldline.ide.uris import uri_of
from foldline.server.page.pages import Pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from foldline.ide.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Served:
    """A prompt, and how it's shown at first."""

    file: Path
    name: str | None
    open: Sequence[str]
    chapters: Sequence[str]
    params: Mapping[str, Mapping[str, Any]]
    parameter_set: str | None


async def serve(workspace: Workspace, served: Served) -> None:
    """Serve the page until the input ends, or the process that started us does.

    Its address is printed, alone, to standard output.

    Raises:
        IdeError, BackendError: The prompt can't be shown.
    """
    exit_with_parent()
    previews = Previews(workspace)
    pages = Pages(previews)
    try:
        url = await _start(workspace, previews, pages, served)
        print(url, flush=True)  # noqa: T201
        print("foldline preview: open this address in a browser; Ctrl-C ends it", file=sys.stderr)  # noqa: T201
        following = asyncio.create_task(_follow(workspace, served.file))
        ends = {following, _input_end()}
        _, rest = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        if following.done():
            following.result()
    finally:
        await pages.stop()
        previews.close_all()
        await workspace.stop(STOP_SECONDS)


async def _start(workspace: Workspace, previews: Previews, pages: Pages, served: Served) -> str:
    uri = uri_of(served.file)
    workspace.open_document(uri, read_text(served.file, SOURCE_BYTES, strict=True), 1)
    session_id = (await previews.open(uri, served.name)).sessionId
    if served.params or served.parameter_set:
        await previews.set_values(session_id, served.params, parameter_set=served.parameter_set)
    reason = "Opened on the command line"
    if served.chapters:
        await previews.open_chapters(session_id, served.chapters, reason)
    if served.open:
        await previews.open_sections(session_id, served.open, reason)
    return pages.serve(session_id)


async def _follow(workspace: Workspace, file: Path) -> None:
    """Take in files that change."""
    version = 1
    async for paths in changed_files(file, workspace.root_of(file)):
        # Deleted or replaced by what has no text: the last text stays.
        with suppress(PathError):
            if file in paths:
                version += 1
                workspace.open_document(uri_of(file), read_text(file, SOURCE_BYTES), version)
        workspace.changed_on_disk([uri_of(path) for path in paths])


def _input_end() -> asyncio.Task[Any]:
    """Done at the end of standard input, where that is a pipe: the process that held it is gone.

    A terminal has other ways to say so, and no input at all says nothing.
    """
    over = asyncio.Event()
    # None where it was closed before we began: then it cannot end any more.
    mode = os.fstat(0).st_mode if sys.stdin is not None else 0
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        loop = asyncio.get_running_loop()

        def read() -> None:
            while os.read(0, 1 << 12):
                pass
            loop.call_soon_threadsafe(over.set)

        threading.Thread(target=read, name="input-watch", daemon=True).start()
    return asyncio.create_task(over.wait())
