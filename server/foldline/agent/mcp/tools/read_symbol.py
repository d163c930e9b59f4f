"""`read_symbol`: the source of one function, class or method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from foldline.agent.mcp.pages import page
from foldline.agent.mcp.tools.tool import Arguments, CodeTool, OptionalBudget, OptionalText
from foldline.backends.budget import SYMBOL_BUDGET
from foldline.backends.text import format_symbol

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folders


class SymbolArguments(Arguments):
    path: str
    name: Annotated[str, Field(description="`f`, `Class.method`, or `f[2]` for the second `f`")]
    budget: OptionalBudget = None
    cursor: OptionalText = None


def answer(folders: Folders, given: SymbolArguments) -> tuple[str, ...]:
    place = folders.locate(given.path)
    detail = place.folder.access.read_symbol(place.path, given.name)
    text = format_symbol(replace(detail, path=place.folder.shown(detail.path)))
    # The header stands above the symbol's first line.
    first = (detail.body_line or detail.line) - (text.count("\n") - detail.body.count("\n"))
    return page(text, "symbol", given.budget or SYMBOL_BUDGET, given.cursor, first_line=first)


TOOL = CodeTool(
    "read_symbol",
    "The source of one function, class or method (~1-2 KB).",
    SymbolArguments,
    answer,
)
