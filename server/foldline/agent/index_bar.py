"""A progress bar on standard error while an index is built, if that takes long."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress, TaskID

SHOWN_AFTER_SECONDS = 1.0


def index_bar() -> Callable[[int, int], None] | None:
    """Return a progress callback `(done, total)`; None if standard error isn't a terminal."""
    return _Bar().update if sys.stderr.isatty() else None


class _Bar:
    def __init__(self) -> None:
        self._began: float | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def update(self, done: int, total: int) -> None:
        if self._began is None:
            self._began = time.monotonic()
        if self._bar is None and time.monotonic() - self._began >= SHOWN_AFTER_SECONDS:
            self._bar, self._task = _start(total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)
            if done >= total:
                self._bar.stop()
                self._bar = None


def _start(total: int) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files"),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar, bar.add_task("Indexing, this once", total=total)
