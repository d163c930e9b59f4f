"""Arguments shared by several operations, with their bounds and documentation."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from foldline.backends.base.reading import Between
from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import FILE_BUDGET, LARGEST_BUDGET, NAVIGATION_BUDGET
from foldline.ide.operations.operation import Doc, Role
from foldline.records import record

SMALLEST_BUDGET = 100
"""The least that holds an answer's first line and its cursor, in bytes."""
MOST_ALIKE = 3
"""Definitions of one name that are shown together, if they are small."""

FilePath: TypeAlias = Annotated[str, Doc("a file"), Role.FILE]
FolderPath: TypeAlias = Annotated[str, Doc("a folder"), Role.FOLDER, Role.POSITIONAL]
Budget: TypeAlias = Annotated[
    int | None, Doc("the most bytes of the text"), Between(SMALLEST_BUDGET, LARGEST_BUDGET)
]
Query: TypeAlias = Annotated[str | None, Doc("a question: show what it's about")]
Cursor: TypeAlias = Annotated[str | None, Doc("the cursor at the end of an earlier answer")]
Seconds: TypeAlias = Annotated[
    float,
    Doc("the time limit for a language server; 0: don't use one"),
    Between(0, 600),
    Role.PEOPLE,
]
LineNumber: TypeAlias = Annotated[int | None, Doc("its line, from 1"), Between(1)]


# Bases of arguments, of which one operation may have several: those with slots can't be joined.


@record(kw_only=True, slots=False)
class Budgeted:
    """Arguments of an answer that may have a limit."""

    budget: Budget = None


@record(kw_only=True, slots=False)
class Paged(Budgeted):
    """Arguments of an answer whose rest a cursor asks for."""

    cursor: Cursor = None


@record(kw_only=True, slots=False)
class ListPage(Paged):
    """Arguments of a list from many files, whose cursor notices changes of these."""


@record(kw_only=True, slots=False)
class FileArguments:
    """One file."""

    path: FilePath


@record(kw_only=True, slots=False)
class FilePage(FileArguments, Paged):
    """One file, in pages."""

    budget: Budget = FILE_BUDGET


@record(kw_only=True, slots=False)
class LinesArguments(FilePage):
    """Lines of a file, both ends included; without `end`, up to the last line."""

    start: Annotated[int, Doc("the first line, from 1"), Between(1)] = 1
    end: Annotated[int | None, Doc("the last line, included", "included"), Between(1)] = None


@record(kw_only=True, slots=False)
class PositionArguments(Paged):
    """A symbol by its `name`, or in a file by line and column.

    Without any of them, the file's first symbol.
    """

    path: Annotated[str | None, Doc("a file"), Role.FILE] = None
    name: Annotated[
        str | None,
        Doc("its name on that line; without a line, Class.method or a name that the file uses"),
        Role.POSITIONAL,
    ] = None
    line: LineNumber = None
    column: Annotated[int | None, Doc("its column, from 1"), Between(1)] = None
    seconds: Seconds = DEFAULT_SECONDS
    budget: Budget = NAVIGATION_BUDGET
