"""`grep_in_files`: the lines that match a regular expression."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from foldline.agent.mcp.tools.tool import (
    Arguments,
    ArgumentsError,
    CodeTool,
    OptionalBudget,
    OptionalNumber,
    OptionalText,
)
from foldline.backends.budget import GREP_BUDGET
from foldline.backends.text import format_grep
from foldline.backends.waiting import LONG, question_of

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folder, Folders


class GrepArguments(Arguments):
    pattern: Annotated[str, Field(description="regular expression (RE2)")]
    glob: Annotated[OptionalText, Field(description="such as src/**/*.py")] = None
    context: Annotated[OptionalNumber, Field(description="lines around a match")] = None
    ignore_case: bool = False
    budget: OptionalBudget = None
    cursor: OptionalText = None


async def answer(folders: Folders, given: GrepArguments) -> tuple[str, ...]:
    found: list[str] = []
    for folder, share, cursor in folders.each(given.budget or GREP_BUDGET, given.cursor):
        glob = given.glob
        if glob is not None and folder.prefix:
            named = [each for each in folders.folders if glob.startswith(each.prefix)]
            if named and folder not in named:
                continue
            glob = glob.removeprefix(folder.prefix)
        found.append(await _matches(folder, glob, given, share, cursor))
    if not found:
        raise ArgumentsError("glob: names another folder than the cursor is from")
    return ("\n".join(found),)


async def _matches(
    folder: Folder, glob: str | None, given: GrepArguments, budget: int, cursor: str | None
) -> str:
    found = await question_of(folder.access.grep)(
        given.pattern,
        glob,
        context=given.context or 0,
        ignore_case=given.ignore_case,
        budget=budget,
        cursor=cursor,
    )
    matches = tuple(replace(each, path=folder.shown(each.path)) for each in found.matches)
    return format_grep(replace(found, matches=matches, cursor=folder.shown_cursor(found.cursor)))


TOOL = CodeTool(
    "grep_in_files",
    "Lines that match a regular expression (~2 KB).",
    GrepArguments,
    answer,
    LONG,
)
