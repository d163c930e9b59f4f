"""`get_tree`: the files of a folder, folded to fit a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.agent.mcp.tools.tool import (
    SMALLEST_BUDGET,
    Arguments,
    CodeTool,
    OptionalBudget,
    OptionalNumber,
    OptionalText,
)
from foldline.backends.budget import TREE_BUDGET
from foldline.backends.text import format_tree

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folder, Folders


class TreeArguments(Arguments):
    path: str = "."
    depth: OptionalNumber = None
    budget: OptionalBudget = None
    cursor: OptionalText = None


def answer(folders: Folders, given: TreeArguments) -> tuple[str, ...]:
    if len(folders.folders) > 1 and given.path in ("", ".", "./"):
        share = max((given.budget or TREE_BUDGET) // len(folders.folders), SMALLEST_BUDGET)
        each = given.model_copy(update={"budget": share, "cursor": None})
        return ("\n".join(_tree(folder, ".", each) for folder in folders.folders),)
    place = folders.locate(given.path or ".")
    return (_tree(place.folder, place.path, given),)


def _tree(folder: Folder, path: str, given: TreeArguments) -> str:
    tree = folder.access.get_tree(
        path, depth=given.depth, budget=given.budget or TREE_BUDGET, cursor=given.cursor
    )
    return format_tree(replace(tree, path=folder.shown(tree.path)))


TOOL = CodeTool(
    "get_tree",
    "Files and folders below a folder, with sizes. Start here.",
    TreeArguments,
    answer,
)
