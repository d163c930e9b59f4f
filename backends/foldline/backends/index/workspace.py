"""The index of one workspace: built in the background, mended before each answer."""

from __future__ import annotations

import contextlib
import logging
import math
import sqlite3
import threading
import time
from concurrent.futures import Future
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from foldline.backends.base.caches import private_folder
from foldline.backends.base.languages import CODE, TEXT, is_indexed, is_text, kind_of
from foldline.backends.base.waiting import result_of, waits
from foldline.backends.errors import (
    ArtefactError,
    FileTooLargeError,
    PathError,
)
from foldline.backends.files.listing import is_racy
from foldline.backends.index.helping import helpers_for, words_of_files
from foldline.backends.index.postings import corpus_of, with_buffers
from foldline.backends.index.reading import FileReader, are_many
from foldline.backends.index.store import (
    TEXT_NOTE,
    KnownFile,
    Part,
    StaleStoreError,
    Store,
    index_location,
)
from foldline.backends.index.words import content_key
from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from foldline.backends.files.listing import FileStamp, Listing
    from foldline.backends.files.local import LocalFileBackend
    from foldline.backends.index.postings import Corpus
    from foldline.backends.index.segments import Postings

    Progress = Callable[[int, int], None]
    # The paths of files that are gone, and those to read.
    _Differences = tuple[list[str], list[FileStamp]]

logger = logging.getLogger(__name__)
DEFAULT_PATIENCE = 0.8
# A question about words reads what isn't indexed yet; that takes little longer than to wait.
_WORDS_PATIENCE = 0.15
# After that, a search goes on to wait if the index is likely to be built in time; and a question
# about words looks again at what is written.
_GLANCE_SECONDS = 0.1
# How many times its patience an answer waits that would miss code.
_UTMOST = 4
# The words of texts wait for a question that needs them, or for quiet.
_QUIET_SECONDS = 1.0
_Found = TypeVar("_Found")
_TOO_LARGE = "over the size limit"
# Files whose words are written at once: other threads and processes see them from then on. With
# fewer, a question looks into more segments; with more, they take more memory.
_BATCH = 4_000
# For more files, all contents that are known are looked up at once.
_FEW = 50
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
        self._files = files
        self._reader = FileReader(files)
        self._report = progress
        self._given_location = location
        self._patience = patience
        self._store: Store | None = None
        # Held while the index is brought up to date; `_state` guards the fields for moments only.
        self._lock = threading.RLock()
        self._state = threading.RLock()
        # The files whose words the index has, and those that it has kept for another process.
        self._listing: Listing | None = None
        self._kept: Listing | None = None
        self._corpus: tuple[object, Corpus] = (None, corpus_of(()))
        # The times as of which code, and everything, is in the index.
        self._as_of = {CODE: -1.0, TEXT: -1.0}
        self._version = -1
        # What the last question is about, so that a look at the disk is for all of it.
        self._look = CODE
        self._progress = (0, 0)
        self._began = 0.0
        self._thread: threading.Thread | None = None
        self._built: dict[int, Future[None]] = {}
        self._closed = False
        self._cancel = threading.Event()
        # Set when a question waits for more than the words of texts, and when one waits for these.
        self._hurry = threading.Event()
        self._wanted = threading.Event()
        self._failure: Exception | None = None
        self._comparing = threading.Lock()
        self._differences: dict[int, tuple[object, object, int, _Differences]] = {}
        # What the last question about a word read, from when on: its parts ask again.
        self._last_read: tuple[object, float, dict[str, bool | None]] = (None, 0.0, {})
        # An earlier process left the index unfinished; None until that is known.
        self._was_left: bool | None = None
        self.trouble = ""

    @cached_property
    def location(self) -> Path:
        """The index file: decided when it's first needed, as files of git are read for it."""
        return self._given_location or index_location(self._files.root)

    def start(
        self, progress: Progress | None = None, *, since: float | None = None, kind: int = CODE
    ) -> None:
        """Bring the index up to date in the background; `progress` replaces our own.

        Unless `kind` is `TEXT`, texts are looked at after a while, if anything else has changed.
        """
        since = time.monotonic() if since is None else since
        with self._state:
            if self._built and not self._built[CODE].done():
                if kind == TEXT:
                    self._wanted.set()
                return
            if self._built and not self._built[TEXT].done():
                self._hurry.set()
                self._wanted.set()
            self._cancel.clear()
            self._closed = False
            self._failure = None
            self._progress = (0, 0)
            self._wanted = threading.Event()
            if kind == TEXT:
                self._wanted.set()
            self._built = {CODE: Future(), TEXT: Future()}
            for built in self._built.values():
                # No single waiter may cancel it.
                built.set_running_or_notify_cancel()
            self._thread = threading.Thread(
                target=self._run,
                args=(self._built, self._wanted, progress or self._report, since),
                name="foldline-index",
                daemon=True,
            )
            self._thread.start()

    def cancel(self) -> None:
        """Stop building; what was read so far stays in the index."""
        self._cancel.set()
        self._wanted.set()
        self._reader.go_on()

    def wait(self, timeout: float | None = None, kind: int = TEXT) -> bool:
        """Return whether the build in the background ended before the timeout; or that of code."""
        if not self._built:
            return True
        built = self._built[kind]
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

    def refresh(
        self,
        progress: Progress | None = None,
        *,
        since: float | None = None,
        has_code: Callable[[], threading.Event] | None = None,
    ) -> None:
        """Bring the index up to date, as of now or of `since`, before returning.

        `has_code` is called before texts are read, which waits for the event that it returns.

        Raises:
            CancelledError: when `cancel` was called meanwhile.
        """
        since = time.monotonic() if since is None else since
        with self._lock:
            self._hurry.clear()
            for _ in range(_ATTEMPTS):
                store = self._opened()
                try:
                    self._refresh(store, progress, since, has_code)
                    break
                except sqlite3.Error as error:
                    self._give_up_file(store, error)
            else:
                self._refresh(self._opened(), progress, since, has_code)

    @waits
    async def files_with(
        self, word: str, *, since: float | None = None, defined: bool = False
    ) -> Candidates:
        """The files that hold `word`, open buffers included; or those that seem to define it.

        As of now, or of `since` or later, where the question was asked at that `time.monotonic`.
        What the index lacks while it's being built is read; if that takes too long, the coverage
        says so.
        """
        paths, unread, coverage = await self._holding(word, CODE, since, defined=defined)
        notes: list[str] = []
        for why, left_out in (("over the size limit", unread), ("not readable", self._refused())):
            notes += [f"{path} is {why} and was not searched" for path in left_out[:3]]
            notes += [f"and {len(left_out) - 3} more that are {why}"] if len(left_out) > 3 else []
        paths.update(() if defined else self._overlays())
        return Candidates(tuple(sorted(paths)), coverage, tuple(notes))

    def _refused(self) -> list[str]:
        """The code that the system refuses to read, without open buffers and what is gone.

        Then the folders that it refuses to list in full.
        """
        refused = {path for path in self._reader.refused.copy() if kind_of(path) == CODE}
        refused.difference_update(self._overlays() if refused else ())
        last_paths = self._files.versions.last_paths() if refused else ()
        return [*sorted(refused.intersection(last_paths)), *self._files.versions.last_refused()]

    @waits
    async def texts_with(self, word: str, *, since: float | None = None) -> Candidates:
        """The files that aren't code and hold `word`, open buffers included.

        The notes are the paths of those that are too large to tell.
        """
        holding, unread, coverage = await self._holding(word, TEXT, since)
        paths = {*holding, *filter(is_text, self._files.overlay_paths())}
        return Candidates(tuple(sorted(paths)), coverage, tuple(unread))

    async def _holding(
        self, word: str, kind: int, since: float | None, *, defined: bool = False
    ) -> tuple[set[str], list[str], str]:
        """The files of a kind that hold the word, those that are too large to tell; coverage."""
        since = time.monotonic() if since is None else since
        note = _TOO_LARGE if kind == CODE else TEXT_NOTE + _TOO_LARGE
        # After uses in code, those in texts are asked about: one look is for both.
        self._look = CODE if defined else TEXT
        # To miss code is worse than to wait.
        end, is_last = since + _UTMOST * (self._patience or 0), kind == TEXT
        asked, patience = (word, kind, defined), _WORDS_PATIENCE
        with self._state:
            if self._last_read[0] != asked or self._last_read[1] < since:
                self._last_read = asked, time.monotonic(), {}
            read = self._last_read[2]
        while True:
            coverage = await self._current(since, kind, patience)
            # Before the index is asked: what is written meanwhile is read twice, and not missed.
            unread = [] if coverage == COMPLETE else self._unread(kind, since)
            holding = self._lookup(lambda store: store.files_with(word, defined=defined))
            paths = {path for path in holding if kind_of(path) == kind}
            large = {*self._lookup(lambda store: store.noted(note))}
            if self._complete(paths, large, word, unread, since, read=read, defined=defined):
                return paths, sorted(large), COMPLETE
            if is_last:
                return paths, sorted(large), coverage
            is_last = time.monotonic() > end or self._failure is not None
            patience = time.monotonic() - since + _GLANCE_SECONDS

    def _complete(
        self,
        paths: set[str],
        large: set[str],
        word: str,
        unread: list[FileStamp] | None,
        since: float,
        *,
        read: dict[str, bool | None],
        defined: bool = False,
    ) -> bool:
        """Put right by reading what the index doesn't know yet; False if that takes too long.

        What was found in a file is kept in `read`, None for a large one: it isn't read again.
        """
        if unread is None:
            return False
        self._reader.find_word(word, unread, since, defined=defined, found=read)
        read_now = [(stamp.path, read.get(stamp.path, False)) for stamp in unread]
        paths.difference_update(path for path, has in read_now if not has)
        paths.update(path for path, has in read_now if has)
        large.update(path for path, has in read_now if has is None)
        return all(stamp.path in read for stamp in unread)

    def last_defining(
        self, word: str, within: Collection[str] | None = None, since: float | None = None
    ) -> list[str]:
        """The files that seemed to define `word` when last indexed: a hint that takes no look.

        While the index is being built, what it lacks is read, or what it lacks of those `within`.
        """
        since, defining = time.monotonic() if since is None else since, set[str]()
        is_building = bool(self._built) and not self._built[CODE].done()
        unread = self._unread(CODE, since) if is_building else []
        if unread and within is not None:
            unread = [stamp for stamp in unread if stamp.path in within]
        self.recall()
        # An index that isn't complete has no list of files, but words.
        if self._store is not None:
            defining.update(self._lookup(lambda store: store.files_with(word, defined=True)))
        self._complete(defining, set(), word, unread, since, read={}, defined=True)
        return sorted(defining)

    def last_holding(self, word: str) -> set[str]:
        """The files that held `word` when last indexed, as far as they are known."""
        return {*self._lookup(lambda store: store.files_with(word))} if self.recall() else set()

    def last_defined(self) -> Iterator[str]:
        """The names that seemed to be defined when last indexed, without a look at the files."""
        names = self._lookup(Store.defined_names) if self.recall() else ()
        return (name.decode("utf-8", "replace") for name in names)

    @waits
    async def files_without(
        self, parts: Collection[str], *, since: float | None = None
    ) -> set[str]:
        """Indexed files that hold no word with one of the ASCII `parts` in it.

        None of them where the index isn't built: to search all files takes less.
        """
        if not parts or not self.recall():
            return set()
        since = time.monotonic() if since is None else since
        left = [self._unread(kind, since) for kind in (TEXT, CODE)]
        # To read many files for it would slow down the search, which reads them, too.
        if any(count is None or are_many(count) for count in left):
            return set()
        if any(left) and await self._current(since, TEXT, _WORDS_PATIENCE) != COMPLETE:
            return set()
        return self._lookup(lambda store: store.files_without(parts)) - {*self._overlays()}

    def recall(self) -> bool:
        """Begin with the list of files that an index kept; returns False where there is none."""
        if self._kept is None and (self._store is not None or self.location.exists()):
            # What is wrong with the file is for the next update of the index to find.
            with contextlib.suppress(sqlite3.Error):
                self._recall_from(self._opened())
        return self._kept is not None

    def _recall_from(self, store: Store) -> None:
        if self._kept is None and (kept := store.listing()) is not None:
            self._kept = kept[0]
            self._files.versions.recall(*kept)
        elif self._was_left is None:
            self._was_left = bool(store.files())

    @waits
    async def look_up(
        self,
        terms: Collection[str],
        *,
        words: Mapping[str, float] = MappingProxyType({}),
        within: Collection[str] | None = None,
        since: float | None = None,
    ) -> tuple[Corpus, dict[str, list[Postings]], str]:
        """The files with their lengths, the postings of `terms`, and how complete both are.

        Of open buffers, it is their text that counts. Of files that aren't indexed yet, those count
        that have the rarest of the question's `words`, which are in lower case and have weights;
        none but those `within` are read for it.
        """
        since, self._look = time.monotonic() if since is None else since, CODE
        coverage = await self._current(since, CODE, time.monotonic() - since + _GLANCE_SECONDS)
        if coverage != COMPLETE and (self._was_left or self._ends_in_time(since)):
            # The answer before it was partial: now it takes the time to be complete.
            patience = math.inf if self._was_left else self._patience
            coverage = await self._current(since, CODE, patience)
        unread = None if coverage == COMPLETE else self._unread(CODE, since)
        if unread is not None and within is not None:
            unread = [stamp for stamp in unread if stamp.path in within]
        with self._state:
            version, corpus = self._corpus
        version, rows, postings = self._lookup(lambda store: store.postings(terms, version))
        if rows is not None:
            corpus = corpus_of(rows)
            with self._state:
                self._corpus = version, corpus
        texts: dict[str, bytes] = {}
        if unread is not None:
            texts = self._reader.likely(unread, words, since)
            coverage = COMPLETE if len(texts) == len(unread) else coverage
        texts |= {path: self._files.load(path).parse_data for path in self._overlays()}
        if texts:
            corpus, postings = with_buffers(corpus, postings, terms, texts)
        return (
            corpus,
            {term: of_term for term, of_term in postings.items() if corpus.has(of_term)},
            coverage,
        )

    def _unread(self, kind: int, since: float) -> list[FileStamp] | None:
        """The files of a kind that aren't in the index as they are; None if that takes too long."""
        listing = self._files.versions.known(since, max(kind, self._look))
        if listing is None:
            return None
        return [*self._lookup(lambda store: self._compared(store, listing, kind))[1]]

    def _compared(self, store: Store, listing: Listing, kind: int) -> _Differences:
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

    def vocabulary(self, parts: Collection[str]) -> list[str]:
        """The terms that hold one of the parts, in some texts with a line for each."""
        return self._lookup(lambda store: store.vocabulary(parts))

    def _overlays(self) -> list[str]:
        return [path for path in self._files.overlay_paths() if is_indexed(path)]

    def outline(self, key: bytes) -> str | None:
        """A kept outline by its content's key."""
        return self._attempt(lambda store: store.outline(key))

    def keep_outline(self, key: bytes, outline: str) -> None:
        """Keep an outline for later processes."""
        self._attempt(lambda store: store.keep_outline(key, outline))

    def _attempt(self, work: Callable[[Store], _Found]) -> _Found | None:
        store = self._opened()
        try:
            return work(store)
        except sqlite3.Error as error:
            # The file stays good while another process writes it.
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
                self._give_up_file(store, error)
            return None

    # Building

    def _run(
        self,
        built: Mapping[int, Future[None]],
        wanted: threading.Event,
        progress: Progress | None,
        since: float,
    ) -> None:
        def has_code() -> threading.Event:
            if not built[CODE].done():
                built[CODE].set_result(None)
            return wanted

        try:
            self.refresh(progress, since=since, has_code=has_code)
        except Exception as error:
            if not isinstance(error, CancelledError):
                logger.exception("the index could not be brought up to date")
            self._failure = error
        finally:
            if self._closed:
                self._close_store()
            for future in built.values():
                if not future.done():
                    future.set_result(None)
            done, total = self._progress
            if progress is not None and done < total:
                progress(total, total)

    def _refresh(
        self,
        store: Store,
        progress: Progress | None,
        since: float,
        has_code: Callable[[], threading.Event] | None,
    ) -> None:
        versions = self._files.versions
        version = store.version()
        if self._listing is None or version != self._version:
            self._listing, self._version = None, version
            self._recall_from(store)
        if self._reader.reads_more():
            self._listing = None
        look = TEXT if has_code is None else self._look
        listing = versions.listing(since, self._check_cancelled, look)
        is_racy = False
        if listing is not self._listing:
            is_racy = self._read_changed(store, listing, CODE, progress)
        news = self._news(listing)
        self._as_of[CODE] = since
        self._was_left = False
        wanted = None if has_code is None else has_code()
        # Answers don't wait for it.
        if news:
            store.keep_listing(*news)
        if wanted is not None:
            if listing is self._listing and not wanted.is_set():
                return
            wanted.wait(_QUIET_SECONDS)
            self._check_cancelled()
        listing = versions.listing(since, self._check_cancelled)
        if listing is not self._listing:
            for kind in (CODE, TEXT):
                is_racy = self._read_changed(store, listing, kind, progress) or is_racy
            if self._hurry.is_set():
                return
            if news := self._news(listing):
                store.keep_listing(*news)
        self._as_of[TEXT] = since
        # What was read so soon after a change is read again.
        self._listing = None if is_racy else listing

    def _news(self, listing: Listing) -> tuple[Listing, int] | None:
        """The listing and its time if the next process is to begin with it, not with another."""
        looked_at = self._files.versions.looked_at(listing)
        if not looked_at or not (self._kept is None or listing.differs(self._kept, _MOST_STALE)):
            return None
        self._kept = listing
        return listing, looked_at

    def _read_changed(
        self, store: Store, listing: Listing, kind: int, progress: Progress | None
    ) -> bool:
        """Bring code or texts up to date; the words of texts make way for what is asked for.

        Returns whether some file changed so lately that its times may not show a change.
        """
        gone, stamps = self._compared(store, listing, kind)
        if gone:
            store.update(gone)
            self._differences.pop(kind, None)
        self._progress, self._began = (0, len(stamps)), time.monotonic()
        racy, total, are_texts = False, len(stamps), kind == TEXT

        def goes_on() -> bool:
            self._reader.make_way()
            return not (self._cancel.is_set() or (are_texts and self._hurry.is_set()))

        def read(stamp: FileStamp) -> tuple[KnownFile, bytes]:
            file = self._read(stamp)
            # What a helper doesn't answer is read twice.
            self._progress = (min(self._progress[0] + 1, total), total)
            if progress is not None:
                progress(*self._progress)
            return file

        while stamps and not (are_texts and self._hurry.is_set()):
            before, batch = self._progress, stamps[:_BATCH]
            # Each look into the file takes and gives back a lock.
            knows = store.has if len(stamps) < _FEW else store.contents().__contains__
            helpers = 0 if are_texts else helpers_for(batch)
            words = words_of_files(batch, read, knows, goes_on, helpers)
            files = [file for one in words for file in one.files]
            if files:
                parts = [Part(are_texts, one.keys, one.words) for one in words]
                if not store.update((), files, *parts):
                    self._progress = before
                    continue
                self._differences.pop(kind, None)
                racy = racy or any(
                    file.racy and file.stamp.path not in self._reader.refused for file in files
                )
            self._check_cancelled()
            stamps = stamps[_BATCH:]
        return racy

    def _check_cancelled(self) -> None:
        if self._cancel.is_set():
            raise CancelledError

    def _read(self, stamp: FileStamp) -> tuple[KnownFile, bytes]:
        racy = is_racy(stamp.changed_at, time.time_ns())
        note, key, data = TEXT_NOTE if is_text(stamp.path) else "", None, b""
        try:
            data = self._reader.bytes_of(stamp)
            key = content_key(stamp.path, data)
        except PathError as error:
            note += _TOO_LARGE if isinstance(error, FileTooLargeError) else error.reason
        return KnownFile(stamp, racy or stamp.path in self._reader.refused, note, key), data

    # Answering

    async def _current(self, since: float, kind: int, patience: float | None) -> str:
        """Bring code, or texts too, up to date as far as patience goes; say how far that is."""
        # The build in progress may have begun before `since`: then build again.
        for _ in range(_ATTEMPTS):
            if self._as_of[kind] >= since:
                return COMPLETE
            self.start(since=since, kind=kind)
            if not await self._is_built(kind, since, patience) or self._failure is not None:
                break
        cancelled = isinstance(self._failure, CancelledError)
        if self._failure is not None and not cancelled:
            raise self._failure
        if self._as_of[kind] >= since:
            return COMPLETE
        done, total = self._progress
        state = "indexing was cancelled" if cancelled else "indexing"
        if total:
            return f"partial: {state} ({done:,} of {total:,} files)"
        return f"partial: {state}{'' if cancelled else ' has just begun'}"

    async def _is_built(self, kind: int, since: float, patience: float | None) -> bool:
        """Return whether they were read in time; the wait counts from the question."""
        built = self._built[kind]
        left = None
        if self._patience is not None and patience is not None:
            left = min(_UTMOST * self._patience, patience) - (time.monotonic() - since)
        if left is None or left > 0:
            self._reader.go_on()
        with contextlib.suppress(TimeoutError):
            await result_of(built, left)
        return built.done()

    def _ends_in_time(self, since: float) -> bool:
        """Return whether code is likely to be read while a search waits, as far as one can tell."""
        now, (done, total) = time.monotonic(), self._progress
        left = (now - self._began) * (total - done) / done if done else 0
        return self._patience is None or now + left < since + self._patience

    def _lookup(self, question: Callable[[Store], _Found]) -> _Found:
        # The file may be closed under a question twice: by `close`, and by a build that ends later.
        for _ in range(_ATTEMPTS):
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

    def upkeep(self, work: Callable[[Store], _Found]) -> _Found:
        """The result of `work` with the index file; unlike an answer, it isn't to be had without.

        Raises:
            ArtefactError: The file can't be read or written.
        """
        with self._lock:
            store = self._opened()
            # Words may go that files had.
            self._listing = None
            self._differences.clear()
            try:
                if not self.trouble:
                    return work(store)
                reason = self.trouble
            except sqlite3.Error as error:
                reason = str(error)
        raise ArtefactError(f"{self.location}: {reason}: try again, or remove the file")

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
        location = self.location
        try:
            if self._given_location is None:
                private_folder(location.parent.name)
            location.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                return Store(location, self._files.root)
            except (StaleStoreError, sqlite3.DatabaseError) as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                _remove(location)
                return Store(location, self._files.root)
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
            self._as_of = dict.fromkeys(self._as_of, -1.0)
            corrupt = not isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError)
            if corrupt and not self.trouble:
                logger.warning("the index file was corrupt and is made anew: %s", error)
                _remove(self.location)
            else:
                self.trouble = f"the index is held in memory: {error}"


def _differences(store: Store, listing: Listing, kind: int) -> _Differences:
    """Of code or texts, the paths that the index has and the listing lacks, and what to read."""
    indexed = store.files(kind)
    changed = []
    for stamp in listing.files():
        if kind_of(stamp.path) == kind:
            file = indexed.pop(stamp.path, None)
            if file is None or file[:4] != stamp[1:5] or file[4]:
                changed.append(stamp)
    return [*indexed], changed


def _remove(location: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        location.with_name(location.name + suffix).unlink(missing_ok=True)
