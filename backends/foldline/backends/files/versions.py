"""The versions of all files of a workspace, looked at as cheaply as can be."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from foldline.backends.files.walk import Seen, is_racy
from foldline.backends.languages import UNKNOWN, language_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.backends.files.local import LocalFileBackend
    from foldline.backends.files.walk import FileStamp

# What configures compilers and language servers without being in a language.
_SETTINGS = (".cfg", ".conf", ".ini", ".mod", ".txt", ".work")


class FileVersions:
    """What tells whether code or settings on disk have changed; several threads share one look."""

    def __init__(self, files: LocalFileBackend) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._seen: Seen | None = None
        self._disk: Mapping[str, FileStamp] = {}
        self._as_of = -1.0

    @property
    def are_followed(self) -> bool:
        """Whether somebody has asked before, so that a look takes little."""
        return self._as_of >= 0

    def on_disk(self, since: float) -> Mapping[str, FileStamp]:
        """The versions by path, one object until one changes.

        They are as of `since`, a time of `time.monotonic`, or of later.
        """
        with self._lock:
            if self._as_of < since:
                as_of = time.monotonic()
                self._look()
                self._as_of = as_of
            return self._disk

    def _look(self) -> None:
        files = self._files
        if self._seen is not None and files.same_as(self._seen):
            return
        started = time.time_ns()
        look = files.look()
        stamps = [file for file in look.files if _is_followed(file.path)]
        found = {stamp.path: stamp for stamp in stamps}
        if found != self._disk:
            self._disk = found
        # What changed a moment ago may change again without showing it: look again next time.
        racy = any(is_racy(stamp.changed_at, started) for stamp in stamps)
        rows = [stamp[:5] for stamp in stamps]
        self._seen = None if racy else Seen(rows, look.folders, look.rules, started)


def _is_followed(path: str) -> bool:
    return language_of(path) != UNKNOWN or path.endswith(_SETTINGS)
