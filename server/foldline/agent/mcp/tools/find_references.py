"""`find_references`: where a name is used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from foldline.agent.mcp.tools.tool import (
    Arguments,
    ArgumentsError,
    CodeTool,
    OptionalBudget,
    OptionalText,
)
from foldline.backends.budget import REFERENCES_BUDGET
from foldline.backends.text import format_references

if TYPE_CHECKING:
    from foldline.agent.mcp.folders import Folders


class ReferencesArguments(Arguments):
    name: str
    scope: Annotated[OptionalText, Field(description="file or folder")] = None
    budget: OptionalBudget = None
    cursor: OptionalText = None


def answer(folders: Folders, given: ReferencesArguments) -> tuple[str, ...]:
    if given.scope is None and len(folders.folders) > 1:
        names = ", ".join(folder.prefix for folder in folders.folders)
        raise ArgumentsError(f"scope: there are several folders, name one: {names}")
    place = folders.locate(given.scope or ".")
    found = place.folder.access.find_references(
        given.name,
        None if place.path == "." else place.path,
        budget=given.budget or REFERENCES_BUDGET,
        cursor=given.cursor,
    )
    references = tuple(
        replace(each, path=place.folder.shown(each.path)) for each in found.references
    )
    return (format_references(replace(found, references=references)),)


TOOL = CodeTool(
    "find_references",
    "Where a name is used across files, with kind and enclosing symbol (~2 KB).",
    ReferencesArguments,
    answer,
)
