"""`read_file`: a whole file, the last rung of the ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.agent.mcp.pages import page
from foldline.agent.mcp.tools.tool import Arguments, CodeTool, OptionalBudget, OptionalText
from foldline.backends.budget import FILE_BUDGET

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folders


class FileArguments(Arguments):
    path: str
    budget: OptionalBudget = None
    cursor: OptionalText = None


async def answer(folders: Folders, given: FileArguments) -> tuple[str, ...]:
    place = folders.locate(given.path)
    source = place.folder.access.file_backend.read_source(place.path)
    if not source.text:
        return (f"({given.path} is empty)",)
    pages = page(source.text, "file", given.budget or FILE_BUDGET, given.cursor)
    return (*pages, f"({source.note})") if source.note else pages


TOOL = CodeTool(
    "read_file",
    "A whole file (up to ~8 KB a page). Last resort for code; right for configuration and text.",
    FileArguments,
    answer,
)
