"""`foldline.server.code.readLines`: an exact range of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.server.commands.code_files import find_file, result
from foldline.server.targets import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.readLines"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Lines count from 1, and `end` is included."""

    path: str | None = None
    uri: str | None = None
    start: int = 1
    end: int = 100


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, path = find_file(ls, arguments.path, arguments.uri)
    text = await call(lambda: access.read_lines(path, arguments.start, arguments.end))
    data = {"path": path, "start": arguments.start, "end": arguments.end}
    return result(text, data, "files", "complete")
