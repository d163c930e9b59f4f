"""Records the side effects of a prompt's module, and can deny it the network.

This informs the module's author. It isn't a sandbox: code can evade it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType

MAX_EFFECTS = 50
_NETWORK = {
    "socket.connect": "opened a connection",
    "socket.bind": "opened a port",
    "socket.getaddrinfo": "looked a host up",
    "socket.gethostbyname": "looked a host up",
    "socket.sendto": "sent a datagram",
}
_OTHERS = {
    "os.exec": "became another program",
    "os.fork": "forked",
    "os.forkpty": "forked",
    "os.posix_spawn": "started a process",
    "os.remove": "removed a file",
    "os.rename": "renamed a file",
    "os.rmdir": "removed a folder",
    "os.system": "ran a shell command",
    "shutil.rmtree": "removed a folder",
    "subprocess.Popen": "started a process",
}
_READS = frozenset({"open", "os.listdir", "os.scandir", "sqlite3.connect"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

Effect = dict[str, object]
"""A side effect: `message`, `subject`, and the user's `file` and `line`."""


def watch_reads(root: str) -> set[str]:
    """Return a set to which what is read below `root` is added: files, and folders for names."""
    reads: set[str] = set()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in _READS or not isinstance(arguments[0], (str, bytes, os.PathLike)):
            return
        # The import system lists every folder that it searches.
        if event == "os.listdir" and "importlib" in sys._getframe(1).f_code.co_filename:  # noqa: SLF001
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))  # noqa: PTH100  # A hot path.
        if path.startswith(root):
            reads.add(path)

    sys.addaudithook(hook)
    return reads


def watch(is_users: Callable[[str], bool], *, ours: str, deny_network: bool) -> list[Effect]:
    """Return a list to which each later side effect of the user's code is appended.

    Files whose paths start with `ours` don't count: foldline writes them. With `deny_network`, each
    access to the network raises a PermissionError.
    """
    effects: list[Effect] = []
    here = os.getpid()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in _NETWORK:
            note(_NETWORK[event], arguments[-1] if event == "socket.connect" else arguments[0])
            if deny_network:
                raise PermissionError(f"{event}: the setting preview.network denies it")
        elif event in _OTHERS:
            note(_OTHERS[event], arguments[0] if arguments else None)
        elif event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING and isinstance(path, (str, bytes)):
                note("wrote a file", path)

    def note(message: str, subject: object) -> None:
        # A fork of the user's code would add to a list that nobody reads.
        if len(effects) >= MAX_EFFECTS or os.getpid() != here:
            return
        if isinstance(subject, str) and subject.startswith(ours):
            return
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001  # Its documented use.
        while frame is not None and not is_users(frame.f_code.co_filename):
            frame = frame.f_back
        # Effects of imports and libraries without a line of the user's don't count.
        if frame is not None:
            effect: Effect = {
                "message": message,
                "subject": None if subject is None else str(subject)[:200],
                "file": frame.f_code.co_filename,
                "line": frame.f_lineno,
            }
            if effect not in effects:
                effects.append(effect)

    sys.addaudithook(hook)
    return effects
