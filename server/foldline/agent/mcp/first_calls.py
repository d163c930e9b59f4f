"""Calls of a client that asks nothing else are answered without the SDK, which may never load."""

from __future__ import annotations

import asyncio
import gc
import logging
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from foldline.agent.folders import NoFolderError
from foldline.agent.mcp.calls import Tools, failure
from foldline.backends.base.waiting import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.agent.folders import Folders
    from foldline.agent.mcp.calls import Result
    from foldline.agent.mcp.handshake import Opening

log = logging.getLogger(__name__)


async def answer_calls(
    opening: Opening, open_folders: Callable[[], Folders], list_tools: Callable[[], bool]
) -> bool:
    """Answer requests until a message needs the SDK, and return True once that is loaded.

    Return False if the client leaves before. `list_tools` answers a request for the list, or
    returns False.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[bool] = loop.create_future()
    tools = Tools()
    running: set[asyncio.Task[None]] = set()

    def end(needed: bool) -> None:
        if not ended.done():
            ended.set_result(needed)

    async def answer(request: dict[str, Any]) -> None:
        try:
            if request["method"] == "tools/call":
                opening.answer(request["id"], await call(request["params"]))
            elif not await in_thread(list_tools):
                end(True)
        except Exception:
            # The outermost boundary: the SDK answers instead, and tells the client what failed.
            log.exception("A request failed")
            end(True)

    async def call(params: Mapping[str, Any]) -> Result:
        try:
            folders = await in_thread(open_folders)
        except NoFolderError as error:
            return failure(str(error))
        tool = tools.find(params["name"])
        return await tools.call(tool, folders, params.get("arguments") or {})

    def begin(request: dict[str, Any]) -> None:
        task = loop.create_task(answer(request))
        running.add(task)
        task.add_done_callback(running.discard)

    opening.pass_on(
        lambda request: loop.call_soon_threadsafe(begin, request),
        lambda needed: loop.call_soon_threadsafe(end, needed),
    )
    needed = await ended
    if needed:
        # In a thread, because calls go on meanwhile.
        await in_thread(partial(import_module, "foldline.agent.mcp.server"))
        gc.freeze()
    for task in running:
        task.cancel()
    return needed
