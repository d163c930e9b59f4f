"""Exits with the parent process, even if that is killed."""

import atexit
import contextlib
import os
import sys
from collections.abc import Callable
from typing import NoReturn

POLL_SECONDS = 0.5


def end_process(status: int) -> NoReturn:
    """Run the exit handlers, and end this process.

    A regular exit would spend seconds freeing the memory of a large workspace.
    """
    atexit._run_exitfuncs()  # noqa: SLF001 - There is no public way to run them.
    for stream in (sys.stdout, sys.stderr):
        # A closed stream is None.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)


def exit_with_parent() -> None:
    """Exit once the parent process is gone.

    Usually standard input ends then, too, but not if a sibling process holds its other end open.
    Children of this process watch it in the same way.
    """
    parent = os.getppid()
    if parent > 1:
        _watch(lambda: os.getppid() == parent)


def exit_with_process(pid: int) -> None:
    """Exit once the process `pid` is gone.

    A pid that isn't alive now is ignored: it belongs to a client on another machine or in another
    container.
    """
    if pid > 1 and _is_alive(pid):
        _watch(lambda: _is_alive(pid))


def _watch(is_alive: Callable[[], bool]) -> None:
    # Imported late: commands need neither.
    import logging
    import threading

    pause = threading.Event()

    def watch() -> None:
        while is_alive():
            pause.wait(POLL_SECONDS)
        logging.getLogger(__name__).info("The process that started the server is gone: exiting")
        # The main thread may be waiting for input that never ends.
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_alive_on_windows(pid: int) -> bool:
    # `os.kill(pid, 0)` would end the process there.
    import ctypes

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  # Unknown to type checkers elsewhere.
    synchronize, timed_out = 0x00100000, 0x102
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == timed_out)
    finally:
        kernel.CloseHandle(handle)
