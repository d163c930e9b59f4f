"""The worker processes of `foldline.backends.outlines.parsing_pool`, and what they do.

Each has limits of time and memory that fit the source it parses, and dies of them.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from mmap import PAGESIZE
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from foldline.backends.outlines.parsing import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foldline.backends.outlines.parsing import Found, Parsed

    Value = TypeVar("Value")

_SAFE_PATH = "PYTHONSAFEPATH"
_starting = threading.Lock()
# Each is far more than a source of its size takes that is code, also with many errors.
_MOST_SECONDS = 60.0
_MOST_SECONDS_TO_END = 1.0
_FEWEST_SECONDS = 3.0
_SECONDS_A_BYTE = 20e-6
_MOST_MEMORY = 6 << 30
_FEWEST_MEMORY = 500_000_000
_MEMORY_A_BYTE = 300
_STATM = Path("/proc/self/statm")


def start(workers: int) -> ProcessPoolExecutor:
    """Start the pool; its processes start with their first task."""
    # Its queues start a process that keeps track of them.
    with _safe_path():
        return ProcessPoolExecutor(workers, mp_context=_Context(), initializer=_prepare)


def kill(pool: ProcessPoolExecutor) -> None:
    """End the pool and its processes, whatever they do."""
    # The executor has no public way to kill its processes.
    processes = list((pool._processes or {}).values())  # noqa: SLF001
    manager = pool._executor_manager_thread  # noqa: SLF001
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    if manager is not None:
        # Join it: it frees semaphores, and exiting first prints a warning.
        manager.join(_MOST_SECONDS_TO_END)  # type: ignore[attr-defined]  # A thread.


def alone(task: Callable[[Parsed], Value], source: Parsed) -> Value:
    """The result of a task on the source, of which this process may die."""
    with _limits(len(source.data)):
        return task(source)


def references_in_all(sources: list[Parsed], name: str) -> list[Found]:
    """The uses of the name in the sources, and the sources that must be parsed alone."""
    references: list[Found] = []
    for source in sources:
        with _limits(len(source.data)):
            references += find(source, name, guarded=True)
    return references


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Let Pythons that start meanwhile import nothing from the working directory.

    That may be a workspace that isn't trusted, and `multiprocessing` starts them by `-c`.
    """
    with _starting:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before


class _Process(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802  # What multiprocessing calls.
        with _safe_path():
            return SpawnProcess._Popen(process_obj)  # noqa: SLF001  # Its only hook.


class _Context(SpawnContext):
    """Starts workers afresh: a fork would copy the locks that other threads hold."""

    Process = _Process


def _prepare() -> None:
    # A worker dies before the machine has no memory left.
    _allow(_MOST_MEMORY)
    # A pool's worker holds both ends of the pipe that its tasks come by, which so never ends.
    threading.Thread(target=_end_with_parent, name="foldline-leash", daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when its parent ends, by whatever death."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _allow(most: int) -> None:
    """Limit the memory of this worker."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows; a lower limit.
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, _MOST_MEMORY))


@contextlib.contextmanager
def _limits(size: int) -> Iterator[None]:
    """End this worker, even within a step, when a source of that size takes more than it should."""
    with contextlib.suppress(OSError):  # Not Linux.
        taken = int(_STATM.read_bytes().split()[0]) * PAGESIZE
        _allow(min(taken + _FEWEST_MEMORY + _MEMORY_A_BYTE * size, _MOST_MEMORY))
    seconds = min(_FEWEST_SECONDS + _SECONDS_A_BYTE * size, _MOST_SECONDS)
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
