"""Language servers as an analysis backend, and their lifecycle."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace

from foldline.backends.base.languages import language_of
from foldline.backends.base.waiting import coroutine_of, result_of, waits
from foldline.backends.errors import LSPTimeoutError, LSPUnavailableError, SymbolNotFoundError
from foldline.backends.files.source import count_lines, split_lines
from foldline.backends.lsp import results
from foldline.backends.lsp.discovery import FoundServer
from foldline.backends.lsp.document_symbols import ServerSymbols, is_sound
from foldline.backends.lsp.lifecycle import ServerStatus, tree_memory
from foldline.backends.lsp.navigation import ServerNavigation
from foldline.backends.lsp.pool import Query
from foldline.backends.lsp.references import ServerReferences
from foldline.backends.lsp.requests import DEFAULT_SECONDS, coverage_of
from foldline.backends.lsp.servers import Answer, language_id
from foldline.backends.models import COMPLETE, FileOutline, Reference, SymbolDetail
from foldline.backends.outlines.locations import Position
from foldline.backends.outlines.symbols import detail_of, locate

_STOP_SECONDS = 30.0
_CLOSE_SECONDS = 2.0


class LSPBackend(ServerSymbols, ServerReferences, ServerNavigation):
    """The language servers of one workspace, and jedi for Python where none of them answers.

    The first query starts a server, unless it is `begin_symbols`. `trusted` allows servers that
    may run code of the workspace, and the commands in its configuration.

    Every query takes a deadline. When it passes, the caller gets an `LSPTimeoutError`, the
    server goes on, and its answer is there for the next time.
    """

    name = "lsp"

    @waits
    async def get_outline(self, file_path: str, *, source: str | None = None) -> FileOutline:
        """The file's symbols from the server, without imports and decorators."""
        path = self._own_text(file_path, source)
        answered = await self._ask(
            Query(Answer.SYMBOLS, "textDocument/documentSymbol", Position(path, 0, 0)),
            self._seconds,
        )
        loaded = self._files.load(path)
        lines = split_lines(loaded.text)
        outline_symbols = results.read_symbols(answered.result, lines)
        symbols = outline_symbols if is_sound(outline_symbols, lines) else ()
        return FileOutline(
            path,
            language_id(path) or language_of(path, loaded.data[:128]),
            (),
            symbols,
            count_lines(loaded.parse_data),
            reason="" if symbols else "the language server names no symbols",
            backend=answered.session.spec.name,
            coverage=coverage_of(answered),
        )

    @waits
    async def read_symbol(
        self, file_path: str, symbol_name: str, *, source: str | None = None
    ) -> SymbolDetail | None:
        """One symbol of the server's outline with its source."""
        outline = await coroutine_of(self.get_outline)(file_path, source=source)
        located = locate(outline.path, outline.symbols, symbol_name)
        loaded = self._files.load(outline.path)
        return detail_of(located, loaded, outline.backend, outline.coverage)

    @waits
    async def find_references(
        self, symbol_name: str, scope: str | None = None, *, source: str | None = None
    ) -> Sequence[Reference]:
        """The uses of what the file `scope` defines as `symbol_name`, all of them confirmed."""
        del source
        if scope is None:
            raise LSPUnavailableError("a server is asked about a position: name the defining file")
        outline = await coroutine_of(self.get_outline)(scope)
        symbol = locate(outline.path, outline.symbols, symbol_name).symbol
        lines = split_lines(self._files.load(outline.path).text)
        column = lines[symbol.name_line - 1].find(symbol.name)
        if column < 0:
            raise SymbolNotFoundError(outline.path, symbol_name)
        target = Position(outline.path, symbol.name_line, column + 1)
        query = self.begin(symbol_name, scope, time.monotonic())
        references = await query.confirm([target], [], self._seconds)
        if references.coverage != COMPLETE and not references.references:
            raise LSPTimeoutError(references.coverage, references.engine)
        return references.references

    def _own_text(self, file_path: str, source: str | None) -> str:
        path = self._files.resolve(file_path)
        if source is not None and source != self._files.load(path).text:
            raise LSPUnavailableError("servers are asked about files and open buffers only")
        return path

    # Lifecycle

    @waits
    async def status(self) -> tuple[ServerStatus, ...]:
        """The status of every server that was ever asked."""

        async def read() -> tuple[ServerStatus, ...]:
            return tuple(self._pool.status())

        statuses = await result_of(self._loop.start(read()), DEFAULT_SECONDS)
        return tuple(
            server if server.pid is None else replace(server, memory=tree_memory(server.pid))
            for server in statuses
        )

    def report(self) -> list[FoundServer]:
        """Every known server: where it was found, and why it is chosen or not."""
        return self._catalog.report()

    @property
    def configuration_problems(self) -> tuple[str, ...]:
        """The mistakes in `[tool.foldline.lsp]`."""
        return self._catalog.choice.problems

    @property
    def ignored_configuration(self) -> str:
        """The part of `[tool.foldline.lsp]` that waits until the workspace is trusted."""
        return self._catalog.choice.ignored

    @waits
    async def restart(self, name: str | None = None) -> tuple[ServerStatus, ...]:
        """Stop all servers, or those called `name`, and return what they were.

        Each is looked up and started afresh when it is next asked.
        """
        self._catalog.look_again()
        return await result_of(self._loop.start(self._pool.restart(name)), _STOP_SECONDS)

    def close(self) -> None:
        """Stop all servers for good. May be called twice."""
        if self._closed:
            return
        self._closed = True
        # A slower end continues in the background until the process ends.
        with contextlib.suppress(TimeoutError):
            self._loop.start(self._close_all()).result(_CLOSE_SECONDS)
            self._loop.forget(self._close_all)
