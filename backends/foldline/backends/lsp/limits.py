"""How long servers may take, how much they may hold, and how often they may fail."""

from __future__ import annotations

from dataclasses import dataclass

# How long a server may take to leave while a user waits: it has nothing to save.
CLOSING_GRACE = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one server; times are in seconds.

    Attributes:
        start: From the start of the process to its answer to `initialize`.
        request: A request is abandoned after this time; callers wait far shorter.
        ready: After this time answers are taken although the server may still be indexing.
        quiet: A server that reports progress and does not begin any within this time is ready.
        rescan: A server that logs when it has looked for files gets this long to do it again.
        reading: A server that knows open files alone gets this long to read those just opened.
        idle: A server that nobody asked for this long is stopped.
        grace: What it gets to obey `shutdown`, and then to obey a signal.
        watch: How often memory and idleness are looked at.
        memory: The bytes of the server and all its children above which it is restarted.
        backoff: How long to wait before each further restart; the last one holds for all more.
        crashes: So many crashes, each within `healthy` of its start, take it down for `down`.
    """

    start: float = 20.0
    request: float = 60.0
    ready: float = 60.0
    quiet: float = 1.0
    rescan: float = 4.0
    reading: float = 10.0
    idle: float = 900.0
    grace: float = 2.0
    watch: float = 5.0
    memory: int = 3 << 30
    backoff: tuple[float, ...] = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
    crashes: int = 4
    healthy: float = 60.0
    down: float = 300.0
    open_documents: int = 32
