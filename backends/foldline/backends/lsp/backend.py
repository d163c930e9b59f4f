"""The language servers of a workspace, and their lifecycle."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import result_of, waits
from foldline.backends.lsp.document_symbols import ServerSymbols
from foldline.backends.lsp.lifecycle import tree_memory
from foldline.backends.lsp.navigation import ServerNavigation
from foldline.backends.lsp.references import ServerReferences
from foldline.backends.lsp.requests import DEFAULT_SECONDS

if TYPE_CHECKING:
    from foldline.backends.lsp.discovery import FoundServer
    from foldline.backends.lsp.lifecycle import ServerStatus

_STOP_SECONDS = 30.0
_CLOSE_SECONDS = 2.0


class LSPBackend(ServerSymbols, ServerReferences, ServerNavigation):
    """The language servers of one workspace, and jedi for Python where none of them answers.

    The first question starts a server, unless it is `begin_symbols`. `trusted` allows servers that
    may run code of the workspace, and the commands in its configuration.

    Every question takes a deadline. When it passes, the caller gets an `LSPTimeoutError`, the
    server goes on, and its answer is there for the next time.
    """

    name = "lsp"

    @waits
    async def status(self) -> tuple[ServerStatus, ...]:
        """The status of every server that was ever asked."""

        async def read() -> tuple[ServerStatus, ...]:
            return tuple(self._pool.status())

        found = await result_of(self._loop.start(read()), DEFAULT_SECONDS)
        return tuple(
            server if server.pid is None else replace(server, memory=tree_memory(server.pid))
            for server in found
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
