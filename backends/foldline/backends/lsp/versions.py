"""The versions of all files of a workspace, looked at as cheaply as can be."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from foldline.backends.files.local import LocalFileBackend
from foldline.backends.files.walk import Seen, is_racy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.backends.files.base import BaseFileBackend
    from foldline.backends.files.walk import FileStamp


class FileVersions:
    """What tells whether any file has changed; for one thread at a time."""

    def __init__(self, files: BaseFileBackend) -> None:
        self._files = files
        self._seen: Seen | None = None
        self._disk: Mapping[str, FileStamp] = {}
        self._last: Mapping[str, FileStamp] = {}

    def now(self) -> Mapping[str, FileStamp]:
        """The versions by path, open buffers above the disk: one object until one changes."""
        disk = self._look()
        overlays = {
            path: stamp
            for path in self._files.overlay_paths()
            if (stamp := self._files.stamp(path)) is not None
        }
        found = {**disk, **overlays} if overlays else disk
        if found is not self._last and found != self._last:
            self._last = found
        return self._last

    def _look(self) -> Mapping[str, FileStamp]:
        files = self._files
        if not isinstance(files, LocalFileBackend) or files.no_ignore:
            return {stamp.path: stamp for stamp in files.walk() if not stamp.overlay}
        if self._seen is not None and files.same_as(self._seen):
            return self._disk
        started = time.time_ns()
        look = files.look()
        self._disk = {stamp.path: stamp for stamp in look.files}
        # What changed a moment ago may change again without showing it: look again next time.
        racy = any(is_racy(stamp.changed_at, started) for stamp in look.files)
        rows = [(each.path, each.size, each.mtime_ns, each.ctime_ns, each.inode)
                for each in look.files]  # fmt: skip
        self._seen = None if racy else Seen(rows, look.folders, look.rules, started)
        return self._disk
