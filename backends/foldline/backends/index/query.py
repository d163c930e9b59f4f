"""Answers from an index that may be behind: they start a build, and read what it lacks in time.

It has no states: it keeps what the last questions found, under `_remembering`. Any thread may ask,
and waits for builds by their futures, with no lock held. Only where a file turns out to be corrupt
does it bring the index up to date itself, under the lock of `IndexBuilder`.
"""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from foldline.backends.base.languages import CODE, TEXT, is_indexed, is_text, kind_of
from foldline.backends.base.waiting import result_of, waits
from foldline.backends.index.builder import ATTEMPTS, TOO_LARGE, CancelledError, IndexBuilder, State
from foldline.backends.index.postings import Corpus, corpus_of, with_buffers
from foldline.backends.index.reading import are_many
from foldline.backends.index.store import TEXT_NOTE, Store
from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from foldline.backends.files.listing import FileStamp
    from foldline.backends.index.segments import Postings

# A question about words reads what isn't indexed yet; that takes little longer than to wait.
_WORDS_PATIENCE = 0.15
# After that, a search goes on to wait if the index is likely to be built in time; and a question
# about words looks again at what is written.
_GLANCE_SECONDS = 0.1
# How many times its patience an answer waits that would miss code.
_UTMOST = 4
_BROKEN_OFF = (State.CANCELLED, State.FAILED)
_Answer = TypeVar("_Answer")


class Candidates(NamedTuple):
    """The files that may hold a word, and how far that can be relied on.

    `notes` names files whose words are not known, such as those over the size limit.
    """

    paths: tuple[str, ...]
    coverage: str
    notes: tuple[str, ...] = ()


class IndexQuery:
    """The questions to an index; `WorkspaceIndex` says how long they wait."""

    def __init__(self, builder: IndexBuilder, patience: float | None) -> None:
        self._builder = builder
        self._freshness = builder.freshness
        self._files = builder.freshness.files
        self._patience = patience
        self._remembering = threading.Lock()
        self._corpus: tuple[object, Corpus] = (None, corpus_of(()))
        # What the last question about a word read, from when on: its parts ask again.
        self._last_read: tuple[object, float, dict[str, bool | None]] = (None, 0.0, {})

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
        """Code that can't be read, without open buffers and what is gone; then such folders."""
        refused = {path for path in self._builder.reader.refused.copy() if kind_of(path) == CODE}
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
        note = TOO_LARGE if kind == CODE else TEXT_NOTE + TOO_LARGE
        # After uses in code, those in texts are asked about: one look is for both.
        self._freshness.look = CODE if defined else TEXT
        # To miss code is worse than to wait.
        end, is_last = since + _UTMOST * (self._patience or 0), kind == TEXT
        asked, patience = (word, kind, defined), _WORDS_PATIENCE
        with self._remembering:
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
            is_last = time.monotonic() > end or self._builder.build.state in _BROKEN_OFF
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
        self._builder.reader.find_word(word, unread, since, defined=defined, found=read)
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
        is_building = self._builder.build.state is State.CODE
        unread = self._unread(CODE, since, within) if is_building else []
        self.recall()
        # An index that isn't complete has no list of files, but words.
        if self._freshness.is_open:
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
        return self._freshness.recall()

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
        since, self._freshness.look = time.monotonic() if since is None else since, CODE
        coverage = await self._current(since, CODE, time.monotonic() - since + _GLANCE_SECONDS)
        if coverage != COMPLETE and (self._freshness.was_left or self._ends_in_time(since)):
            # The answer before it was partial: now it takes the time to be complete.
            patience = math.inf if self._freshness.was_left else self._patience
            coverage = await self._current(since, CODE, patience)
        unread = None if coverage == COMPLETE else self._unread(CODE, since, within)
        with self._remembering:
            version, corpus = self._corpus
        version, rows, postings = self._lookup(lambda store: store.postings(terms, version))
        if rows is not None:
            corpus = corpus_of(rows)
            with self._remembering:
                self._corpus = version, corpus
        texts: dict[str, bytes] = {}
        if unread is not None:
            texts = self._builder.reader.likely(unread, words, since)
            coverage = COMPLETE if len(texts) == len(unread) else coverage
        texts |= {path: self._files.load(path).parse_data for path in self._overlays()}
        if texts:
            corpus, postings = with_buffers(corpus, postings, terms, texts)
        return (
            corpus,
            {term: of_term for term, of_term in postings.items() if corpus.has(of_term)},
            coverage,
        )

    def _unread(
        self, kind: int, since: float, within: Collection[str] | None = None
    ) -> list[FileStamp] | None:
        """The files of a kind that aren't in the index as they are; None if that takes too long."""
        listing = self._files.versions.known(since, max(kind, self._freshness.look))
        if listing is None:
            return None
        stamps = self._lookup(lambda store: self._freshness.compared(store, listing, kind))[1]
        return [stamp for stamp in stamps if within is None or stamp.path in within]

    def vocabulary(self, parts: Collection[str]) -> list[str]:
        """The terms that hold one of the parts, in some texts with a line for each."""
        return self._lookup(lambda store: store.vocabulary(parts))

    def _overlays(self) -> list[str]:
        return [path for path in self._files.overlay_paths() if is_indexed(path)]

    def outline(self, key: bytes) -> str | None:
        """A kept outline by its content's key."""
        return self._attempt(lambda store: store.outlines.get(key))

    def keep_outline(self, key: bytes, outline: str) -> None:
        """Keep an outline for later processes."""
        self._attempt(lambda store: store.outlines.keep(key, outline))

    def _attempt(self, work: Callable[[Store], _Answer]) -> _Answer | None:
        store = self._freshness.opened()
        try:
            return work(store)
        except sqlite3.Error as error:
            # The file stays good while another process writes it.
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
                self._freshness.give_up(store, error)
            return None

    async def _current(self, since: float, kind: int, patience: float | None) -> str:
        """Bring code, or texts too, up to date as far as patience goes; say how far that is."""
        # The build in progress may have begun before `since`: then build again.
        for _ in range(ATTEMPTS):
            if self._freshness.as_of[kind] >= since:
                return COMPLETE
            self._builder.start(None, since, kind)
            if (
                not await self._is_built(kind, since, patience)
                or self._builder.build.state in _BROKEN_OFF
            ):
                break
        build = self._builder.build
        if build.state is State.FAILED and build.failure is not None:
            raise build.failure
        if self._freshness.as_of[kind] >= since:
            return COMPLETE
        done, total = self._builder.progress
        cancelled = build.state is State.CANCELLED
        activity = "indexing was cancelled" if cancelled else "indexing"
        if total:
            known = self._builder.known
            return f"partial: {activity} ({known + done:,} of {known + total:,} files)"
        return f"partial: {activity}{'' if cancelled else ' has just begun'}"

    async def _is_built(self, kind: int, since: float, patience: float | None) -> bool:
        """Return whether they were read in time; the wait counts from the question."""
        end = self._builder.build.ends[kind]
        left = None
        if self._patience is not None and patience is not None:
            left = min(_UTMOST * self._patience, patience) - (time.monotonic() - since)
        if left is None or left > 0:
            self._builder.reader.go_on()
        with suppress(TimeoutError):
            await result_of(end, left)
        return end.done()

    def _ends_in_time(self, since: float) -> bool:
        """Return whether code is likely to be read while a search waits, as far as one can tell."""
        now, (done, total) = time.monotonic(), self._builder.progress
        left = (now - self._builder.began) * (total - done) / done if done else 0
        return self._patience is None or now + left < since + self._patience

    def _lookup(self, question: Callable[[Store], _Answer]) -> _Answer:
        # The file may be closed under a question twice: by `close`, and by a build that ends later.
        for _ in range(ATTEMPTS):
            store = self._freshness.opened()
            try:
                return question(store)
            except sqlite3.Error as error:
                self._freshness.give_up(store, error)
            # Whoever cancels the building is still answered, from what is there.
            with suppress(CancelledError):
                self._builder.refresh(None, time.monotonic())
        return question(self._freshness.opened())
