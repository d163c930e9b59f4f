"""The files of a workspace that aren't ignored, and what tells their versions apart."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.languages import CODE, TEXT, UNKNOWN, language_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from foldline.backends.files.ignore import IgnoreRules
    from foldline.backends.files.local import LocalFileBackend

_SECOND_NS = 1_000_000_000
# Longer than the clock ticks that file systems take their times from.
_TICK_NS = 50_000_000
# Some file systems count whole seconds, or every second one.
LONGEST_TICK_NS = 2 * _SECOND_NS


class FileStamp(NamedTuple):
    """One version of a file: when two stamps are equal, so is the content.

    `overlay` is the number of the editor buffer's version, 0 for a file on disk.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0
    inode: int = 0
    overlay: int = 0

    @property
    def changed_at(self) -> int:
        """The time of the last change, if possible one that no program can set."""
        return self.mtime_ns if os.name == "nt" else self.ctime_ns


def is_racy(changed_at: int, looked_at: int) -> bool:
    """Return whether a change after the look may have left the times as they are."""
    coarse = changed_at % _SECOND_NS == 0
    return changed_at > looked_at - (LONGEST_TICK_NS if coarse else _TICK_NS)


def overlay_stamp(path: str, text: str, number: int) -> FileStamp:
    """The stamp of an open buffer in its version `number`."""
    return FileStamp(path, len(text), 0, overlay=number)


class Folder(NamedTuple):
    """The entries of a folder, sorted by name.

    `changed_at` is its time from before it was listed, so that what comes later shows as a change.
    `hidden` are the paths that are ignored, and `rules` the names of its ignore files.
    """

    path: str
    changed_at: int
    files: tuple[FileStamp, ...]
    folders: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """True if the system kept some or all of its entries back."""
        return self.changed_at == 0

    @property
    def shown(self) -> str:
        """Its path with a slash."""
        return f"{self.path or '.'}/"


class Listing(NamedTuple):
    """All folders by path, each before those in it.

    `above` and `rules` are the versions of the ignore files that were looked for outside the
    workspace, and of those found in it; `problems` has a sentence for each thing left out of them.
    """

    folders: Mapping[str, Folder]
    above: Mapping[str, str]
    rules: Mapping[str, str]
    problems: tuple[str, ...]

    def files(self) -> Iterator[FileStamp]:
        """Every file."""
        return chain.from_iterable(folder.files for folder in self.folders.values())

    def differs(self, other: Listing, most: int) -> bool:
        """Return whether more than `most` folders aren't the very ones of the other listing."""
        others = other.folders
        different = sum(others.get(path) is not folder for path, folder in self.folders.items())
        return different > most or self[1:] != other[1:]

    def below(self, start: str, *, by_level: bool = False) -> Iterator[Folder]:
        """A folder and those below it."""
        return in_order(start, self.folders.__getitem__, by_level=by_level)


def in_order(
    start: str, listed: Callable[[str], Folder], *, by_level: bool = False
) -> Iterator[Folder]:
    """A folder and those below it: by name, or all of a level before those below."""
    waiting = deque([start])
    while waiting:
        folder = listed(waiting.popleft() if by_level else waiting.pop())
        yield folder
        waiting.extend(folder.folders if by_level else reversed(folder.folders))


def encode_listing(listing: Listing) -> str:
    """The listing as JSON; times are relative, so that it compresses well."""
    rows = []
    for path, changed_at, files, *others in listing.folders.values():
        stamps = [
            [name_of(path), size, ctime - changed_at, ctime - mtime, inode]
            for path, size, mtime, ctime, inode, _ in files
        ]
        rows.append([path, changed_at, stamps, *others])
    return json.dumps([rows, *listing[1:]], separators=(",", ":"))


def decode_listing(text: str) -> Listing | None:
    """The listing of `encode_listing`'s JSON; None for anything else."""
    try:
        rows, above, rules, problems = json.loads(text)
        folders = {}
        for path, changed_at, files, below, hidden, names in rows:
            prefix = f"{path}/" if path else ""
            stamps = tuple(
                FileStamp(prefix + name, size, changed_at + after - age, changed_at + after, inode)
                for name, size, after, age, inode in files
            )
            folders[path] = Folder(
                path, changed_at, stamps, tuple(below), tuple(hidden), tuple(names)
            )
        listing = Listing(folders, dict(above), dict(rules), tuple(problems))
    except (ValueError, TypeError):
        return None
    listed = chain([""], *(folder.folders for folder in folders.values()))
    return listing if all(path in folders for path in listed) else None


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


# Files that configure compilers and language servers, in no language of their own.
_SETTINGS = (".cfg", ".conf", ".ini", ".mod", ".txt", ".work")
# How long a walk waits for what is known, and for it to be compared: then it lists by itself.
_PATIENCE = 1.0


class FileVersions:
    """The list of all files that every query reads, kept true by comparing times.

    Several threads share one look. Where `kind` is `CODE`, that leaves out all files but code: the
    list names them, with the times of some earlier moment, or 0. Data is often most of a workspace.
    """

    def __init__(self, files: LocalFileBackend) -> None:
        self._files = files
        # Held during a look at the disk, so that other callers wait for it and share it. `known`
        # and `keeping` give up instead: the caller's own walk takes as long. A listing never
        # changes once it is made, so the last one is read without the lock.
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._looked_at = 0
        self._as_of = {CODE: -1.0, TEXT: -1.0}
        self._disk: Mapping[str, FileStamp] = {}
        self._disk_of: Listing | None = None
        # The last walk; it or the listing, once a question has waited for it in vain.
        self._walk: object = None
        self._too_long: object = None

    def listing(
        self, since: float, check: Callable[[], None] | None = None, kind: int = TEXT
    ) -> Listing:
        """All files that aren't ignored, as of `since` or later; one object until one changes.

        `since` is a time of `time.monotonic`. What `check` raises ends the look.
        """
        with self._lock:
            return self._current(since, check, kind)

    def on_disk(self, since: float) -> Mapping[str, FileStamp]:
        """The versions of code and settings by path, one object until one changes."""
        with self._lock:
            listing = self._current(since)
            if listing is not self._disk_of:
                stamps = {
                    one.path: one
                    for one in listing.files()
                    if language_of(one.path) != UNKNOWN or one.path.endswith(_SETTINGS)
                }
                self._disk_of = listing
                if stamps != self._disk:
                    self._disk = stamps
            return self._disk

    def known(self, since: float, kind: int = TEXT) -> Listing | None:
        """The same where that takes a moment; None where the disk is to be walked."""
        walk = self._walk
        # One question asks many times.
        if not self._lock.acquire(timeout=0 if walk and walk is self._too_long else _PATIENCE):
            self._too_long = walk
            return None
        try:
            if self._listing is not None and self._listing is self._too_long:
                return None
            end = time.monotonic() + _PATIENCE
            listing = self._compared(since, lambda: time.monotonic() < end, kind)
            if listing is None and time.monotonic() > end:
                self._too_long = self._listing
            return listing
        finally:
            self._lock.release()

    def last_paths(self) -> Iterator[str]:
        """The files as they were last known, which takes no look; none if they never were."""
        listing = self._listing
        return iter(()) if listing is None else (stamp.path for stamp in listing.files())

    def last_refused(self) -> list[str]:
        """The folders that the system refused to list in full, as `last_paths`."""
        listing = self._listing
        folders = () if listing is None else listing.folders.values()
        return [folder.shown for folder in folders if folder.is_refused]

    def keeping(self, folders: Iterator[Folder], rules: IgnoreRules, kind: int) -> Iterator[Folder]:
        """The folders of a walk, which are known once it has come to its end."""
        as_of, looked_at = time.monotonic(), time.time_ns()
        kept = {}
        for folder in folders:
            kept[folder.path] = folder
            yield folder
        if self._lock.acquire(blocking=False):
            try:
                if as_of > self._as_of[CODE]:
                    listing = Listing(kept, rules.above, rules.versions, tuple(rules.problems))
                    self._know(listing, as_of, looked_at, kind, anew=True)
            finally:
                self._lock.release()

    def looked_at(self, listing: Listing) -> int | None:
        """The time of the last look at this listing, in nanoseconds; None if it is outdated."""
        with self._lock:
            return self._looked_at if self._listing is listing else None

    def recall(self, listing: Listing, looked_at: int) -> None:
        """Begin with what was known at `looked_at`, in another process, unless more is known."""
        with self._lock:
            if self._listing is None:
                self._listing, self._looked_at = listing, looked_at

    def _current(
        self, since: float, check: Callable[[], None] | None = None, kind: int = TEXT
    ) -> Listing:
        current = self._compared(since, kind=kind)
        if current is None:
            as_of, looked_at = time.monotonic(), time.time_ns()
            self._walk = object()
            listing = self._files.list_all(check, kind)
            current = self._know(listing, as_of, looked_at, kind, anew=True)
        return current

    def _compared(
        self, since: float, goes_on: Callable[[], bool] = lambda: True, kind: int = TEXT
    ) -> Listing | None:
        """Return the known listing, updated if possible; None if all must be listed again."""
        if self._listing is None or self._as_of[kind] >= since:
            return self._listing
        as_of, looked_at = time.monotonic(), time.time_ns()
        mended = self._files.mended(self._listing, self._looked_at, goes_on, kind)
        return None if mended is None else self._know(mended, as_of, looked_at, kind)

    def _know(
        self, listing: Listing, as_of: float, looked_at: int, kind: int, *, anew: bool = False
    ) -> Listing:
        if anew:
            # Unless it lists texts too, it has no sizes and times of them.
            self._as_of[TEXT] = -1.0
        if self._listing is None or listing != self._listing:
            self._listing = listing
        self._too_long = None
        # Code and texts are looked at together, or code alone.
        self._as_of |= dict.fromkeys(range(kind + 1), as_of)
        self._looked_at = looked_at
        return self._listing
