"""`find_references`: where a name is used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from foldline.agent.mcp.tools.tool import Arguments, CodeTool, OptionalBudget, OptionalText
from foldline.backends.budget import REFERENCES_BUDGET
from foldline.backends.text import format_references
from foldline.backends.waiting import LONG, question_of

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folder, Folders


class ReferencesArguments(Arguments):
    name: str
    scope: Annotated[OptionalText, Field(description="file, folder or glob")] = None
    budget: OptionalBudget = None
    cursor: OptionalText = None


async def answer(folders: Folders, given: ReferencesArguments) -> tuple[str, ...]:
    budget = given.budget or REFERENCES_BUDGET
    if given.scope is not None:
        place = folders.locate(given.scope)
        scope = None if place.path == "." else place.path
        cursor = given.cursor.removeprefix(place.folder.prefix) if given.cursor else None
        return (await _references(place.folder, given.name, scope, budget, cursor),)
    found = [
        await _references(folder, given.name, None, share, cursor)
        for folder, share, cursor in folders.each(budget, given.cursor)
    ]
    return ("\n".join(found),)


async def _references(
    folder: Folder, name: str, scope: str | None, budget: int, cursor: str | None
) -> str:
    found = await question_of(folder.access.find_references)(
        name, scope, budget=budget, cursor=cursor
    )
    uses = tuple(replace(each, path=folder.shown(each.path)) for each in found.references)
    return format_references(
        replace(found, references=uses, cursor=folder.shown_cursor(found.cursor))
    )


TOOL = CodeTool(
    "find_references",
    "Where a name is used across files, with kind and enclosing symbol (~2 KB).",
    ReferencesArguments,
    answer,
    LONG,
)
