"""`foldline preview --serve`: the preview as a web page that follows its files on disk."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from foldline.agent.preview_session import follow_files, open_preview
from foldline.ide.lifecycle import exit_with_parent
from foldline.ide.prompts.action import Action
from foldline.ide.render.renderer import STOP_SECONDS
from foldline.ide.workspace import Workspace
from foldline.server.page.pages import Pages


async def serve(
    workspace: Workspace, file: Path, name: str | None, actions: Iterable[Action[Any]]
) -> None:
    """Serve the page until the input ends, or the process that started us does.

    Its address is printed, alone, to standard output.

    Raises:
        IdeError, BackendError: The prompt can't be shown.
    """
    exit_with_parent()
    pages = Pages(workspace.previews)
    try:
        print(pages.serve(await open_preview(workspace, file, name, actions)), flush=True)  # noqa: T201
        print("foldline preview: open this address in a browser; Ctrl-C ends it", file=sys.stderr)  # noqa: T201
        following = asyncio.create_task(follow_files(workspace, file))
        ends = {following, _input_end()}
        _, rest = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        if following.done():
            following.result()
    finally:
        await pages.stop()
        workspace.previews.close_all()
        await workspace.stop(STOP_SECONDS)


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
