"""What is told of a server's life."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ServerState(StrEnum):
    """Where a server is in its life."""

    STOPPED = "stopped"
    STARTING = "starting"
    INDEXING = "indexing"
    READY = "ready"
    RESTARTING = "restarting"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server as `foldline.server.status` shows it.

    `latency` is the median of the last answers in seconds; `memory` is that of the server and all
    its children in bytes, when it was last looked at; `problem` is why it is not up.
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
