"""`SmartFileAccess` for programs with an event loop, which it never blocks."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from typing import Concatenate, ParamSpec, TypeVar

from foldline.backends.base.waiting import LONG, QUICK, STATUS, coroutine_of, in_thread, run_async
from foldline.backends.engine import Engine
from foldline.backends.file_access import SmartFileAccess
from foldline.backends.index import DEFAULT_PATIENCE
from foldline.backends.outlines.parsing import Parsing
from foldline.backends.outlines.parsing_pool import PoolParsing
from foldline.backends.protocol import MinimalBackend

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _as_coroutine(
    method: Callable[Concatenate[SmartFileAccess, P], Answer], threads: Executor = QUICK
) -> Callable[Concatenate[AsyncSmartFileAccess, P], Coroutine[object, object, Answer]]:
    """The method as a coroutine, with its arguments, their types and its documentation."""

    @functools.wraps(method)
    async def run_in_threads(
        self: AsyncSmartFileAccess, /, *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        # By name, since the access may be of a subclass.
        bound: Callable[P, Answer] = getattr(self.sync, method.__name__)
        return await run_async(coroutine_of(bound)(*args, **kwargs), threads)

    return run_in_threads


class AsyncSmartFileAccess:
    """The methods of `SmartFileAccess` as coroutines.

    Files are read in threads, and waiting for language servers or the index holds none; what would
    hold the interpreter's lock for long is parsed in worker processes. Use it as an asynchronous
    context manager, or `await close()`. `sync` is the same access for threads.
    """

    def __init__(self, access: SmartFileAccess, parsing: Parsing | None = None) -> None:
        self.sync = access
        self._parsing = parsing

    @classmethod
    def for_workspace(
        cls,
        root: str | os.PathLike[str],
        *,
        overlays: Mapping[str, str] | None = None,
        lsp_backend: Engine | MinimalBackend | None = None,
        language_servers: bool = False,
        trusted: bool = False,
        workers: int = 2,
        patience: float | None = DEFAULT_PATIENCE,
        progress: Callable[[int, int], None] | None = None,
    ) -> AsyncSmartFileAccess:
        """Access to the files on disk below `root`, with at most `workers` processes."""
        parsing = PoolParsing(workers)
        access = SmartFileAccess.for_workspace(
            root,
            overlays=overlays,
            lsp_backend=lsp_backend,
            language_servers=language_servers,
            trusted=trusted,
            parsing=lambda: parsing,
            patience=patience,
            progress=progress,
        )
        return cls(access, parsing)

    async def __aenter__(self) -> AsyncSmartFileAccess:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the worker processes and everything in the background."""
        await in_thread(self.sync.close)
        if self._parsing is not None:
            await in_thread(self._parsing.close)

    get_tree = _as_coroutine(SmartFileAccess.get_tree, LONG)
    get_outline = _as_coroutine(SmartFileAccess.get_outline)
    read_symbol = _as_coroutine(SmartFileAccess.read_symbol)
    read_symbols = _as_coroutine(SmartFileAccess.read_symbols)
    find_references = _as_coroutine(SmartFileAccess.find_references, LONG)
    definitions_of = _as_coroutine(SmartFileAccess.definitions_of)
    find_position = _as_coroutine(SmartFileAccess.find_position)
    goto_definition = _as_coroutine(SmartFileAccess.goto_definition, LONG)
    find_implementations = _as_coroutine(SmartFileAccess.find_implementations, LONG)
    hover = _as_coroutine(SmartFileAccess.hover, LONG)
    diagnostics = _as_coroutine(SmartFileAccess.diagnostics)
    call_hierarchy = _as_coroutine(SmartFileAccess.call_hierarchy, LONG)
    read_lines = _as_coroutine(SmartFileAccess.read_lines)
    read_file = _as_coroutine(SmartFileAccess.read_file)
    read_text = _as_coroutine(SmartFileAccess.read_text)
    search_files = _as_coroutine(SmartFileAccess.search_files, LONG)
    search_symbols = _as_coroutine(SmartFileAccess.search_symbols, LONG)
    grep = _as_coroutine(SmartFileAccess.grep, LONG)
    server_status = _as_coroutine(SmartFileAccess.server_status, STATUS)
    restart_servers = _as_coroutine(SmartFileAccess.restart_servers)
