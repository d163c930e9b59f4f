"""Parsing in worker processes, so that an event loop stays free and no source takes all memory.

A parse holds the interpreter's lock as long as it takes. That is below a tick for most files; a
server that must answer meanwhile hands larger ones, and many at once, to workers. So are sources
with so many errors that their parse may take gigabytes.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from concurrent.futures import BrokenExecutor
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.outlines.outlines import outline_source, outline_unparsed
from foldline.backends.outlines.parsing import Parsed, Parsing, Refused, find
from foldline.backends.outlines.syntax import ParseCostlyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import ProcessPoolExecutor
    from types import ModuleType

    from foldline.backends.models import Reference
    from foldline.backends.outlines.parsing import Found
    from foldline.backends.parsers.outline_builder import Outline
    from foldline.backends.references.bases import FileTypes

    Made = TypeVar("Made")

# Below this a parse takes less than sending the source to a worker and reading its answer.
_WORTH_SENDING = 100_000
_BATCH_BYTES = 500_000
# To start the workers takes about as long as to parse this much.
_WORTH_STARTING = 2_000_000
# A worker may also die of something else: of another source, or for want of memory.
_ATTEMPTS = 2
_DIED = "not parsed: the parser crashed on it, or took too long"
_MOST_DEADLY = 1_000

logger = logging.getLogger(__name__)


class PoolParsing(Parsing):
    """Parses in worker processes, which start with the first source that is worth it.

    Workers have limits of time and memory, and die of them. For a `patient` caller, who has
    nothing else to do meanwhile, they don't start for a few sources.

    When a worker dies, its sources are parsed one by one in new workers. One that ends a worker
    again isn't parsed: least of all in this process, and not when it is asked for again. The
    same holds for one whose parser was stopped.
    """

    def __init__(self, workers: int = 2, *, patient: bool = False) -> None:
        self._workers = workers
        self._worth_starting = _WORTH_STARTING if patient else _WORTH_SENDING
        self._deadly: dict[bytes, None] = {}
        self._pool: ProcessPoolExecutor | None = None
        # Guards `_deadly` and `_pool`, which is None before the first use, after a death, and once
        # closed. It isn't held while a worker works.
        self._lock = threading.Lock()

    def outline(self, source: Parsed) -> Outline:
        """The outline of the source."""
        here = partial(outline_source, source.language, source.data, guarded=True)
        outline = self._made(source, Parsing().outline, here)
        return outline or outline_unparsed(source.data, _DIED, provisional=True)

    def types(self, source: Parsed, *, guarded: bool = True) -> FileTypes | None:
        """The types of the source with their bases; None where it isn't parsed."""
        here = partial(super().types, source, guarded=guarded)
        return self._made(source, Parsing().types, here)

    def _made(
        self, source: Parsed, task: Callable[[Parsed], Made], here: Callable[[], Made]
    ) -> Made | None:
        """Process a source, `here` or in a worker by that task; return None if the workers die."""
        if len(source.data) < self._worth_a_worker:
            with contextlib.suppress(ParseCostlyError):
                return here()
        return self._sent(source, task, _ATTEMPTS)

    def _sent(self, source: Parsed, task: Callable[[Parsed], Made], attempts: int) -> Made | None:
        """The result of a task in a worker; None where workers die of the source."""
        key = source.digest()
        for _ in range(0 if key in self._deadly else attempts):
            pool = self._started()
            try:
                result: Made = pool.submit(_workers().alone, task, source).result()
            except BrokenExecutor:
                self._forget(pool)
            else:
                return result
        self._remember(key)
        return None

    def references(self, sources: Iterable[Parsed], name: str) -> Iterator[Reference | Refused]:
        """The uses of the name, source by source, and the sources that weren't parsed."""
        batches = list(_batches(sources))
        for answer in self._searched(batches, name):
            if isinstance(answer, Parsed):
                # Its batch was the first attempt.
                uses = self._sent(answer, partial(_uses, name=name), 1)
                uses = [Refused(answer.path, _DIED)] if uses is None else uses
                if any(isinstance(one, Refused) for one in uses):
                    self._remember(answer.digest())
                yield from uses
            else:
                yield answer

    def _searched(self, batches: list[list[Parsed]], name: str) -> Iterator[Found]:
        """Yield the uses in the batches, and the sources that must be parsed alone."""
        size = sum(len(source.data) for batch in batches for source in batch)
        if size < self._worth_a_worker:
            for source in chain.from_iterable(batches):
                yield from find(source, name, guarded=True)
            return
        done, pool = 0, self._started()
        try:
            waiting = [pool.submit(_workers().references_in_all, batch, name) for batch in batches]
            for future in waiting:
                yield from future.result()
                done += 1
        except BrokenExecutor:
            self._forget(pool)
            for batch in batches[done:]:
                yield from batch

    @property
    def _worth_a_worker(self) -> int:
        """From how many bytes on sources are sent to a worker."""
        return self._worth_starting if self._pool is None else _WORTH_SENDING

    def close(self) -> None:
        """End the workers, whatever they do."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            _workers().kill(pool)

    def _remember(self, key: bytes) -> None:
        with self._lock:
            self._deadly[key] = None
            if len(self._deadly) > _MOST_DEADLY:
                del self._deadly[next(iter(self._deadly))]

    def _started(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = _workers().start(self._workers)
            return self._pool

    def _forget(self, pool: ProcessPoolExecutor) -> None:
        logger.info("a parsing worker died; parsing goes on in a new one")
        with self._lock:
            if self._pool is pool:  # Another thread may have started the next.
                self._pool = None


def _uses(source: Parsed, name: str) -> list[Reference | Refused]:
    return [*Parsing().references([source], name)]


def _workers() -> ModuleType:
    """The module of the workers, imported when first needed: most programs start none."""
    from foldline.backends.outlines import parsing_workers

    return parsing_workers


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
