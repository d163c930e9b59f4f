"""`code.tree`: the files and folders below a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from foldline.backends.formatting.budget import TREE_BUDGET
from foldline.backends.text import format_tree
from foldline.ide.operations.arguments import Budget, Cursor, FolderPath
from foldline.ide.operations.operation import Between, Doc, Operation, Role, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import FileTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """A folder, and how much of it."""

    path: FolderPath = "."
    depth: Annotated[int | None, Doc("how many levels to open"), Between(0)] = None
    query: Annotated[str | None, Doc("open what it's about"), Role.QUESTION] = None
    budget: Budget = TREE_BUDGET
    cursor: Cursor = None


async def run(access: SmartFileAccess, arguments: Arguments) -> FileTree:
    return await run_query(
        access.get_tree,
        arguments.path or ".",
        depth=arguments.depth,
        query=arguments.query,
        budget=arguments.budget,
        cursor=arguments.cursor,
    )


OPERATION = Operation(
    "code.tree",
    "list files and folders with sizes, folded to fit",
    Arguments,
    run,
    lambda tree, _: format_tree(tree),
    tool="get_tree",
    description="List files and folders of the repository, with sizes. Start here.",
    priority="high",
    verb="tree",
    found=lambda tree: tree.files,
    across=True,
    many=True,
)
