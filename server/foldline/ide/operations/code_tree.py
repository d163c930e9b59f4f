"""`code.tree`: the files and folders below a folder."""

from __future__ import annotations

from typing import Annotated

from foldline.backends.base.reading import Between
from foldline.backends.formatting.budget import TREE_BUDGET
from foldline.backends.formatting.text import tree_lines
from foldline.ide.operations.arguments import Budget, FolderPath, ListPage
from foldline.ide.operations.operation import Doc, Operation, Role, method_of_access
from foldline.records import record


@record(kw_only=True, slots=False)
class Arguments(ListPage):
    """A folder, and how much of it."""

    path: FolderPath = "."
    glob: Annotated[str | None, Doc("only the files of a glob, with their lines")] = None
    depth: Annotated[int | None, Doc("how many levels to open"), Between(0)] = None
    query: Annotated[str | None, Doc("open what it's about"), Role.QUESTION] = None
    budget: Budget = TREE_BUDGET


OPERATION = Operation(
    "code.tree",
    "list files and folders with sizes, folded to fit",
    Arguments,
    method_of_access(lambda access: access.get_tree),
    lambda tree, _: tree_lines(tree),
    tool="get_tree",
    description="List files and folders of the repository, with sizes. Start here.",
    priority="high",
    verb="tree",
    found=lambda tree: tree.files,
    across=True,
    many=True,
)
