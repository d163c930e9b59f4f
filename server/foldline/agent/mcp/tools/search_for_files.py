"""`search_for_files`: the files that keywords are about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from foldline.agent.mcp.tools.tool import Arguments, CodeTool, OptionalBudget, OptionalText
from foldline.backends.budget import SEARCH_BUDGET
from foldline.backends.text import format_search
from foldline.backends.waiting import LONG, question_of

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folder, Folders


class SearchArguments(Arguments):
    query: Annotated[str, Field(description="keywords")]
    budget: OptionalBudget = None
    cursor: OptionalText = None


async def answer(folders: Folders, given: SearchArguments) -> tuple[str, ...]:
    found = [
        await _hits(folder, given.query, share, cursor)
        for folder, share, cursor in folders.each(given.budget or SEARCH_BUDGET, given.cursor)
    ]
    return ("\n".join(found),)


async def _hits(folder: Folder, query: str, budget: int, cursor: str | None) -> str:
    found = await question_of(folder.access.search_files)(query, budget=budget, cursor=cursor)
    hits = tuple(replace(each, path=folder.shown(each.path)) for each in found.hits)
    return format_search(replace(found, hits=hits, cursor=folder.shown_cursor(found.cursor)))


TOOL = CodeTool(
    "search_for_files",
    "Files whose path or symbols match keywords, best first, with the reason.",
    SearchArguments,
    answer,
    LONG,
)
