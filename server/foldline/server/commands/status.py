"""`foldline.server.status`: the server's version, trust, interpreter and language servers."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.render.interpreter import find_interpreter
from foldline.ide.structuring import unstructure
from foldline.ide.uris import path_of
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.render.interpreter import Interpreter
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.status"


@record
class Arguments:
    uri: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    uri = arguments.uri or ls.core.focus.uri
    around = path_of(uri) if uri else next(iter(ls.core.roots), Path.cwd()) / "_"
    interpreter = find_interpreter(around, ls.core.settings.interpreter)
    return {
        "version": ls.version,
        "python": platform.python_version(),
        "trusted": ls.core.settings.trusted,
        "roots": [str(root) for root in ls.core.roots],
        "interpreter": _described(ls, interpreter),
        "previews": len(ls.previews.all),
        "documents": len(ls.documents.text_documents),
        "languageServers": unstructure(await ls.core.server_status()),
    }


def _described(ls: FoldlineServer, interpreter: Interpreter) -> object:
    """An interpreter, with what it said of itself when it last rendered."""
    used = ls.core.renderer.interpreters.get(interpreter.path)
    return used or {"path": str(interpreter.path), "reason": interpreter.reason}
