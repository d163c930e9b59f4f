"""`get_file_outline`: a file's symbols and imports, without bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.agent.mcp.tools.tool import Arguments, CodeTool, OptionalBudget
from foldline.backends.budget import OUTLINE_BUDGET
from foldline.backends.text import format_outline
from foldline.backends.waiting import question_of

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folders


class OutlineArguments(Arguments):
    path: str
    budget: OptionalBudget = None


async def answer(folders: Folders, given: OutlineArguments) -> tuple[str, ...]:
    place = folders.locate(given.path)
    outline = await question_of(place.folder.access.get_outline)(place.path)
    shown = replace(outline, path=place.folder.shown(outline.path))
    return (format_outline(shown, given.budget or OUTLINE_BUDGET),)


TOOL = CodeTool(
    "get_file_outline",
    "A file's symbols with signatures and line ranges, and its imports; no bodies (~0.5 KB). "
    "Ask before reading code.",
    OutlineArguments,
    answer,
)
