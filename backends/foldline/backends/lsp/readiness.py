"""Readiness of a server: when its answers are complete, by the rule in its table entry."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING, Any

from foldline.backends.lsp.servers import ReadyWhen

if TYPE_CHECKING:
    from foldline.backends.lsp.connection import Connection
    from foldline.backends.lsp.lifecycle import Limits
    from foldline.backends.lsp.servers import ServerSpec


class ReadyWatch:
    """Listens to one connection until its server says that it has read the project.

    Attributes:
        overdue: Timed out waiting for readiness; answers are used anyway.
        works: The number of jobs it has begun: an answer from meanwhile may be incomplete.
    """

    def __init__(self, spec: ServerSpec, connection: Connection, limits: Limits) -> None:
        self._rule = spec.readiness
        self._limits = limits
        self._ready = asyncio.Event()
        self._working: set[object] = set()
        self._quiet: asyncio.TimerHandle | None = None
        self.overdue = False
        self.works = 0
        connection.on("$/progress", self._progress)
        connection.on("window/logMessage", self._logged)
        connection.on("experimental/serverStatus", self._status)

    @property
    def is_ready(self) -> bool:
        return self._ready.is_set()

    def begin(self) -> None:
        """Start the timers: `initialized` was sent."""
        loop = asyncio.get_running_loop()
        when = self._rule.when
        if when in {ReadyWhen.AT_ONCE, ReadyWhen.STABLE}:
            self._ready.set()
            return
        if when is ReadyWhen.NO_PROGRESS and not self._working:
            self._wait_for_quiet(self._limits.quiet)
        loop.call_later(self._limits.ready, self._give_up)

    def expect_rescan(self) -> None:
        """Wait again after files came or went, for a server that logs its scans."""
        if self._rule.when is not ReadyWhen.LOGGED or not self._ready.is_set():
            return
        self._ready = asyncio.Event()
        self._wait_for_quiet(self._limits.rescan)

    async def wait(self) -> None:
        """Return when the answers are complete, or the wait is over."""
        await self._ready.wait()

    def stop(self) -> None:
        """Cancel the timers."""
        self._ready.set()
        if self._quiet is not None:
            self._quiet.cancel()

    def _go_back_to_work(self) -> None:
        """Count a job; on a slow machine the first one may begin after the server seemed ready."""
        if self._rule.when is not ReadyWhen.NO_PROGRESS:
            return
        self.works += 1
        if self._ready.is_set():
            self._ready = asyncio.Event()
            asyncio.get_running_loop().call_later(self._limits.ready, self._give_up)

    def _give_up(self) -> None:
        if not self._ready.is_set():
            self.overdue = True
            self._ready.set()

    def _wait_for_quiet(self, seconds: float) -> None:
        if self._quiet is not None:
            self._quiet.cancel()
        self._quiet = asyncio.get_running_loop().call_later(seconds, self._ready.set)

    def _progress(self, params: Any) -> None:
        with contextlib.suppress(TypeError, KeyError):
            token, kind = params["token"], params["value"]["kind"]
            if kind == "begin":
                self._working.add(token)
                self._go_back_to_work()
                if self._quiet is not None:
                    self._quiet.cancel()
                    self._quiet = None
            elif kind == "end":
                self._working.discard(token)
                if not self._working and self._rule.when is ReadyWhen.NO_PROGRESS:
                    # The next step may begin at once.
                    self._wait_for_quiet(self._limits.quiet)

    def _logged(self, params: Any) -> None:
        if self._rule.when is not ReadyWhen.LOGGED:
            return
        with contextlib.suppress(TypeError, KeyError):
            if re.search(self._rule.pattern, str(params["message"])):
                self._ready.set()

    def _status(self, params: Any) -> None:
        with contextlib.suppress(TypeError, KeyError):
            if params["quiescent"] is True:
                self._ready.set()
