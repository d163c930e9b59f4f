"""Positions in files, and what engines know about them; lines and columns count from 1."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from foldline.backends.models import COMPLETE
from foldline.backends.models.common import Listed
from foldline.records import record


@record
class Location:
    """A stretch of one line; `context` is the line, cut around it where long.

    `path` is relative to the root, or absolute for a file outside the workspace, of which only the
    name is shown.
    """

    path: str
    line: int
    column: int
    column_end: int
    context: str = ""
    outside: bool = False


@record
class Locations(Listed[Location]):
    """Locations, the engine that found them, and their coverage; `reason` says why there are none.

    `left_out` counts those over the budget, and `cursor` asks for them, as in all answers.
    """

    # The field that `Listed` iterates over.
    _items: ClassVar = "locations"
    locations: tuple[Location, ...]
    backend: str = ""
    coverage: str = COMPLETE
    reason: str = ""
    left_out: int = 0
    cursor: str | None = None


@record
class Hover:
    """The type and documentation of a symbol, from an engine."""

    text: str
    backend: str = ""
    coverage: str = COMPLETE
    reason: str = ""
    cursor: str | None = None


@record
class CodeDiagnostic:
    """One problem that an engine reports; `severity` is error, warning, information or hint."""

    path: str
    line: int
    column: int
    severity: str
    message: str
    code: str = ""
    source: str = ""


@record
class Diagnostics(Listed[CodeDiagnostic]):
    """The problems of one file."""

    _items: ClassVar = "diagnostics"
    path: str
    diagnostics: tuple[CodeDiagnostic, ...]
    backend: str = ""
    coverage: str = COMPLETE
    reason: str = ""
    left_out: int = 0
    cursor: str | None = None


@record
class Call:
    """A function that calls, or is called; `lines` are those of the calls."""

    name: str
    path: str
    line: int
    lines: tuple[int, ...] = ()
    outside: bool = False


@record
class Calls:
    """The callers and the callees of one function."""

    incoming: tuple[Call, ...]
    outgoing: tuple[Call, ...]
    backend: str = ""
    coverage: str = COMPLETE
    reason: str = ""
    left_out: int = 0
    cursor: str | None = None


@record
class Position:
    """The first code point of an identifier, counted from 1; `name` is empty where it is unknown.

    Line 0 stands for the whole file. `said` tells a reader which name it stands for, where that
    isn't the one that was asked for.
    """

    path: str
    line: int
    column: int
    name: str = ""
    said: str = field(default="", compare=False)

    @property
    def at(self) -> tuple[str, int, int]:
        """The file, line and column, as `SmartFileAccess` takes them."""
        return self.path, self.line, self.column
