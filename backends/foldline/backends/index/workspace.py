"""The index of one workspace: built in the background, mended before each answer.

A front without states: `Freshness` has the file and what is known of it, `IndexBuilder` the thread
that mends it, `IndexQuery` the answers. Any thread may call any method; locks are theirs.
They are taken in one order: the builder's, those of `Freshness`, then the database's or that of the
list of files.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.base.languages import CODE, TEXT
from foldline.backends.index.builder import IndexBuilder
from foldline.backends.index.freshness import Freshness
from foldline.backends.index.query import IndexQuery

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foldline.backends.files.local import LocalFileBackend
    from foldline.backends.index.builder import Progress
    from foldline.backends.index.store import Store

DEFAULT_PATIENCE = 0.8
_Result = TypeVar("_Result")
logger = logging.getLogger(__name__)


class WorkspaceIndex(IndexQuery):
    """Answers which files hold a word, from an SQLite file outside the workspace.

    Before each answer the files' times are compared, so that a deleted, renamed or checked-out file
    is never answered stale; open buffers are always candidates. Where the index file cannot be
    used, the same index is held in memory, and `trouble` says why.

    Code is read before texts, and an answer that the index isn't ready for reads what it needs.

    `patience` is how many seconds a search waits for the building, and a fourth of what a question
    about a word does if it can't read what is missing. None waits for the end.
    `progress` gets the files done and in all, file by file, in the thread that builds: of code,
    then of texts. At the end of each, however it comes, both are the same.
    """

    def __init__(
        self,
        files: LocalFileBackend,
        location: Path | None = None,
        *,
        patience: float | None = DEFAULT_PATIENCE,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(IndexBuilder(Freshness(files, location), progress), patience)

    @property
    def location(self) -> Path:
        """The index file."""
        return self._freshness.location

    @property
    def trouble(self) -> str:
        """Why the index is held in memory, if it is."""
        return self._freshness.trouble

    def start(
        self, progress: Progress | None = None, *, since: float | None = None, kind: int = CODE
    ) -> None:
        """Bring the index up to date in the background; `progress` replaces our own.

        Unless `kind` is `TEXT`, texts are looked at after a while, if anything else has changed.
        """
        self._builder.start(progress, time.monotonic() if since is None else since, kind)

    def cancel(self) -> None:
        """Stop building; what was read so far stays in the index."""
        self._builder.cancel()

    def wait(self, timeout: float | None = None, kind: int = TEXT, since: float = -1.0) -> bool:
        """Return whether the background build of this kind ended before the timeout.

        One is started if what is known is older than `since`.
        """
        if self._freshness.as_of[kind] < since:
            self._builder.start(None, since, kind)
        end = self._builder.build.ends[kind]
        with suppress(TimeoutError):
            end.result(timeout)
        return end.done()

    def close(self) -> None:
        """Stop building and close the index file.

        A building that doesn't end soon, since a file system hangs, closes the file when it ends.
        """
        self._builder.close()

    def refresh(self, progress: Progress | None = None, *, since: float | None = None) -> None:
        """Bring the index up to date, as of now or of `since`, before returning.

        Raises:
            CancelledError: when `cancel` was called meanwhile.
        """
        self._builder.refresh(progress, time.monotonic() if since is None else since)

    def upkeep(self, work: Callable[[Store], _Result]) -> _Result:
        """The result of `work` with the index file; unlike an answer, it isn't to be had without.

        Raises:
            ArtefactError: The file can't be read or written.
        """
        return self._builder.upkeep(work)


class Watcher:
    """Brings the index up to date after each burst of changes below `root`.

    Answers do not depend on it: they compare times themselves, for a notice may come late or, on
    network file systems, never.
    """

    def __init__(self, root: Path, index: WorkspaceIndex) -> None:
        self._root = root
        self._index = index
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="foldline-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        from watchfiles import watch

        try:
            for _ in watch(
                self._root, stop_event=self._stop, raise_interrupt=False, rust_timeout=500
            ):
                self._index.start()
        except (OSError, RuntimeError):
            # For example, the system has no watches left.
            logger.warning("%s is not watched", self._root, exc_info=True)
