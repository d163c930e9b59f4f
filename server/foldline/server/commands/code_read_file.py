"""`foldline.server.code.readFile`: a whole file, the last rung of the ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.server.commands.code_files import find_file, page_result, result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.readFile"


@dataclass(frozen=True, slots=True)
class Arguments:
    """`budget` is in bytes of the text; without one it is the file's, with its own line ends.

    Otherwise it is a page of lines joined by newlines, and `data.cursor` asks for the next. A line
    over the budget comes in parts: `data.columns` says which, and `data.cut` that more follows.
    """

    path: str | None = None
    uri: str | None = None
    budget: int | None = None
    cursor: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, path = find_file(ls, arguments.path, arguments.uri)
    if arguments.budget is None and arguments.cursor is None:
        text = await call(access.read_file(path))
        return result(text, {"path": path}, "files", "complete")
    page = await call(access.read_text(path, budget=arguments.budget, cursor=arguments.cursor))
    return page_result(page)
