"""`read_lines`: an exact range of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from foldline.agent.mcp.pages import page
from foldline.agent.mcp.tools.tool import Arguments, CodeTool, OptionalText
from foldline.backends.budget import FILE_BUDGET
from foldline.backends.waiting import question_of

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folders


class LinesArguments(Arguments):
    path: str
    start: int
    end: Annotated[int, Field(description="included")]
    cursor: OptionalText = None


async def answer(folders: Folders, given: LinesArguments) -> tuple[str, ...]:
    place = folders.locate(given.path)
    text = await question_of(place.folder.access.read_lines)(place.path, given.start, given.end)
    if not text:
        return (f"({given.path} has nothing in the lines {given.start}-{given.end})",)
    return page(text, "lines", FILE_BUDGET, given.cursor, first_line=given.start)


TOOL = CodeTool(
    "read_lines",
    "The lines start to end of a file, counted from 1.",
    LinesArguments,
    answer,
)
