"""`foldline.server.code.tree`: the files of the workspace, folded to fit a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.text import format_tree
from foldline.server.commands.code_files import find_folder, result
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.code.tree"


@dataclass(frozen=True, slots=True)
class Arguments:
    """`budget` is in bytes of the text; `uri` names one of several workspace folders."""

    path: str = "."
    depth: int | None = None
    budget: int | None = 8_000
    cursor: str | None = None
    uri: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    access = find_folder(ls, arguments.uri)
    tree = await call(
        access.get_tree(
            arguments.path,
            depth=arguments.depth,
            budget=arguments.budget,
            cursor=arguments.cursor,
        )
    )
    return result(format_tree(tree), tree, tree.backend, tree.coverage)
