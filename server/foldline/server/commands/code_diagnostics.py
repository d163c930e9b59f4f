"""`foldline.server.code.diagnostics`: what a language server finds wrong in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.budget import NAVIGATION_BUDGET
from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.navigation_text import format_diagnostics
from foldline.server.commands.code_files import find_file, result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.diagnostics"


@dataclass(frozen=True, slots=True)
class Arguments:
    """A language server gets `seconds`; `budget` is in bytes of the text."""

    path: str | None = None
    uri: str | None = None
    budget: int | None = NAVIGATION_BUDGET
    cursor: str | None = None
    seconds: float = DEFAULT_SECONDS


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, path = find_file(ls, arguments.path, arguments.uri)
    found = await call(
        access.diagnostics(
            path,
            budget=arguments.budget,
            cursor=arguments.cursor,
            seconds=arguments.seconds,
        )
    )
    return result(format_diagnostics(found), found, found.backend, found.coverage)
