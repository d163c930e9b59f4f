"""`foldline.server.code.readFile`: a whole file, the last rung of the ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.server.commands.code_files import find_file, result
from foldline.server.targets import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.readFile"


@dataclass(frozen=True, slots=True)
class Arguments:
    path: str | None = None
    uri: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, path = find_file(ls, arguments.path, arguments.uri)
    text = await call(lambda: access.read_file(path))
    return result(text, {"path": path}, "files", "complete")
