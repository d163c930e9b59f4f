"""`SmartFileAccess` for programs with an event loop, which it never blocks."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from foldline.backends.file_access import SmartFileAccess
from foldline.backends.index import DEFAULT_PATIENCE
from foldline.backends.parsing_pool import PoolParsing

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Coroutine, Mapping

    from foldline.backends.parsing import Parsing
    from foldline.backends.protocol import FileAnalysisBackend

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _in_thread(
    method: Callable[Concatenate[SmartFileAccess, P], Answer],
) -> Callable[Concatenate[AsyncSmartFileAccess, P], Coroutine[object, object, Answer]]:
    """The method as a coroutine, with its arguments, their types and its documentation."""

    @functools.wraps(method)
    async def ask(self: AsyncSmartFileAccess, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        # By its name: the access may be of a subclass.
        asked: Callable[P, Answer] = getattr(self.sync, method.__name__)
        return await asyncio.to_thread(asked, *args, **kwargs)

    return ask


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
        await asyncio.to_thread(self._access.close)
        if self._parsing is not None:
            await asyncio.to_thread(self._parsing.close)

    get_tree = _in_thread(SmartFileAccess.get_tree)
    get_outline = _in_thread(SmartFileAccess.get_outline)
    read_symbol = _in_thread(SmartFileAccess.read_symbol)
    find_references = _in_thread(SmartFileAccess.find_references)
    find_place = _in_thread(SmartFileAccess.find_place)
    goto_definition = _in_thread(SmartFileAccess.goto_definition)
    find_implementations = _in_thread(SmartFileAccess.find_implementations)
    hover = _in_thread(SmartFileAccess.hover)
    diagnostics = _in_thread(SmartFileAccess.diagnostics)
    call_hierarchy = _in_thread(SmartFileAccess.call_hierarchy)
    read_lines = _in_thread(SmartFileAccess.read_lines)
    read_file = _in_thread(SmartFileAccess.read_file)
    read_text = _in_thread(SmartFileAccess.read_text)
    search_files = _in_thread(SmartFileAccess.search_files)
    grep = _in_thread(SmartFileAccess.grep)
    server_status = _in_thread(SmartFileAccess.server_status)
    restart_servers = _in_thread(SmartFileAccess.restart_servers)
