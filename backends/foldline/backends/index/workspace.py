"""The index of one workspace: built in the background, mended before each answer."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from foldline.backends.base.waiting import result_of, waits
from foldline.backends.errors import FileTooLargeError, PathError
from foldline.backends.files.limits import TEXT_BYTES
from foldline.backends.files.listing import is_racy
from foldline.backends.index.location import index_location
from foldline.backends.index.postings import corpus_of, with_buffers
from foldline.backends.index.store import KnownFile, StaleStoreError, Store
from foldline.backends.index.words import NOTHING, Words, is_indexed, is_text, words_of
from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from foldline.backends.files.listing import FileStamp, Listing
    from foldline.backends.files.local import LocalFileBackend
    from foldline.backends.index.postings import Corpus
    from foldline.backends.index.segments import Postings

    Progress = Callable[[int, int], None]

logger = logging.getLogger(__name__)
DEFAULT_PATIENCE = 10.0
_Found = TypeVar("_Found")
_TOO_LARGE = "over the size limit"
# The beginning of the notes of files that aren't code.
_TEXT = "text "
# Files whose words are written at once: other threads and processes see them from then on.
_BATCH = 500
# How long `close` waits for a build to notice.
_CLOSE_SECONDS = 1.0
# The file as it is, a new one where it was corrupt; after that, memory.
_ATTEMPTS = 2
# Folders of which another version is kept: each is listed by the next process.
_MOST_STALE = 20


class Candidates(NamedTuple):
    """The files that may hold a word, and how far that can be relied on.

    `notes` names files whose words are not known, such as those over the size limit.
    """

    paths: tuple[str, ...]
    coverage: str
    notes: tuple[str, ...] = ()


class CancelledError(Exception):
    """The building of the index was cancelled."""


class WorkspaceIndex:
    """Answers which files hold a word, from an SQLite file outside the workspace.

    Before each answer the files' times are compared, so that a deleted, renamed or checked-out file
    is never answered stale; open buffers are always candidates. Where the index file cannot be
    used, the same index is held in memory, and `trouble` says why.

    `patience` is how many seconds an answer waits for the building; None waits for its end.
    `progress` gets the files done and in all, file by file, in the thread that builds; when it
    ends, however it does, both are the same.
    """

    def __init__(
        self,
        files: LocalFileBackend,
        location: Path | None = None,
        *,
        patience: float | None = DEFAULT_PATIENCE,
        progress: Progress | None = None,
    ) -> None:
        self._files = files
        self._report = progress
        self._location = location
        self._patience = patience
        self._store: Store | None = None
        # Held while the index is brought up to date; `_state` guards the fields for moments only.
        self._lock = threading.RLock()
        self._state = threading.RLock()
        # The files whose words the index has, and those that it has kept for another process.
        self._listing: Listing | None = None
        self._kept: Listing | None = None
        self._corpus: tuple[object, Corpus] = (None, corpus_of(()))
        self._as_of = -1.0
        self._version = -1
        self._progress = (0, 0)
        self._thread: threading.Thread | None = None
        self._built: Future[None] | None = None
        self._closed = False
        self._cancel = threading.Event()
        self._failure: Exception | None = None
        self.trouble = ""

    def start(self, progress: Progress | None = None, *, since: float | None = None) -> None:
        """Bring the index up to date in the background; `progress` replaces our own."""
        since = time.monotonic() if since is None else since
        with self._state:
            if self._built is not None and not self._built.done():
                return
            self._cancel.clear()
            self._closed = False
            self._failure = None
            self._progress = (0, 0)
            self._built = Future()
            # No single waiter may cancel it.
            self._built.set_running_or_notify_cancel()
            self._thread = threading.Thread(
                target=self._run,
                args=(self._built, progress or self._report, since),
                name="foldline-index",
                daemon=True,
            )
            self._thread.start()

    def cancel(self) -> None:
        """Stop building; what was read so far stays in the index."""
        self._cancel.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether the build in the background ended before the timeout."""
        built = self._built
        if built is None:
            return True
        with contextlib.suppress(TimeoutError):
            built.result(timeout)
        return built.done()

    def close(self) -> None:
        """Stop building and close the index file.

        A building that doesn't end soon, since a file system hangs, closes the file when it ends.
        """
        self.cancel()
        # `start` sets the thread and starts it while it holds this lock.
        with self._state:
            self._closed = True
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_CLOSE_SECONDS)
        if self._lock.acquire(timeout=_CLOSE_SECONDS):
            try:
                self._close_store()
            finally:
                self._lock.release()

    def _close_store(self) -> None:
        with self._state:
            if self._store is not None:
                self._store.close()
                self._store = None

    def refresh(self, progress: Progress | None = None, *, since: float | None = None) -> None:
        """Bring the index up to date, as of now or of `since`, before returning.

        Raises:
            CancelledError: when `cancel` was called meanwhile.
        """
        since = time.monotonic() if since is None else since
        with self._lock:
            for _ in range(_ATTEMPTS):
                store = self._opened()
                try:
                    self._refresh(store, progress, since)
                    break
                except sqlite3.Error as error:
                    self._give_up_file(store, error)
            else:
                self._refresh(self._opened(), progress, since)
            self._as_of = since

    @waits
    async def files_with(self, word: str, *, since: float | None = None) -> Candidates:
        """The files that hold `word`, open buffers included.

        As of now, or of `since` or later, where the question was asked at that `time.monotonic`.
        While the index is being built, waits as long as its patience and then answers from what is
        there, saying so.
        """
        coverage = await self._current(since)
        paths = filter(is_indexed, self._lookup(lambda store: store.files_with(word)))
        unread = self._lookup(lambda store: store.noted(_TOO_LARGE))
        notes = [f"{path} is over the size limit and was not searched" for path in unread[:3]]
        if len(unread) > 3:
            notes.append(f"and {len(unread) - 3} more files over the size limit")
        return Candidates(tuple(sorted({*paths, *self._overlays()})), coverage, tuple(notes))

    @waits
    async def texts_with(self, word: str, *, since: float | None = None) -> Candidates:
        """The files that aren't code and hold `word`, open buffers included.

        The notes are the paths of those that are too large to tell.
        """
        coverage = await self._current(since)
        paths = {*self._lookup(lambda store: store.files_with(word)), *self._files.overlay_paths()}
        unread = self._lookup(lambda store: store.noted(_TEXT + _TOO_LARGE))
        return Candidates(tuple(sorted(filter(is_text, paths))), coverage, tuple(unread))

    def last_defining(self, word: str) -> list[str]:
        """The files that seemed to define `word` when last indexed: a hint that takes no look."""
        if not self.recall():
            return []
        return self._lookup(lambda store: store.files_with(word, defined=True))

    def last_defined(self) -> Iterator[str]:
        """The names that seemed to be defined when last indexed, without a look at the files."""
        names = self._lookup(Store.defined_names) if self.recall() else ()
        return (name.decode("utf-8", "replace") for name in names)

    @waits
    async def files_without(
        self, parts: Collection[str], *, since: float | None = None
    ) -> set[str]:
        """Indexed files that hold no word with one of the ASCII `parts` in it.

        None of them where the index was never built: to search all files takes less.
        """
        if not parts or not self.recall() or await self._current(since) != COMPLETE:
            return set()
        return self._lookup(lambda store: store.files_without(parts)) - {*self._overlays()}

    def recall(self) -> bool:
        """Begin with the list of files that an index kept; returns False where there is none."""
        location = self._location or index_location(self._files.root)
        if self._kept is None and (self._store is not None or location.exists()):
            # What is wrong with the file is for the next update of the index to find.
            with contextlib.suppress(sqlite3.Error):
                self._recall_from(self._opened())
        return self._kept is not None

    def _recall_from(self, store: Store) -> None:
        if self._kept is None and (kept := store.listing()) is not None:
            self._kept = kept[0]
            self._files.versions.recall(*kept)

    @waits
    async def look_up(
        self, terms: Collection[str], *, since: float | None = None
    ) -> tuple[Corpus, dict[str, list[Postings]], str]:
        """The files with their lengths, the postings of `terms`, and how complete both are.

        Of open buffers, it is their text that counts.
        """
        coverage = await self._current(since)
        with self._state:
            version, corpus = self._corpus
        version, rows, postings = self._lookup(lambda store: store.postings(terms, version))
        if rows is not None:
            corpus = corpus_of(rows)
            with self._state:
                self._corpus = version, corpus
        overlays = {path: self._files.load(path).parse_data for path in self._overlays()}
        if overlays:
            corpus, postings = with_buffers(corpus, postings, terms, overlays)
        return corpus, {term: some for term, some in postings.items() if corpus.has(some)}, coverage

    def vocabulary(self) -> list[str]:
        """All terms, in some texts with a line for each."""
        return self._lookup(Store.vocabulary)

    def _overlays(self) -> list[str]:
        return [path for path in self._files.overlay_paths() if is_indexed(path)]

    def outline(self, key: bytes) -> str | None:
        """A kept outline by its content's key."""
        store = self._opened()
        try:
            return store.outline(key)
        except sqlite3.Error as error:
            self._give_up_file(store, error)
            return None

    def keep_outline(self, key: bytes, outline: str) -> None:
        """Keep an outline for later processes."""
        store = self._opened()
        try:
            store.keep_outline(key, outline)
        except sqlite3.Error as error:
            # The file stays good while another process writes it.
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
                self._give_up_file(store, error)

    # Building

    def _run(self, built: Future[None], progress: Progress | None, since: float) -> None:
        try:
            self.refresh(progress, since=since)
        except Exception as error:
            if not isinstance(error, CancelledError):
                logger.exception("the index could not be brought up to date")
            self._failure = error
        finally:
            if self._closed:
                self._close_store()
            built.set_result(None)
            done, total = self._progress
            if progress is not None and done < total:
                progress(total, total)

    def _refresh(self, store: Store, progress: Progress | None, since: float) -> None:
        versions = self._files.versions
        version = store.version()
        if self._listing is None or version != self._version:
            self._listing, self._version = None, version
            self._recall_from(store)
        listing = versions.listing(since, self._check_cancelled)
        if listing is self._listing:
            return
        wanted = {
            stamp.path: stamp
            for stamp in listing.files()
            if is_indexed(stamp.path) or is_text(stamp.path)
        }
        all_known = {file.stamp.path: file for file in store.files()}
        gone = [path for path in all_known if path not in wanted]
        changed = [
            stamp
            for path, stamp in wanted.items()
            if (known := all_known.get(path)) is None
            or known.racy
            or known.stamp != stamp
            # A version without this language wrote it.
            or known.note.startswith(_TEXT) != is_text(path)
        ]
        if gone:
            store.update(gone, ())
        is_racy = self._read_all(store, changed, progress)
        looked_at = versions.looked_at(listing)
        if looked_at and (self._kept is None or listing.differs(self._kept, _MOST_STALE)):
            store.keep_listing(listing, looked_at)
            self._kept = listing
        # What was read so soon after a change is read again.
        self._listing = None if is_racy else listing

    def _read_all(self, store: Store, stamps: list[FileStamp], progress: Progress | None) -> bool:
        """Return whether some file changed so lately that its times may not show a change."""
        racy = False
        batch: list[tuple[KnownFile, Words]] = []
        for done, stamp in enumerate(stamps, 1):
            if self._cancel.is_set():
                store.update((), batch)
                raise CancelledError
            batch.append(self._read(stamp))
            racy = racy or batch[-1][0].racy
            self._progress = (done, len(stamps))
            if len(batch) == _BATCH:
                store.update((), batch)
                batch.clear()
            if progress is not None:
                progress(done, len(stamps))
        if batch:
            store.update((), batch)
        return racy

    def _check_cancelled(self) -> None:
        if self._cancel.is_set():
            raise CancelledError

    def _read(self, stamp: FileStamp) -> tuple[KnownFile, Words]:
        racy = is_racy(stamp.changed_at, time.time_ns())
        kind = _TEXT if is_text(stamp.path) else ""
        try:
            if kind and stamp.size > TEXT_BYTES:
                raise FileTooLargeError(stamp.path, stamp.size, TEXT_BYTES)
            words = words_of(stamp.path, self._files.load_from_disk(stamp.path).data)
        except FileTooLargeError:
            return KnownFile(stamp, racy, kind + _TOO_LARGE), NOTHING
        except PathError as error:
            return KnownFile(stamp, racy, kind + error.reason), NOTHING
        return KnownFile(stamp, racy, kind), words

    # Answering

    async def _current(self, since: float | None = None) -> str:
        """Bring the index up to date as far as patience goes, and say how far that is."""
        since = time.monotonic() if since is None else since
        # The build in progress may have begun before `since`: then build again.
        for _ in range(_ATTEMPTS):
            if self._as_of >= since:
                return COMPLETE
            self.start(since=since)
            if not await self._is_built(since):
                done, total = self._progress
                return f"partial: indexing ({done:,} of {total:,} files)"
            if self._failure is not None:
                break
        if isinstance(self._failure, CancelledError):
            done, total = self._progress
            return f"partial: indexing was cancelled ({done:,} of {total:,} files)"
        if self._failure is not None:
            raise self._failure
        return COMPLETE

    async def _is_built(self, since: float) -> bool:
        """Return whether the index was built in time; the wait counts from the question."""
        left = self._patience
        if left is not None:
            left -= time.monotonic() - since
        if self._built is not None:
            with contextlib.suppress(TimeoutError):
                await result_of(self._built, left)
        return self._built is None or self._built.done()

    def _lookup(self, question: Callable[[Store], _Found]) -> _Found:
        store = self._opened()
        try:
            return question(store)
        except sqlite3.Error as error:
            self._give_up_file(store, error)
        # Whoever cancels the building is still answered, from what is there.
        with contextlib.suppress(CancelledError):
            self.refresh()
        return question(self._opened())

    # The file

    def _opened(self) -> Store:
        with self._state:
            if self._store is None:
                self._store = self._open()
                self._corpus = None, corpus_of(())
                self._listing = self._kept = None
            return self._store

    def _open(self) -> Store:
        if self.trouble:
            return Store(None)
        location = self._location or index_location(self._files.root)
        try:
            location.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._location is None:
                # An earlier version made it for all to read.
                with contextlib.suppress(OSError):
                    location.parent.chmod(0o700)
            try:
                return Store(location)
            except (StaleStoreError, sqlite3.DatabaseError) as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                _remove(location)
                return Store(location)
        except (OSError, sqlite3.Error) as error:
            self.trouble = f"the index is held in memory: {error}"
            return Store(None)

    def _give_up_file(self, store: Store, error: sqlite3.Error) -> None:
        """Go on with a new file after the old one was corrupt, else in memory."""
        with self._state:
            # Closed or given up by another thread meanwhile: its file may be as good as ever.
            if store is not self._store:
                return
            store.close()
            self._store = None
            self._corpus = None, corpus_of(())
            self._listing = self._kept = None
            self._as_of = -1.0
            corrupt = not isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError)
            if corrupt and not self.trouble:
                logger.warning("the index file was corrupt and is made anew: %s", error)
                _remove(self._location or index_location(self._files.root))
            else:
                self.trouble = f"the index is held in memory: {error}"


def _remove(location: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        location.with_name(location.name + suffix).unlink(missing_ok=True)
