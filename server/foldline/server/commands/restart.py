"""`foldline.server.restart`: restarts language servers and preview workers, and clears caches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.errors import NoServer
from foldline.ide.structuring import unstructure
from foldline.records import record

if TYPE_CHECKING:
    from foldline.backends.lsp import ServerStatus
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.restart"


@record
class Arguments:
    """With the name of a language `server`, as status has it, that one alone is restarted."""

    server: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    """Answers what was stopped, as it was; each starts again when it is next needed.

    Who waits for one of them is answered all the same: from syntax trees, or by a new worker.
    """
    if arguments.server is None:
        stopped, workers = (
            await in_thread(ls.core.restart, LONG),
            await ls.core.renderer.stop(),
        )
        ls.core.changed()
    else:
        name = arguments.server
        running = await ls.core.server_status()
        stopped, workers = await in_thread(partial(ls.core.restart_servers, name), LONG), 0
        if not stopped:
            near = sorted({item.name for item in running})
            raise NoServer(
                f"No language server {name!r} was asked so far; "
                + (f"there is {', '.join(near)}" if near else "there is none"),
                near=near,
            )
    return {
        "text": _text(stopped, workers),
        "languageServers": unstructure(stopped),
        "previewWorkers": workers,
    }


def _text(stopped: list[ServerStatus], workers: int) -> str:
    parts = [f"{item.name} in {item.root}" for item in stopped]
    if workers:
        parts.append(f"{workers} preview worker{'s' * (workers > 1)}")
    return f"Restarted {', '.join(parts)}" if parts else "Nothing was running; caches are empty now"
