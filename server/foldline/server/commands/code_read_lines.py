"""`foldline.server.code.readLines`: an exact range of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.server.commands.code_files import find_file, page_result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.readLines"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Lines count from 1, and `end` is included.

    With a `budget`, in bytes of the text, `data.cursor` asks for the lines that it left out.
    """

    path: str | None = None
    uri: str | None = None
    start: int = 1
    end: int = 100
    budget: int | None = None
    cursor: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, path = find_file(ls, arguments.path, arguments.uri)
    page = await call(
        access.read_text(
            path,
            arguments.start,
            arguments.end,
            budget=arguments.budget,
            cursor=arguments.cursor,
        )
    )
    return page_result(page)
