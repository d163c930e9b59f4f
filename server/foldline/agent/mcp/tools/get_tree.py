"""`get_tree`: the files of a folder, folded to fit a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.agent.mcp.tools.tool import (
    Arguments,
    ArgumentsError,
    CodeTool,
    OptionalBudget,
    OptionalNumber,
    OptionalText,
)
from foldline.backends.budget import TREE_BUDGET
from foldline.backends.text import format_tree
from foldline.backends.waiting import LONG, question_of

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folder, Folders


class TreeArguments(Arguments):
    path: str = "."
    depth: OptionalNumber = None
    budget: OptionalBudget = None
    cursor: OptionalText = None


async def answer(folders: Folders, given: TreeArguments) -> tuple[str, ...]:
    budget = given.budget or TREE_BUDGET
    if len(folders.folders) > 1 and given.path in ("", ".", "./"):
        if given.cursor is not None:
            raise ArgumentsError(f"path: a cursor needs its folder, one of {folders.names}")
        trees = [
            await _tree(folder, ".", share, given)
            for folder, share, _ in folders.each(budget, None)
        ]
        return ("\n".join(trees),)
    place = folders.locate(given.path or ".")
    return (await _tree(place.folder, place.path, budget, given),)


async def _tree(folder: Folder, path: str, budget: int, given: TreeArguments) -> str:
    tree = await question_of(folder.access.get_tree)(
        path, depth=given.depth, budget=budget, cursor=given.cursor
    )
    return format_tree(replace(tree, path=folder.shown(tree.path)))


TOOL = CodeTool(
    "get_tree",
    "Files and folders below a folder, with sizes. Start here.",
    TreeArguments,
    answer,
    LONG,
)
