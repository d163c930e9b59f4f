"""The files of a workspace and their versions, looked at as cheaply as can be."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from foldline.backends.base.languages import UNKNOWN, language_of
from foldline.backends.files.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from foldline.backends.files.ignore import IgnoreRules
    from foldline.backends.files.listing import Folder
    from foldline.backends.files.local import LocalFileBackend
    from foldline.backends.files.walk import FileStamp

# What configures compilers and language servers without being in a language.
_SETTINGS = (".cfg", ".conf", ".ini", ".mod", ".txt", ".work")
# How long a walk waits for what is known, and for it to be compared: then it lists by itself.
_PATIENCE = 1.0


class FileVersions:
    """The list of all files that every question reads, kept true by comparing times.

    Several threads share one look.
    """

    def __init__(self, files: LocalFileBackend) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._looked_at = 0
        self._as_of = -1.0
        self._disk: Mapping[str, FileStamp] = {}
        self._disk_of: Listing | None = None

    def listing(self, since: float, check: Callable[[], None] | None = None) -> Listing:
        """All files that aren't ignored, as of `since` or later; one object until one changes.

        `since` is a time of `time.monotonic`. What `check` raises ends the look.
        """
        with self._lock:
            return self._current(since, check)

    def on_disk(self, since: float) -> Mapping[str, FileStamp]:
        """The versions of code and settings by path, one object until one changes."""
        with self._lock:
            listing = self._current(since)
            if listing is not self._disk_of:
                found = {stamp.path: stamp for stamp in listing.files() if _is_followed(stamp.path)}
                self._disk_of = listing
                if found != self._disk:
                    self._disk = found
            return self._disk

    def known(self, since: float) -> Listing | None:
        """The same where that takes a moment; None where the disk is to be walked."""
        if not self._lock.acquire(timeout=_PATIENCE):
            return None
        try:
            end = time.monotonic() + _PATIENCE
            return self._compared(since, lambda: time.monotonic() < end)
        finally:
            self._lock.release()

    def last_paths(self) -> Iterator[str]:
        """The files as they were last known, which takes no look; none if they never were."""
        listing = self._listing
        return iter(()) if listing is None else (stamp.path for stamp in listing.files())

    def keeping(self, folders: Iterator[Folder], rules: IgnoreRules) -> Iterator[Folder]:
        """The folders of a walk, which are known once it has come to its end."""
        as_of, looked_at = time.monotonic(), time.time_ns()
        found = {}
        for folder in folders:
            found[folder.path] = folder
            yield folder
        if self._lock.acquire(blocking=False):
            try:
                if as_of > self._as_of:
                    listing = Listing(found, rules.above, rules.versions, tuple(rules.problems))
                    self._know(listing, as_of, looked_at)
            finally:
                self._lock.release()

    def looked_at(self, listing: Listing) -> int | None:
        """When the listing was last made or compared, in nanoseconds; None if it is another now."""
        with self._lock:
            return self._looked_at if self._listing is listing else None

    def recall(self, listing: Listing, looked_at: int) -> None:
        """Begin with what was known at `looked_at`, in another process, unless more is known."""
        with self._lock:
            if self._listing is None:
                self._listing, self._looked_at = listing, looked_at

    def _current(self, since: float, check: Callable[[], None] | None = None) -> Listing:
        known = self._compared(since)
        if known is None:
            as_of, looked_at = time.monotonic(), time.time_ns()
            known = self._know(self._files.list_all(check), as_of, looked_at)
        return known

    def _compared(self, since: float, goes_on: Callable[[], bool] = lambda: True) -> Listing | None:
        """Return the known listing, updated if possible; None if it must be made anew."""
        if self._listing is None or self._as_of >= since:
            return self._listing
        as_of, looked_at = time.monotonic(), time.time_ns()
        mended = self._files.mended(self._listing, self._looked_at, goes_on)
        return None if mended is None else self._know(mended, as_of, looked_at)

    def _know(self, listing: Listing, as_of: float, looked_at: int) -> Listing:
        if self._listing is None or listing != self._listing:
            self._listing = listing
        self._as_of, self._looked_at = as_of, looked_at
        return self._listing


def _is_followed(path: str) -> bool:
    return language_of(path) != UNKNOWN or path.endswith(_SETTINGS)
