"""The building of an index, in a thread of its own or in the caller's.

`State` is that of the last build in the background: CODE, then TEXTS, then IDLE, as before the
first; or CANCELLED or FAILED, until the next. In TEXTS it waits for quiet, or for a question about
texts; a question about code makes it hurry to its end, and starts the next. Any thread may start
or close it, under `_starting`, and cancel it or wait without a lock; only its own thread moves it
on. A thread that brings the index up to date, or keeps it in order, holds `_updating` meanwhile.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from concurrent.futures import Future
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.base.languages import CODE, TEXT, is_text
from foldline.backends.errors import ArtefactError, FileTooLargeError, PathError
from foldline.backends.files.listing import FileStamp, Listing, is_racy
from foldline.backends.index.reading import FileReader
from foldline.backends.index.segments import Building, Part
from foldline.backends.index.store import TEXT_NOTE, KnownFile, Store
from foldline.backends.index.words import content_key, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.backends.index.freshness import Freshness

    Progress = Callable[[int, int], None]

_Result = TypeVar("_Result")
logger = logging.getLogger(__name__)
TOO_LARGE = "over the size limit"
# The file as it is, a new one where it was corrupt; after that, memory.
ATTEMPTS = 2
# The words of texts wait for a question that needs them, or for quiet.
_QUIET_SECONDS = 1.0
# Files whose words are written at once: other threads and processes see them from then on. With
# fewer, a question looks into more segments; with more, they take more memory.
_BATCH = 4_000
# For more files, all contents that are known are looked up at once.
_FEW = 50
# How long `close` waits for a build to notice.
_CLOSE_SECONDS = 1.0


class CancelledError(Exception):
    """The building of the index was cancelled."""


class State(Enum):
    """The state of the last build in the background."""

    IDLE = auto()
    CODE = auto()
    TEXTS = auto()
    CANCELLED = auto()
    FAILED = auto()


class Build:
    """One build in the background; texts are `wanted` when a question waits for them."""

    def __init__(self) -> None:
        self.ends: dict[int, Future[None]] = {CODE: Future(), TEXT: Future()}
        self.wanted = threading.Event()
        self.failure: Exception | None = None
        for end in self.ends.values():
            # No single waiter may cancel it.
            end.set_running_or_notify_cancel()

    def end(self, *kinds: int) -> None:
        for kind in kinds:
            if not self.ends[kind].done():
                self.ends[kind].set_result(None)

    @property
    def state(self) -> State:
        if not self.ends[CODE].done():
            return State.CODE
        if not self.ends[TEXT].done():
            return State.TEXTS
        if self.failure is None:
            return State.IDLE
        return State.CANCELLED if isinstance(self.failure, CancelledError) else State.FAILED


class IndexBuilder:
    """Brings the index up to date.

    Attributes:
        reader: Reads files for the index, and those that an answer lacks.
        progress: The files done and in all, of code or of texts, whichever was begun last.
        began: When that was.
        known: The files of that kind that the index had before.
        build: The last one in the background.
    """

    def __init__(self, freshness: Freshness, report: Progress | None) -> None:
        self.freshness = freshness
        self.reader = FileReader(freshness.files)
        self.progress, self.began, self.known = (0, 0), 0.0, 0
        self._report = report
        self._updating, self._starting = threading.RLock(), threading.Lock()
        self.build = Build()
        self.build.end(CODE, TEXT)
        self._thread: threading.Thread | None = None
        self._closed = False
        self._cancel = threading.Event()
        # Set when a question waits for more than the words of texts.
        self._hurry = threading.Event()

    def start(self, progress: Progress | None, since: float, kind: int) -> None:
        with self._starting:
            state = self.build.state
            if kind == TEXT or state is State.TEXTS:
                self.build.wanted.set()
            if state is State.CODE:
                return
            if state is State.TEXTS:
                self._hurry.set()
            self._cancel.clear()
            self._closed = False
            self.progress = (0, 0)
            self.build = build = Build()
            if kind == TEXT:
                build.wanted.set()
            self._thread = threading.Thread(
                target=self._run,
                args=(build, progress or self._report, since),
                name="foldline-index",
                daemon=True,
            )
            self._thread.start()

    def cancel(self) -> None:
        self._cancel.set()
        self.build.wanted.set()
        self.reader.go_on()

    def close(self) -> None:
        self.cancel()
        # `start` sets the thread and starts it while it holds this lock.
        with self._starting:
            self._closed = True
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_CLOSE_SECONDS)
        if self._updating.acquire(timeout=_CLOSE_SECONDS):
            try:
                self.freshness.close()
            finally:
                self._updating.release()

    def _run(self, build: Build, progress: Progress | None, since: float) -> None:
        try:
            self.refresh(progress, since, build)
        except Exception as error:
            if not isinstance(error, CancelledError):
                logger.exception("the index could not be brought up to date")
            build.failure = error
        finally:
            if self._closed:
                self.freshness.close()
            build.end(CODE, TEXT)
            done, total = self.progress
            if progress is not None and done < total:
                progress(total, total)

    def refresh(self, progress: Progress | None, since: float, build: Build | None = None) -> None:
        """Bring the index up to date, code at once and texts when the build wants them."""
        freshness = self.freshness
        with self._updating:
            self._hurry.clear()
            for _ in range(ATTEMPTS):
                store = freshness.opened()
                try:
                    self._refresh(store, progress, since, build)
                    break
                except sqlite3.Error as error:
                    freshness.give_up(store, error)
            else:
                self._refresh(freshness.opened(), progress, since, build)

    def _refresh(
        self, store: Store, progress: Progress | None, since: float, build: Build | None
    ) -> None:
        freshness, versions = self.freshness, self.freshness.files.versions
        freshness.notice_others(store)
        if self.reader.reads_more():
            freshness.listing = None
        look = TEXT if build is None else freshness.look
        listing = versions.listing(since, self._check_cancelled, look)
        is_racy = False
        if listing is not freshness.listing:
            is_racy = self._read_changed(store, listing, CODE, progress)
        news = freshness.news(listing)
        freshness.as_of[CODE] = since
        freshness.was_left = False
        if build is not None:
            build.end(CODE)
        # Answers don't wait for it.
        if news:
            store.keep_listing(*news)
        if build is not None:
            if listing is freshness.listing and not build.wanted.is_set():
                return
            build.wanted.wait(_QUIET_SECONDS)
            self._check_cancelled()
        listing = versions.listing(since, self._check_cancelled)
        if listing is not freshness.listing:
            for kind in (CODE, TEXT):
                is_racy = self._read_changed(store, listing, kind, progress) or is_racy
            if self._hurry.is_set():
                return
            if news := freshness.news(listing):
                store.keep_listing(*news)
        freshness.as_of[TEXT] = since
        # What was read so soon after a change is read again.
        freshness.listing = None if is_racy else listing

    def _read_changed(
        self, store: Store, listing: Listing, kind: int, progress: Progress | None
    ) -> bool:
        """Bring code or texts up to date; the words of texts make way for what is asked for.

        Returns whether some file changed so lately that its times may not show a change.
        """
        gone, stamps, self.known = self.freshness.compared(store, listing, kind)
        if gone:
            store.update(gone)
            self.freshness.forget_comparison(kind)
        self.progress, self.began = (0, len(stamps)), time.monotonic()
        racy, total, are_texts = False, len(stamps), kind == TEXT

        def goes_on() -> bool:
            self.reader.make_way()
            return not (self._cancel.is_set() or (are_texts and self._hurry.is_set()))

        while stamps and not (are_texts and self._hurry.is_set()):
            before = self.progress
            # Each look into the file takes and gives back a lock.
            knows = store.has if len(stamps) < _FEW else store.contents().__contains__
            files: list[KnownFile] = []
            keys: dict[bytes, None] = {}
            building = Building()
            for stamp in stamps[:_BATCH]:
                if not goes_on():
                    break
                file, data = self._read(stamp)
                files.append(file)
                key = file.content
                if key is not None and key not in keys and not knows(key):
                    keys[key] = None
                    building.add(words_of(stamp.path, data))
                self.progress = (self.progress[0] + 1, total)
                if progress is not None:
                    progress(*self.progress)
            if files:
                if not store.update((), files, Part(are_texts, [*keys], building.segment())):
                    self.progress = before
                    continue
                self.freshness.forget_comparison(kind)
                racy = racy or any(
                    file.racy and file.stamp.path not in self.reader.refused for file in files
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
            data = self.reader.bytes_of(stamp)
            key = content_key(stamp.path, data)
        except PathError as error:
            note += TOO_LARGE if isinstance(error, FileTooLargeError) else error.reason
        return KnownFile(stamp, racy or stamp.path in self.reader.refused, note, key), data

    def upkeep(self, work: Callable[[Store], _Result]) -> _Result:
        freshness = self.freshness
        with self._updating:
            store = freshness.opened()
            freshness.forget()
            try:
                if not freshness.trouble:
                    return work(store)
                reason = freshness.trouble
            except sqlite3.Error as error:
                reason = str(error)
        raise ArtefactError(f"{freshness.location}: {reason}: try again, or remove the file")
