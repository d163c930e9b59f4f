"""The index file, and what it is known to have of a workspace's files, as of when.

The file is closed, open, or given up: then the store is in memory, and `trouble` says why. Any
thread may open, close or give it up, under `_opening`; compare it with a listing, under
`_comparing`; and recall what it kept, which does no harm twice. Only the holder of `IndexBuilder`'s
lock says what is known, by `listing` and `as_of`; opening forgets the first, giving up the other.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from foldline.backends.base.caches import private_folder
from foldline.backends.base.languages import CODE, TEXT, kind_of
from foldline.backends.index.database import StaleStoreError
from foldline.backends.index.family import index_location
from foldline.backends.index.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.backends.files.listing import FileStamp, Listing
    from foldline.backends.files.local import LocalFileBackend

    # The paths of files that are gone, and those to read.
    Differences = tuple[list[str], list[FileStamp], int]

logger = logging.getLogger(__name__)
# Folders of which another version is kept: each is listed by the next process.
_MOST_STALE = 20


class Freshness:
    """The index file with what is known of it.

    Attributes:
        trouble: Why the index is held in memory.
        listing: The files whose words the index has; None where some may be missing.
        as_of: The times as of which code, and everything, is in the index.
        look: The kind that the last question is about, so that a look at the disk is for all of it.
        was_left: An earlier process left the index unfinished; None until that is known.
    """

    def __init__(self, files: LocalFileBackend, location: Path | None) -> None:
        self.trouble = ""
        self.listing: Listing | None = None
        self.as_of = {CODE: -1.0, TEXT: -1.0}
        self.look = CODE
        self.was_left: bool | None = None
        self.files = files
        self._given_location = location
        self._store: Store | None = None
        self._opening = threading.RLock()
        self._version = -1
        # The files whose words the index has kept for another process.
        self._kept: Listing | None = None
        self._differences: dict[int, tuple[object, object, int, Differences]] = {}
        self._comparing = threading.Lock()

    @cached_property
    def location(self) -> Path:
        """The index file: decided when it's first needed, as files of git are read for it."""
        return self._given_location or index_location(self.files.root)

    @property
    def is_open(self) -> bool:
        return self._store is not None

    def opened(self) -> Store:
        with self._opening:
            if self._store is None:
                self._store = self._open()
                self.listing = self._kept = None
            return self._store

    def _open(self) -> Store:
        if self.trouble:
            return Store(None)
        location = self.location
        try:
            if self._given_location is None:
                private_folder(location.parent.name)
            location.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                return Store(location, self.files.root)
            except (StaleStoreError, sqlite3.DatabaseError) as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                _remove(location)
                return Store(location, self.files.root)
        except (OSError, sqlite3.Error) as error:
            self.trouble = f"the index is held in memory: {error}"
            return Store(None)

    def close(self) -> None:
        with self._opening:
            if self._store is not None:
                self._store.close()
                self._store = None

    def give_up(self, store: Store, error: sqlite3.Error) -> None:
        """Go on with a new file after the old one was corrupt, else in memory."""
        with self._opening:
            # Closed or given up by another thread meanwhile: its file may be as good as ever.
            if store is not self._store:
                return
            store.close()
            self._store = None
            self.as_of = dict.fromkeys(self.as_of, -1.0)
            corrupt = not isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError)
            if corrupt and not self.trouble:
                logger.warning("the index file was corrupt and is made anew: %s", error)
                _remove(self.location)
            else:
                self.trouble = f"the index is held in memory: {error}"

    def recall(self) -> bool:
        """Begin with the list of files that an index kept; returns False where there is none."""
        if self._kept is None and (self.is_open or self.location.exists()):
            # What is wrong with the file is for the next update of the index to find.
            with suppress(sqlite3.Error):
                self._recall_from(self.opened())
        return self._kept is not None

    def _recall_from(self, store: Store) -> None:
        if self._kept is None and (kept := store.listing()) is not None:
            self._kept = kept[0]
            self.files.versions.recall(*kept)
        elif self.was_left is None:
            self.was_left = bool(store.files())

    def notice_others(self, store: Store) -> None:
        """Rely on no listing after another process has written."""
        version = store.version()
        if self.listing is None or version != self._version:
            self.listing, self._version = None, version
            self._recall_from(store)

    def compared(self, store: Store, listing: Listing, kind: int) -> Differences:
        """The differences from the index; callers share one comparison until more is written."""
        with self._comparing:
            # Another process may have forgotten files that this one wrote.
            version, comparison = store.version(), self._differences.get(kind)
            if (
                comparison is None
                or (comparison[0] is not store or comparison[1] is not listing)
                or comparison[2] != version
            ):
                comparison = store, listing, version, _differences(store, listing, kind)
                self._differences[kind] = comparison
            return comparison[3]

    def forget_comparison(self, kind: int) -> None:
        """Compare anew, after files of this kind were written."""
        self._differences.pop(kind, None)

    def forget(self) -> None:
        """Rely on nothing: words may go that files had."""
        self.listing = None
        self._differences.clear()

    def news(self, listing: Listing) -> tuple[Listing, int] | None:
        """The listing and its time if the next process is to begin with it, not with another."""
        looked_at = self.files.versions.looked_at(listing)
        if not looked_at or not (self._kept is None or listing.differs(self._kept, _MOST_STALE)):
            return None
        self._kept = listing
        return listing, looked_at


def _differences(store: Store, listing: Listing, kind: int) -> Differences:
    """Of code or texts: paths that only the index has, what to read, and how many others are."""
    indexed = store.files(kind)
    changed, unchanged = [], 0
    for stamp in listing.files():
        if kind_of(stamp.path) == kind:
            file = indexed.pop(stamp.path, None)
            if file is None or file[:4] != stamp[1:5] or file[4]:
                changed.append(stamp)
            else:
                unchanged += 1
    return [*indexed], changed, unchanged


def _remove(location: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        location.with_name(location.name + suffix).unlink(missing_ok=True)
