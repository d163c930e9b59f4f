"""The waits for servers: before one that failed is started again, and after a late answer."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from foldline.backends.errors import LSPUnavailableError

if TYPE_CHECKING:
    from foldline.backends.lsp.lifecycle import Limits

log = logging.getLogger(__name__)

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


class Backoff:
    """Counts a server's failures; after several in a row it is down for a while, said once.

    Attributes:
        problem: Why the server is not up, or was not lately.
        is_down: Whether the last failure was one too many.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self.problem = ""
        self.is_down = False
        self._name = name
        self._limits = limits
        self._crashes = 0
        self._retry_at = 0.0

    @property
    def is_over(self) -> bool:
        """Return whether the server may be started now."""
        return time.monotonic() >= self._retry_at

    def check(self) -> None:
        """Return where the server may be started now.

        Raises:
            LSPUnavailableError: It failed lately, and the wait isn't over.
        """
        left = self._retry_at - time.monotonic()
        if left > 0:
            raise LSPUnavailableError(
                f"is left alone for {left:.0f} s more: {self.problem}", self._name
            )

    def forget(self) -> None:
        """Forget earlier failures: the server was up for long."""
        self._crashes = 0

    def failed(self, problem: str) -> None:
        """Count a failure."""
        limits = self._limits
        self.problem = problem
        self._crashes += 1
        now = time.monotonic()
        self.is_down = self._crashes >= limits.crashes
        if self.is_down:
            self._crashes = 0
            self._retry_at = now + limits.down
            log.warning(
                "%s failed %s times and is left alone for %.0f s; answers come from syntax trees "
                "alone: %s",
                self._name,
                limits.crashes,
                limits.down,
                problem,
            )
            return
        step = min(self._crashes, len(limits.backoff)) - 1
        self._retry_at = now + (limits.backoff[step] if limits.backoff else 0.0)
        log.info("%s failed: %s", self._name, problem)


class Pause:
    """The time in which a server that was late isn't asked again; it doubles with each."""

    def __init__(self) -> None:
        self._seconds = _FIRST_PAUSE
        self._over = 0.0

    @property
    def is_on(self) -> bool:
        return time.monotonic() < self._over

    def begin(self) -> None:
        """Leave the server alone, unless that has begun for another question already."""
        if not self.is_on:
            self._over = time.monotonic() + self._seconds
            self._seconds = min(2 * self._seconds, _LONGEST_PAUSE)

    def forget(self) -> None:
        """Begin with the shortest pause the next time: the server was in time."""
        self._seconds = _FIRST_PAUSE
