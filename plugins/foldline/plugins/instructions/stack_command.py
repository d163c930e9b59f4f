"""`foldline.server.instructions.stack`: what each client loads when it works on a document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide.structuring import unstructured
from foldline.ide.uris import path_of, uri_of
from foldline.plugins.instructions.clients import chosen_clients
from foldline.plugins.instructions.stack import stacks
from foldline.records import record

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.instructions.stack"


@record
class Arguments:
    """The document, by default that with the focus, and clients, by default the settings'."""

    uri: str | None = None
    clients: tuple[str, ...] = ()


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    uri = arguments.uri or ls.core.focus.uri
    path = path_of(uri) if uri else next(iter(ls.core.roots), Path.cwd()) / "_"

    def run() -> dict[str, object]:
        folder = ls.core.folder(path)
        clients = chosen_clients(arguments.clients or folder.options(path).clients)
        file = path.relative_to(folder.root).as_posix()
        listed = [unstructured(stack) for stack in stacks(folder, clients, file)]
        for one in (one for stack in listed for one in stack["files"]):
            one["uri"] = uri_of(folder.root / [*one["lists"], one["path"]][0])
        return {"file": file, "exact": folder.counter().exact, "stacks": listed}

    return await in_thread(run, PROMPTS)
