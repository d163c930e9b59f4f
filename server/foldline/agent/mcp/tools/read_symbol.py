"""`read_symbol`: the source of one function, class or method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from foldline.agent.mcp.tools.tool import Arguments, CodeTool, OptionalBudget, OptionalText
from foldline.backends.budget import SYMBOL_BUDGET
from foldline.backends.text import format_symbol
from foldline.backends.waiting import question_of

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folders


class SymbolArguments(Arguments):
    path: str
    name: Annotated[str, Field(description="`f`, `Class.method`, or `f[2]` for the second `f`")]
    budget: OptionalBudget = None
    cursor: OptionalText = None


async def answer(folders: Folders, given: SymbolArguments) -> tuple[str, ...]:
    place = folders.locate(given.path)
    budget = given.budget or SYMBOL_BUDGET
    detail = await question_of(place.folder.access.read_symbol)(
        place.path, given.name, budget=budget, cursor=given.cursor
    )
    shown = place.folder.shown(detail.path)
    return (format_symbol(replace(detail, path=shown)),)


TOOL = CodeTool(
    "read_symbol",
    "The source of one function, class or method (~1-2 KB).",
    SymbolArguments,
    answer,
)
