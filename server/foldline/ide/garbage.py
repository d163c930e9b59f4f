"""Full garbage collections that stay short, however much the process holds.

A full collection looks at every object, and nothing else runs meanwhile: a second for two million
of them. What large modules and folders are made into refers to itself nowhere, so it is given back
without the collector.
"""

from __future__ import annotations

import gc
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONG_SECONDS = 0.05
YOUNG_OBJECTS = 10_000
"""New objects after which the collector looks at them; those of a few megabytes."""
_OLDEST = 2
_ARENA_MAX = -8


@contextmanager
def loading() -> Iterator[None]:
    """Load what a server needs, and keep its later collections short.

    What modules leave behind when they load stays: to look for garbage in it costs a third of the
    start, and would cost every later full collection.
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
    """Let all threads share two heaps of glibc, which else makes up to eight a processor.

    Each would keep what its largest file once took, so that a server grows for hours.
    """
    if sys.platform == "linux":
        import ctypes

        with suppress(AttributeError):  # musl has none.
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 2)


def keep_collections_short() -> None:
    """Let the collector look at what outlived a long collection only once most of it is gone.

    It also looks less often: at Python's own pace, an editor that types waits for a full collection
    every few keys.
    """
    gc.set_threshold(YOUNG_OBJECTS)
    gc.callbacks.append(Pauses())


class Pauses:
    """A callback of the collector, called before and after each collection.

    What is left after a full collection longer than `LONG_SECONDS` is frozen: no later one looks at
    it. When half of what was frozen has been given back, all of the rest is looked at again, for
    what has become garbage in a circle since.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        # The time of this thread, not of a machine on which others work too.
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
