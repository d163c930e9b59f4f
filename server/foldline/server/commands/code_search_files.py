"""`foldline.server.code.searchFiles`: the files whose paths or symbols have some words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.budget import SEARCH_BUDGET
from foldline.backends.text import format_search
from foldline.server.commands.code_files import find_name, result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.searchFiles"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `query` it is the name of the file's first symbol.

    `uri` names one of several workspace folders; `budget` is in bytes of the text.
    """

    query: str | None = None
    uri: str | None = None
    budget: int | None = SEARCH_BUDGET
    cursor: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, query = await find_name(ls, arguments.query, arguments.uri, "query")
    found = await call(access.search_files(query, budget=arguments.budget, cursor=arguments.cursor))
    return result(format_search(found), found, found.backend, found.coverage)
