"""`SmartFileAccess` for programs with an event loop, which it never blocks."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from foldline.backends.file_access import SmartFileAccess
from foldline.backends.index import DEFAULT_PATIENCE
from foldline.backends.parsing_pool import PoolParsing
from foldline.backends.waiting import LONG, QUICK, STATUS, in_thread, question_of, run_async

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Coroutine, Mapping
    from concurrent.futures import Executor

    from foldline.backends.engine import Engine
    from foldline.backends.parsing import Parsing
    from foldline.backends.protocol import MinimalBackend

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _asked(
    method: Callable[Concatenate[SmartFileAccess, P], Answer], threads: Executor = QUICK
) -> Callable[Concatenate[AsyncSmartFileAccess, P], Coroutine[object, object, Answer]]:
    """The method as a coroutine, with its arguments, their types and its documentation."""

    @functools.wraps(method)
    async def ask(self: AsyncSmartFileAccess, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        # By its name: the access may be of a subclass.
        bound: Callable[P, Answer] = getattr(self.sync, method.__name__)
        return await run_async(question_of(bound)(*args, **kwargs), threads)

    return ask


class AsyncSmartFileAccess:
    """The methods of `SmartFileAccess` as coroutines.

    Files are read in threads, and waiting for language servers or the index holds none; what would
    hold the interpreter's lock for long is parsed in worker processes. Use it as an asynchronous
    context manager, or `await close()`.
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
        lsp_backend: Engine | MinimalBackend | None = None,
        language_servers: bool = False,
        trusted: bool = False,
        workers: int = 2,
        patience: float | None = DEFAULT_PATIENCE,
        progress: Callable[[int, int], None] | None = None,
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
            progress=progress,
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
        await in_thread(self._access.close)
        if self._parsing is not None:
            await in_thread(self._parsing.close)

    get_tree = _asked(SmartFileAccess.get_tree, LONG)
    get_outline = _asked(SmartFileAccess.get_outline)
    read_symbol = _asked(SmartFileAccess.read_symbol)
    find_references = _asked(SmartFileAccess.find_references, LONG)
    find_position = _asked(SmartFileAccess.find_position)
    goto_definition = _asked(SmartFileAccess.goto_definition, LONG)
    find_implementations = _asked(SmartFileAccess.find_implementations, LONG)
    hover = _asked(SmartFileAccess.hover, LONG)
    diagnostics = _asked(SmartFileAccess.diagnostics)
    call_hierarchy = _asked(SmartFileAccess.call_hierarchy, LONG)
    read_lines = _asked(SmartFileAccess.read_lines)
    read_file = _asked(SmartFileAccess.read_file)
    read_text = _asked(SmartFileAccess.read_text)
    search_files = _asked(SmartFileAccess.search_files, LONG)
    grep = _asked(SmartFileAccess.grep, LONG)
    server_status = _asked(SmartFileAccess.server_status, STATUS)
    restart_servers = _asked(SmartFileAccess.restart_servers)
