"""`foldline.server.code.findReferences`: the uses of a name, confirmed ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.budget import REFERENCES_BUDGET
from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.text import format_references
from foldline.server.commands.code_files import find_name, result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.findReferences"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `name` it is the file's first symbol.

    `scope` is a file, folder or glob; `budget` is in bytes of the text. A language server gets
    `seconds` to confirm them; with 0 it is not asked.
    """

    name: str | None = None
    scope: str | None = None
    uri: str | None = None
    budget: int | None = REFERENCES_BUDGET
    cursor: str | None = None
    seconds: float = DEFAULT_SECONDS


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, name = await find_name(ls, arguments.name, arguments.uri, "name")
    found = await call(
        access.find_references(
            name,
            arguments.scope,
            budget=arguments.budget,
            cursor=arguments.cursor,
            seconds=arguments.seconds,
        )
    )
    return result(format_references(found), found, found.backend, found.coverage)
