"""Semantic engines: what `SmartFileAccess` asks beside its analysis.

A user's own backend is wrapped once, by `engine_of`, into an `Engine` that has every method, so
that no caller has to find out what an engine can do.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from foldline.backends import outlines
from foldline.backends.errors import LSPError, LSPUnavailableError
from foldline.backends.models import COMPLETE
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.lsp import ServerStatus
    from foldline.backends.models import FileOutline, Reference, SymbolDetail, SymbolInfo
    from foldline.backends.outlines.locations import Calls, Diagnostics, Hover, Locations, Position
    from foldline.backends.outlines.own_backend import OwnBackend
    from foldline.backends.protocol import MinimalBackend


ASKS_SEVERAL_FOLDERS: ContextVar[bool] = ContextVar("asks_several_folders", default=False)
"""True in a question to several folders: for none of them another folder's server is stopped."""


@record
class Confirmation:
    """The uses that an engine knows of.

    A reference without a column stands for every use on its line. `notes` say what may be missing
    although the engine has finished; `outside` counts the uses in files that the workspace doesn't
    show.
    """

    references: tuple[Reference, ...] = ()
    engine: str = ""
    coverage: str = COMPLETE
    notes: tuple[str, ...] = ()
    outside: int = 0


@record
class DocumentSymbols:
    """The symbols that an engine sees in `text`, which may no longer be that of the file."""

    symbols: tuple[SymbolInfo, ...]
    text: str
    engine: str


class SymbolsQuery:
    """One query about the symbols of a file; this one knows none."""

    async def answer(self) -> DocumentSymbols | None:
        """The symbols, within a few hundredths of a second, or None."""
        return None


class EngineQuery:
    """One query about the uses of a name, in parts that may run in different threads.

    This one knows of no uses. Coroutines await futures alone (`foldline.backends.base.waiting`).

    Attributes:
        needs_targets: `confirm` is asked about definitions, and isn't called without any.
    """

    needs_targets = False
    failed: Confirmation | None = None
    """The answer of one that couldn't begin."""

    def prefetch(self, targets: Sequence[Position]) -> None:
        """Begin to ask about these in the background: `confirm` will ask about some of them."""

    async def seen(self, seconds: float) -> object:
        """The versions of all files: the same object as long as none of them changes.

        None where that is unknown, or takes longer than `seconds`.
        """
        del seconds
        return None

    async def confirm(
        self, targets: Sequence[Position], candidates: Sequence[str], seconds: float
    ) -> Confirmation:
        """The uses of the definitions at `targets`, within `seconds`.

        `candidates` are the files that contain the name. An answer that comes too late is there at
        once the next time.
        """
        del targets, candidates, seconds
        return self.failed or Confirmation()


class Engine:
    """An engine with every method; this one knows nothing, and subclasses override what they know.

    Any method may raise: the analysis then answers. Coroutines await futures alone
    (`foldline.backends.base.waiting`).
    """

    name = ""

    async def preferred_outline(self, file_path: str) -> FileOutline | None:
        """The outline that goes before the analysis' own."""
        del file_path
        return None

    async def preferred_symbol(self, file_path: str, symbol_name: str) -> SymbolDetail | None:
        """The definition that goes before the analysis' own."""
        del file_path, symbol_name
        return None

    def begin_symbols(self, file_path: str) -> SymbolsQuery | None:
        """Begin to ask for the symbols of the file in the background; None where nothing is asked.

        Starts no server.
        """
        del file_path
        return None

    def warm_up(self, since: float | None = None) -> None:
        """Begin in the background what the first query would wait for; returns at once.

        For a query that was asked `since` a time of `time.monotonic`.
        """
        del since

    def begin(self, name: str, scope: str | None, since: float) -> EngineQuery:
        """Begin in the background what every part of the query needs first; returns at once.

        The query was asked at `since`, a time of `time.monotonic`.
        """
        del name, scope, since
        return EngineQuery()

    async def goto_definition(self, target: Position, *, seconds: float) -> Locations:
        """The definitions of the symbol, also outside the workspace."""
        raise _no_server()

    async def find_implementations(self, target: Position, *, seconds: float) -> Locations:
        """The implementations and overrides of the symbol."""
        raise _no_server()

    async def hover(self, target: Position, *, seconds: float) -> Hover:
        """The type and documentation of the symbol."""
        raise _no_server()

    async def diagnostics(self, path: str, *, seconds: float) -> Diagnostics:
        """The problems of the file."""
        raise _no_server()

    async def call_hierarchy(self, target: Position, *, seconds: float) -> Calls:
        """Callers and callees of the function."""
        raise _no_server()

    def status(self) -> tuple[ServerStatus, ...]:
        """The servers behind the engine that were used so far."""
        return ()

    def restart(self, name: str | None = None) -> tuple[ServerStatus, ...]:
        """Stop these servers, or those called `name`; returns what they were."""
        del name
        return ()

    def close(self) -> None:
        """Stop what runs. May be called twice."""


class OwnEngine(Engine):
    """A user's own backend in front of the analysis: its answers come first."""

    def __init__(self, backend: MinimalBackend, files: FileBackend) -> None:
        self._own = outlines.OwnBackend(backend, files, "lsp")
        self._close = getattr(backend, "close", None)
        self.name = self._own.name

    async def preferred_outline(self, file_path: str) -> FileOutline | None:
        outline = self._own.get_outline(file_path)
        self._own.check_lines(outline.path, outline)
        return outline

    async def preferred_symbol(self, file_path: str, symbol_name: str) -> SymbolDetail | None:
        detail = self._own.read_symbol(file_path, symbol_name)
        if detail is not None:
            self._own.check_lines(detail.path, [detail])
        return detail

    def begin(self, name: str, scope: str | None, since: float) -> EngineQuery:
        del since
        return OwnQuery(self._own, name, scope)

    def close(self) -> None:
        close, self._close = self._close, None
        if close is not None:
            close()


class OwnQuery(EngineQuery):
    """A query to a user's own backend, which knows names rather than definitions."""

    def __init__(self, own: OwnBackend, name: str, scope: str | None) -> None:
        self._own = own
        self._name = name
        self._scope = scope

    async def confirm(
        self, targets: Sequence[Position], candidates: Sequence[str], seconds: float
    ) -> Confirmation:
        del targets, candidates, seconds
        answered = self._own.find_references(self._name, self._scope)
        references = self._own.existing(answered.references)
        wrong = len(answered.references) - len(references)
        if wrong and not references:
            raise LSPError("names lines that are in no file of the workspace", self._own.name)
        notes = (f"{wrong} more on lines that are in no file of the workspace",) if wrong else ()
        return Confirmation(references, self._own.name, answered.coverage, notes)


NO_ENGINE = Engine()


def engine_of(backend: Engine | MinimalBackend | None, files: FileBackend) -> Engine:
    """The backend with every method of an engine."""
    if backend is None:
        return NO_ENGINE
    return backend if isinstance(backend, Engine) else OwnEngine(backend, files)


def _no_server() -> LSPUnavailableError:
    return LSPUnavailableError("no language server was asked")
