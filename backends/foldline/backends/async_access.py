"""`SmartFileAccess` for programs with an event loop, which it never blocks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from foldline.backends.file_access import SmartFileAccess
from foldline.backends.index import DEFAULT_PATIENCE
from foldline.backends.merging import DEFAULT_SECONDS
from foldline.backends.parsing_pool import PoolParsing

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from foldline.backends.models import (
        FileOutline,
        FileText,
        FileTree,
        GrepResults,
        References,
        SearchResults,
        SymbolDetail,
    )
    from foldline.backends.parsing import Parsing
    from foldline.backends.protocol import FileAnalysisBackend
    from foldline.backends.semantics import Calls, Diagnostics, Hover, Locations


class AsyncSmartFileAccess:
    """The methods of `SmartFileAccess` as coroutines.

    Files are read in threads; what would hold the interpreter's lock for long is parsed in worker
    processes. Use it as an asynchronous context manager, or `await close()`.
    """

    def __init__(self, access: SmartFileAccess, parsing: Parsing | None = None) -> None:
        self._access = access
        self._parsing = parsing

    @classmethod
    def for_workspace(
        cls,
        root: str | os.PathLike[str],
        *,
        overlays: Mapping[str, str] | None = None,
        lsp_backend: FileAnalysisBackend | None = None,
        language_servers: bool = False,
        trusted: bool = False,
        workers: int = 2,
        patience: float | None = DEFAULT_PATIENCE,
    ) -> AsyncSmartFileAccess:
        """Access to the files of the disk below `root`, with so many worker processes at most."""
        parsing = PoolParsing(workers)
        access = SmartFileAccess.for_workspace(
            root,
            overlays=overlays,
            lsp_backend=lsp_backend,
            language_servers=language_servers,
            trusted=trusted,
            parsing=parsing,
            patience=patience,
        )
        return cls(access, parsing)

    @property
    def sync(self) -> SmartFileAccess:
        """The same access for threads."""
        return self._access

    async def __aenter__(self) -> AsyncSmartFileAccess:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the worker processes and whatever runs in the background."""
        await asyncio.to_thread(self._access.close)
        if self._parsing is not None:
            await asyncio.to_thread(self._parsing.close)

    async def get_tree(
        self,
        path: str = ".",
        *,
        depth: int | None = None,
        budget: int | None = None,
        cursor: str | None = None,
        no_ignore: bool = False,
    ) -> FileTree:
        """See `SmartFileAccess.get_tree`."""
        return await asyncio.to_thread(
            self._access.get_tree,
            path,
            depth=depth,
            budget=budget,
            cursor=cursor,
            no_ignore=no_ignore,
        )

    async def get_outline(self, file: str) -> FileOutline:
        """See `SmartFileAccess.get_outline`."""
        return await asyncio.to_thread(self._access.get_outline, file)

    async def read_symbol(
        self, file: str, name: str, *, budget: int | None = None, cursor: str | None = None
    ) -> SymbolDetail:
        """See `SmartFileAccess.read_symbol`."""
        return await asyncio.to_thread(
            self._access.read_symbol, file, name, budget=budget, cursor=cursor
        )

    async def find_references(
        self,
        name: str,
        scope: str | None = None,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        seconds: float = DEFAULT_SECONDS,
    ) -> References:
        """See `SmartFileAccess.find_references`."""
        return await asyncio.to_thread(
            self._access.find_references,
            name,
            scope,
            budget=budget,
            cursor=cursor,
            seconds=seconds,
        )

    async def goto_definition(
        self, file: str, line: int, at: str | int, *, seconds: float = DEFAULT_SECONDS
    ) -> Locations:
        """See `SmartFileAccess.goto_definition`."""
        return await asyncio.to_thread(
            self._access.goto_definition, file, line, at, seconds=seconds
        )

    async def find_implementations(
        self, file: str, line: int, at: str | int, *, seconds: float = DEFAULT_SECONDS
    ) -> Locations:
        """See `SmartFileAccess.find_implementations`."""
        return await asyncio.to_thread(
            self._access.find_implementations, file, line, at, seconds=seconds
        )

    async def hover(
        self, file: str, line: int, at: str | int, *, seconds: float = DEFAULT_SECONDS
    ) -> Hover:
        """See `SmartFileAccess.hover`."""
        return await asyncio.to_thread(self._access.hover, file, line, at, seconds=seconds)

    async def diagnostics(self, file: str, *, seconds: float = DEFAULT_SECONDS) -> Diagnostics:
        """See `SmartFileAccess.diagnostics`."""
        return await asyncio.to_thread(self._access.diagnostics, file, seconds=seconds)

    async def call_hierarchy(
        self, file: str, line: int, at: str | int, *, seconds: float = DEFAULT_SECONDS
    ) -> Calls:
        """See `SmartFileAccess.call_hierarchy`."""
        return await asyncio.to_thread(self._access.call_hierarchy, file, line, at, seconds=seconds)

    async def read_lines(self, file: str, start: int, end: int, *, no_ignore: bool = False) -> str:
        """See `SmartFileAccess.read_lines`."""
        return await asyncio.to_thread(
            self._access.read_lines, file, start, end, no_ignore=no_ignore
        )

    async def read_file(self, file: str, *, no_ignore: bool = False) -> str:
        """See `SmartFileAccess.read_file`."""
        return await asyncio.to_thread(self._access.read_file, file, no_ignore=no_ignore)

    async def read_text(
        self,
        file: str,
        start: int = 1,
        end: int | None = None,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        no_ignore: bool = False,
    ) -> FileText:
        """See `SmartFileAccess.read_text`."""
        return await asyncio.to_thread(
            self._access.read_text,
            file,
            start,
            end,
            budget=budget,
            cursor=cursor,
            no_ignore=no_ignore,
        )

    async def search_files(
        self, query: str, *, budget: int | None = None, cursor: str | None = None
    ) -> SearchResults:
        """See `SmartFileAccess.search_files`."""
        return await asyncio.to_thread(
            self._access.search_files, query, budget=budget, cursor=cursor
        )

    async def grep(
        self,
        pattern: str,
        glob: str | None = None,
        *,
        context: int = 0,
        ignore_case: bool = False,
        budget: int | None = None,
        cursor: str | None = None,
        no_ignore: bool = False,
    ) -> GrepResults:
        """See `SmartFileAccess.grep`."""
        return await asyncio.to_thread(
            self._access.grep,
            pattern,
            glob,
            context=context,
            ignore_case=ignore_case,
            budget=budget,
            cursor=cursor,
            no_ignore=no_ignore,
        )
