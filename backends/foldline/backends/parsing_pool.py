"""Parsing in worker processes, so that an event loop stays free.

A parse holds the interpreter's lock as long as it takes. That is below a tick for most files; a
server that must answer meanwhile hands larger ones, and many at once, to workers.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.backends.outlines import outline_source, outline_unparsed
from foldline.backends.parsing import InProcessParsing, Parsed, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.backends.models import Reference
    from foldline.backends.parsers.draft import Outline

# Below this a parse takes less than sending the source to a worker and reading its answer.
_WORTH_SENDING = 100_000
_BATCH_BYTES = 500_000
_SAFE_PATH = "PYTHONSAFEPATH"
_starting = threading.Lock()
# A worker may also die of something else: of another source, or for want of memory.
_ATTEMPTS = 2
_DIED = "not parsed: the parser crashed on it, or took too long"
# More than anything takes that may be parsed, so it ends only what hangs.
_MOST_SECONDS = 60.0
_MOST_MEMORY = 6 << 30

logger = logging.getLogger(__name__)


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


class PoolParsing:
    """Parses in worker processes, which start with the first source that is worth it.

    Workers have limits of time and memory, and die of them.

    When a worker dies, its sources are parsed one by one in new workers. One that ends a worker
    again isn't parsed: least of all in this process.
    """

    def __init__(self, workers: int = 2) -> None:
        self._workers = workers
        self._here = InProcessParsing()
        self._pool: ProcessPoolExecutor | None = None
        self._lock = threading.Lock()

    def outline(self, source: Parsed) -> Outline:
        """What the source defines."""
        if len(source.data) < _WORTH_SENDING:
            return self._here.outline(source)
        for _ in range(_ATTEMPTS):
            try:
                return self._started().submit(_outline, source).result()
            except BrokenProcessPool:
                self._forget()
        return outline_unparsed(source.data, _DIED)

    def references(self, sources: Iterable[Parsed], name: str) -> Iterator[Reference | Refused]:
        """The uses of the name, source by source, and the sources that weren't parsed."""
        batches = list(_batches(sources))
        if len(batches) == 1 and sum(len(each.data) for each in batches[0]) < _WORTH_SENDING:
            yield from self._here.references(batches[0], name)
            return
        done = 0
        try:
            pool = self._started()
            waiting = [pool.submit(_references_in_all, batch, name) for batch in batches]
            for found in waiting:
                yield from found.result()
                done += 1
        except BrokenProcessPool:
            self._forget()
            for batch in batches[done:]:
                for source in batch:
                    yield from self._alone(source, name)

    def _alone(self, source: Parsed, name: str) -> list[Reference | Refused]:
        try:
            return self._started().submit(_references_in_all, [source], name).result()
        except BrokenProcessPool:
            self._forget()
            return [Refused(source.path, _DIED)]

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)
                self._pool = None

    def _started(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._pool is None:
                # Its queues start a process that keeps track of them.
                with _safe_path():
                    self._pool = ProcessPoolExecutor(
                        self._workers, mp_context=_Context(), initializer=_limit_memory
                    )
            return self._pool

    def _forget(self) -> None:
        logger.warning("a parsing worker died; parsing goes on in a new one")
        with self._lock:
            self._pool = None


def _limit_memory() -> None:
    """Let this worker die before the machine has no memory left."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows; a lower limit.
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """End this worker when the task takes too long, even in a step that no Python interrupts."""
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(_MOST_SECONDS, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _outline(source: Parsed) -> Outline:
    with _time_limit():
        return outline_source(source.language, source.data)


def _references_in_all(sources: list[Parsed], name: str) -> list[Reference | Refused]:
    found: list[Reference | Refused] = []
    for source in sources:
        with _time_limit():
            found += InProcessParsing().references([source], name)
    return found


def _batches(sources: Iterable[Parsed]) -> Iterator[list[Parsed]]:
    batch: list[Parsed] = []
    size = 0
    for source in sources:
        batch.append(source)
        size += len(source.data)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
