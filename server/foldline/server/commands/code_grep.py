"""`foldline.server.code.grep`: the lines that match a regular expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.budget import GREP_BUDGET
from foldline.backends.text import format_grep
from foldline.server.commands.code_files import find_name, result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.grep"


@dataclass(frozen=True, slots=True)
class Arguments:
    """`pattern` is in RE2's syntax; without one it is the name of the file's first symbol.

    `glob` is a file, a folder or a glob; `context` counts lines around each match; `uri` names one
    of several workspace folders; `budget` is in bytes of the text.
    """

    pattern: str | None = None
    glob: str | None = None
    context: int = 0
    ignore_case: bool = False
    uri: str | None = None
    budget: int | None = GREP_BUDGET
    cursor: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, name = await find_name(ls, arguments.pattern, arguments.uri, "pattern")
    pattern = rf"\b{re.escape(name)}\b" if arguments.pattern is None else name
    found = await call(
        access.grep(
            pattern,
            arguments.glob,
            context=arguments.context,
            ignore_case=arguments.ignore_case,
            budget=arguments.budget,
            cursor=arguments.cursor,
        )
    )
    return result(format_grep(found), found, found.backend, found.coverage)
