"""Keeps an index up to date while files change, so that questions find little left to do."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from foldline.backends.index.workspace import WorkspaceIndex

logger = logging.getLogger(__name__)


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
