"""`foldline.server.status`: the server's version, trust, interpreter and language servers."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.render.interpreter import find_interpreter
from foldline.ide.structuring import unstructure
from foldline.server.execute import described
from foldline.server.workspace import path_of

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.status"


@dataclass(frozen=True, slots=True)
class Arguments:
    uri: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    uri = arguments.uri or ls.focus.uri
    around = path_of(uri) if uri else next(iter(ls.files.roots), Path.cwd()) / "_"
    interpreter = find_interpreter(around, ls.settings.interpreter)
    return {
        "version": ls.version,
        "python": platform.python_version(),
        "trusted": ls.settings.trusted,
        "roots": [str(root) for root in ls.files.roots],
        "interpreter": described(ls, interpreter),
        "previews": ls.previews.count,
        "documents": len(ls.documents.text_documents),
        "languageServers": unstructure(await ls.files.server_status()),
    }
