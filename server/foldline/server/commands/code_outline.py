"""`foldline.server.code.outline`: a file's symbols and imports, without bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.budget import check_budget
from foldline.backends.text import format_outline
from foldline.server.commands.code_files import find_file, result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.outline"


@dataclass(frozen=True, slots=True)
class Arguments:
    """`budget` is in bytes of the text; `data` is always whole."""

    path: str | None = None
    uri: str | None = None
    budget: int | None = 1_500


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access, path = find_file(ls, arguments.path, arguments.uri)
    check_budget(arguments.budget)
    outline = await call(access.get_outline(path))
    text = format_outline(outline, arguments.budget)
    return result(text, outline, outline.backend, outline.coverage)
