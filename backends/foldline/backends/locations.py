"""What semantic engines say, in terms of paths, lines and columns; columns count from 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Location:
    """A stretch of one line; `context` is the line, cut around it where long.

    `path` is relative to the root, or absolute for a file outside the workspace, of which nothing
    but its name is told.
    """

    path: str
    line: int
    column: int
    column_end: int
    context: str = ""
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Locations:
    """What was found, by which engine, and how completely; `reason` says why nothing was.

    `left_out` counts what a budget left out; `cursor` asks for the rest of it. So in all answers.
    """

    locations: tuple[Location, ...]
    backend: str = ""
    coverage: str = COMPLETE
    reason: str = ""
    left_out: int = 0
    cursor: str | None = None

    def __iter__(self) -> Iterator[Location]:
        return iter(self.locations)

    def __len__(self) -> int:
        return len(self.locations)


@dataclass(frozen=True, slots=True)
class Hover:
    """What an engine says of the symbol at a place: its type, its documentation."""

    text: str
    backend: str = ""
    coverage: str = COMPLETE
    reason: str = ""
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class CodeDiagnostic:
    """One problem that an engine sees; `severity` is error, warning, information or hint."""

    path: str
    line: int
    column: int
    severity: str
    message: str
    code: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """The problems of one file."""

    path: str
    diagnostics: tuple[CodeDiagnostic, ...]
    backend: str = ""
    coverage: str = COMPLETE
    reason: str = ""
    left_out: int = 0
    cursor: str | None = None

    def __iter__(self) -> Iterator[CodeDiagnostic]:
        return iter(self.diagnostics)

    def __len__(self) -> int:
        return len(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Call:
    """A function that calls, or is called; `lines` are those of the calls."""

    name: str
    path: str
    line: int
    lines: tuple[int, ...] = ()
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Calls:
    """The callers and the callees of one function."""

    incoming: tuple[Call, ...]
    outgoing: tuple[Call, ...]
    backend: str = ""
    coverage: str = COMPLETE
    reason: str = ""
    left_out: int = 0
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """The first code point of an identifier, counted from 1; `name` is empty where it is unknown.

    At line 0 it is the whole file.
    """

    path: str
    line: int
    column: int
    name: str = ""

    @property
    def at(self) -> tuple[str, int, int]:
        """The file, line and column, as `SmartFileAccess` takes them."""
        return self.path, self.line, self.column


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The uses that an engine knows of.

    `notes` say what may be missing although the engine is done; `outside` counts the uses in files
    that the workspace does not show.
    """

    locations: tuple[Location, ...] = ()
    engine: str = ""
    coverage: str = COMPLETE
    notes: tuple[str, ...] = ()
    outside: int = 0


class ReferencesQuery(Protocol):
    """One question about the uses of a name, in several parts; they may run in different threads.

    Its coroutines await futures alone (`foldline.backends.waiting`).
    """

    def prefetch(self, targets: Sequence[Position]) -> None:
        """Begin to ask about these in the background: `confirm` will ask about some of them."""
        ...

    async def seen(self, seconds: float) -> object:
        """The versions of all files: the same object as long as none of them changes.

        None where that takes longer than `seconds`.
        """
        ...

    async def confirm(
        self, targets: Sequence[Position], candidates: Sequence[str], seconds: float
    ) -> Confirmation:
        """The uses of what is defined at `targets`, within `seconds`; it never raises for long.

        `candidates` are the files that contain the name. What does not come in time comes at once
        the next time it is asked.
        """
        ...


@runtime_checkable
class SemanticEngine(Protocol):
    """An engine that tells the uses of one definition from those of its namesakes."""

    def begin(self, since: float) -> ReferencesQuery:
        """Begin in the background what every part of the query needs first; returns at once.

        The question was asked at `since`, a time of `time.monotonic`.
        """
        ...


@runtime_checkable
class Navigator(Protocol):
    """What servers tell of a place in a file; every method may raise `LSPError`.

    They are coroutines that await futures alone (`foldline.backends.waiting`).
    """

    async def goto_definition(self, target: Position, *, seconds: float) -> Locations: ...

    async def find_implementations(self, target: Position, *, seconds: float) -> Locations: ...

    async def hover(self, target: Position, *, seconds: float) -> Hover: ...

    async def diagnostics(self, path: str, *, seconds: float) -> Diagnostics: ...

    async def call_hierarchy(self, target: Position, *, seconds: float) -> Calls: ...
