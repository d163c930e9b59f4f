"""The life of a server: its states, its limits, and the waits after a failure or a late answer."""

from __future__ import annotations

import logging
import time
from enum import Enum, StrEnum, auto

from foldline.backends.errors import LSPUnavailableError
from foldline.records import record

# How long a server may take to leave while a user waits: it has nothing to save.
CLOSING_GRACE = 0.5


# STOPPED leads by STARTING and INDEXING to READY, and an idle server goes back. After a crash it is
# RESTARTING for a step of `Limits.backoff`; several crashes in a row lead to DOWN. FAILING is up,
# but its last answers can't be right. The state isn't stored: `ServerSession.state` derives it.
class ServerState(StrEnum):
    """The state of a server."""

    STOPPED = "stopped"
    STARTING = "starting"
    INDEXING = "indexing"
    READY = "ready"
    FAILING = "failing"
    RESTARTING = "restarting"
    DOWN = "down"


class Change(Enum):
    """The change of a workspace between two snapshots: none, contents only, or its files."""

    NONE = auto()
    CONTENTS = auto()
    FILES = auto()


@record
class ServerStatus:
    """Language server status, as `foldline.server.status` shows it.

    `latency` is the median of the last answers in seconds; `memory` is that of the server and all
    its children in bytes, when it was last measured; `problem` is why it isn't up.
    """

    name: str
    root: str
    command: tuple[str, ...]
    state: str
    pid: int | None = None
    memory: int = 0
    latency: float | None = None
    requests: int = 0
    restarts: int = 0
    pending: int = 0
    open_documents: int = 0
    problem: str = ""


@record
class Limits:
    """Bounds of one server; times are in seconds.

    Attributes:
        start: From the start of the process to its answer to `initialize`.
        request: A request is abandoned after this time; callers wait far shorter.
        symbols: An outline or a definition waits this long for a server that is up. Most answer
            in 5 to 20 ms; without one the cheapest queries take 5 ms, and an agent that asks
            about a dozen files would feel a longer wait.
        ready: After this time answers are used although the server may still be indexing.
        quiet: A server that reports progress and begins no work within this time is ready.
        rescan: A server that logs when it has looked for files gets this long to do it again.
        reading: A server that knows open files alone gets this long to read those just opened.
        idle: A server without requests for this long is stopped.
        grace: The time to obey `shutdown`, and then to obey a signal.
        watch: How often memory and idleness are checked.
        memory: The bytes of the server and all its children above which it is restarted.
        heavy: With more bytes than this, it is stopped once it is idle for `heavy_idle`.
        backoff: How long to wait before each further restart; the last one holds for all more.
        crashes: This many crashes, each within `healthy` of its start, take it down for `down`.
        open_documents: How many files stay open that aren't open in an editor.
    """

    start: float = 20.0
    request: float = 60.0
    symbols: float = 0.05
    ready: float = 60.0
    quiet: float = 1.0
    rescan: float = 4.0
    reading: float = 10.0
    idle: float = 900.0
    grace: float = 2.0
    watch: float = 5.0
    memory: int = 3 << 30
    heavy: int = 384 << 20
    heavy_idle: float = 60.0
    backoff: tuple[float, ...] = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
    crashes: int = 4
    healthy: float = 60.0
    down: float = 300.0
    open_documents: int = 32


def tree_memory(pid: int) -> int:
    """The resident bytes of the process and all its descendants; 0 where it has ended."""
    import psutil

    total = 0
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return 0
    for member in family:
        try:
            total += int(member.memory_info().rss)
        except psutil.Error:
            continue  # It ended meanwhile.
    return total


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
        """Leave the server alone, unless that has begun for another query already."""
        if not self.is_on:
            self._over = time.monotonic() + self._seconds
            self._seconds = min(2 * self._seconds, _LONGEST_PAUSE)

    def forget(self) -> None:
        """Begin with the shortest pause the next time: the server was in time."""
        self._seconds = _FIRST_PAUSE
