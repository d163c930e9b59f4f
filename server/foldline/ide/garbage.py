"""Full garbage collections that stay short, however much the process holds.

A full collection looks at every object, and nothing else runs meanwhile: a second for two million
of them. The models of large modules and folders have no reference cycles, so they are freed without
the collector.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

LONG_SECONDS = 0.05
YOUNG_OBJECTS = 10_000
"""New objects, a few megabytes of them, after which the collector looks at them."""
_OLDEST = 2
_ARENA_MAX = -8


@contextmanager
def loading() -> Iterator[None]:
    """Load what a server needs, and keep its later collections short.

    Objects that modules create while they load are kept: searching them for garbage would cost a
    third of the start, and a part of every later full collection.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        keep_collections_short()
        share_heaps()


def share_heaps() -> None:
    """Let all threads share two heaps of glibc, which otherwise makes up to eight per processor.

    Each heap keeps the memory that its largest file once took, so a server would grow for hours.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):  # musl has none.
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 2)


def keep_collections_short() -> None:
    """Exempt survivors of a long collection until half of them are freed, and collect less often.

    At Python's own pace, typing in an editor waits for a full collection every few keys.
    """
    gc.set_threshold(YOUNG_OBJECTS)
    gc.callbacks.append(Pauses())


class Pauses:
    """A callback of the collector, called before and after each collection.

    Survivors of a full collection longer than `LONG_SECONDS` are frozen: later collections skip
    them. Once half of the frozen objects are freed, the rest is collected again, for cycles that
    have become garbage since.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        # This thread's CPU time: wall time also measures other load of the machine.
        self._clock = clock
        self._began = 0.0
        self._base = gc.get_freeze_count()
        self._most = 0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if info["generation"] != _OLDEST:
            return
        if phase == "start":
            self._thaw()
            self._began = self._clock()
        elif self._clock() - self._began > LONG_SECONDS:
            gc.freeze()
            self._most = gc.get_freeze_count()

    def _thaw(self) -> None:
        if self._most and gc.get_freeze_count() - self._base < (self._most - self._base) // 2:
            gc.unfreeze()
            self._base = self._most = 0
