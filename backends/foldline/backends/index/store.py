"""The index as an SQLite file: the words of each file, its times when it was read, and outlines.

A word is looked for in the words of each segment, by its bytes: some milliseconds for thousands of
files. In return a file that changes costs one row, and an index half built already answers.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import weakref
from array import array
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from foldline.backends.base.caches import cache_folder
from foldline.backends.base.languages import language_of
from foldline.backends.files.listing import FileStamp, decode_listing, encode_listing
from foldline.backends.index.definitions import BY_WORDS
from foldline.backends.index.segments import (
    EXACT,
    Building,
    Segment,
    Spelling,
    Terms,
    derived,
    postings,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from foldline.backends.files.listing import Listing
    from foldline.backends.index.segments import DocumentRow, Postings

SCHEMA_VERSION = 5
_APPLICATION_ID = 0x666F6C64
_BUSY_SECONDS = 2.0
_MOST_OUTLINES = 20_000
_OUTLINES_AT_ONCE = 64
_SCHEMA = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    racy INTEGER NOT NULL, note TEXT NOT NULL, segment INTEGER NOT NULL, slot INTEGER NOT NULL
);
CREATE INDEX slots ON files (segment, slot);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, is_text INTEGER NOT NULL, words INTEGER NOT NULL,
    keys BLOB NOT NULL, ends BLOB NOT NULL, places BLOB NOT NULL, lengths BLOB NOT NULL,
    defined BLOB NOT NULL, sums INTEGER NOT NULL
);
CREATE TABLE terms (
    segment INTEGER PRIMARY KEY, terms BLOB NOT NULL, ends BLOB NOT NULL, keys BLOB NOT NULL,
    sums INTEGER NOT NULL
);
CREATE TABLE listings (id INTEGER PRIMARY KEY, looked_at INTEGER NOT NULL, listing TEXT NOT NULL);
CREATE TABLE outlines (key BLOB PRIMARY KEY, outline TEXT NOT NULL);
"""
# For more terms, those of all words are derived, and kept.
_FEW = 40
# More segments with fewer files are merged.
_MOST_SMALL = 8
_SMALL = 400


def index_location(root: Path) -> Path:
    """The index file of the workspace; `FOLDLINE_CACHE_DIR` moves the folder of all of them."""
    name = hashlib.blake2b(os.fsencode(root), digest_size=12).hexdigest()
    return cache_folder() / "index" / f"{name}.sqlite3"


class KnownFile(NamedTuple):
    """A file as it was read; `note` says why its words are not known, if so.

    A `racy` one was read so soon after it changed that its times may not show a further change.
    """

    stamp: FileStamp
    racy: bool
    note: str


class StaleStoreError(Exception):
    """The file isn't an index of this version, and is rebuilt."""


class Store:
    """One connection, which several threads share; other processes have theirs.

    Every method may raise `sqlite3.Error`, and opening `StaleStoreError` too.

    A path that isn't UTF-8 is kept as bytes, every other as text.
    """

    def __init__(self, location: Path | None) -> None:
        self._lock = threading.RLock()
        self._outlines: dict[bytes, str] = {}
        # Segments don't change. Their terms are derived when they are first asked for.
        self._segments: dict[int, Segment] = {}
        self._derived: dict[int, Terms] = {}
        self._spelled: dict[int, Spelling] = {}
        self._unwritten: set[int] = set()
        self._updates = 0
        self._connection = sqlite3.connect(
            ":memory:" if location is None else location,
            check_same_thread=False,
            isolation_level=None,
            timeout=_BUSY_SECONDS,
        )
        # An index that isn't closed leaves no connection behind. Not at exit: other threads may
        # execute statements then, and closing under them crashes, or waits for them.
        weakref.finalize(self, self._connection.close).atexit = False
        try:
            self._open()
        except BaseException:
            self._connection.close()
            raise

    def _open(self) -> None:
        run = self._connection.execute
        # A write-ahead log would map a file that all processes share: truncating that file, or a
        # network drive, would end them by SIGBUS. The index itself isn't mapped either.
        run("PRAGMA mmap_size = 0")
        run("PRAGMA journal_mode = TRUNCATE")
        # Readers wait only while a change is written, not while it grows.
        run("PRAGMA cache_spill = OFF")
        run("PRAGMA synchronous = NORMAL")
        run("PRAGMA trusted_schema = OFF")
        if self._is_current():
            return
        with self._writing():
            if self._is_current():
                return
            if self._number("SELECT count(*) FROM sqlite_master"):
                raise StaleStoreError
            for statement in _SCHEMA.split(";"):
                run(statement)
            run(f"PRAGMA application_id = {_APPLICATION_ID}")
            run(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def close(self) -> None:
        """Write what is pending, and close the connection."""
        with self._lock:
            with suppress(sqlite3.Error):
                self._write_outlines()
            self._connection.close()

    def version(self) -> int:
        """A number that changes when another process has written."""
        with self._lock:
            return self._number("PRAGMA data_version")

    def files(self) -> dict[str, tuple[int, int, int, int, int, str]]:
        """Every file that the index knows: size, times, inode, `racy` and `note`."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT path, size, mtime_ns, ctime_ns, inode, racy, note FROM files"
            ).fetchall()
        return {_loaded(row[0]): row[1:] for row in rows}

    def listing(self) -> tuple[Listing, int] | None:
        """The list of files that was kept, and when it was made."""
        with self._lock:
            row = self._connection.execute("SELECT listing, looked_at FROM listings").fetchone()
        listing = None if row is None else decode_listing(row[0])
        return None if listing is None else (listing, row[1])

    def keep_listing(self, listing: Listing, looked_at: int) -> None:
        """Keep a list of files, from which the next process begins."""
        with self._lock, self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO listings VALUES (1, ?, ?)",
                (looked_at, encode_listing(listing)),
            )

    def noted(self, note: str) -> list[str]:
        """The paths of the files with this note."""
        with self._lock:
            rows = self._connection.execute("SELECT path FROM files WHERE note = ?", (note,))
            return sorted(_loaded(path) for (path,) in rows)

    def files_with(self, word: str, *, defined: bool = False) -> list[str]:
        """The paths of the files that hold the word, or seem to define it."""
        with self._reading():
            found = self._holding(f"\n{word}\n")
            if defined:
                # In other languages every word may be defined.
                found = {path for path in found if language_of(path) not in BY_WORDS}
                found |= self._holding(f"\n{EXACT}{word}\n")
        return [*found]

    def _holding(self, part: str) -> set[str]:
        """The paths of the files with a key that holds the part."""
        places = (
            (number, slot)
            for number in self._numbers()
            for slot in self._segment(number).slots(part)
        )
        find = "SELECT path FROM files WHERE segment = ? AND slot = ?"
        rows = (self._connection.execute(find, place).fetchone() for place in places)
        return {_loaded(row[0]) for row in rows if row is not None}

    def defined_names(self) -> set[bytes]:
        """The names that files seem to define, as UTF-8."""
        with self._reading():
            slots: dict[int, set[int]] = {}
            for number, slot in self._connection.execute("SELECT segment, slot FROM files"):
                slots.setdefault(number, set()).add(slot)
            return {name for number in slots for name in self._segment(number).names(slots[number])}

    def files_without(self, parts: Iterable[str]) -> set[str]:
        """The paths of the files with words of which none has one of the parts in it."""
        with self._reading():
            rows = self._connection.execute("SELECT path FROM files WHERE note = ''").fetchall()
            every = {_loaded(path) for (path,) in rows}
            return every - every.intersection(*map(self._holding, parts))

    def postings(
        self, terms: Collection[str], known: object = None
    ) -> tuple[object, list[DocumentRow] | None, dict[str, list[Postings]]]:
        """The version of the index, the documents of all files, and the postings of the terms.

        All are of one moment. The documents are None where `known` is that version.
        """
        found: dict[str, list[Postings]] = {}
        with self._reading():
            rows = None
            version = self._number("PRAGMA data_version"), self._updates
            for number in self._numbers("NOT is_text"):
                known_terms = self._spelling(number) if len(terms) <= _FEW else self._terms(number)
                for term in terms:
                    places = postings(number, self._segment(number), known_terms, term)
                    if places is not None:
                        found.setdefault(term, []).append(places)
            if version != known:
                rows = [
                    (_loaded(path), number, slot, lengths[slot], defined[slot])
                    for path, number, slot in self._connection.execute(
                        "SELECT path, segment, slot FROM files JOIN segments "
                        "ON segment = segments.id WHERE NOT is_text"
                    )
                    for *_, lengths, defined in [self._segment(number)]
                ]
        self._write_terms()
        return version, rows, found

    def vocabulary(self) -> list[str]:
        """All terms, a line each."""
        with self._reading():
            return ["\n".join(self._terms(row).terms) for row in self._numbers("NOT is_text")]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Everything is read as of one moment."""
        with self._lock:
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("COMMIT")

    def _numbers(self, condition: str = "1") -> list[int]:
        """The numbers of the segments."""
        rows = self._connection.execute(f"SELECT id, {condition} FROM segments").fetchall()
        for gone in self._segments.keys() - {number for number, _ in rows}:
            del self._segments[gone]
            self._derived.pop(gone, None)
            self._spelled.pop(gone, None)
        return [number for number, is_wanted in rows if is_wanted]

    def _segment(self, number: int) -> Segment:
        if number not in self._segments:
            words, keys, *arrays = self._row(
                "words, keys, ends, places, lengths, defined", "segments WHERE id", number
            )
            self._segments[number] = Segment(words, keys, *map(_array, arrays))
        return self._segments[number]

    def _terms(self, number: int) -> Terms:
        if number not in self._derived:
            row = self._row("terms, ends, keys", "terms WHERE segment", number)
            if row:
                terms = row[0].decode().split("\n")
                self._derived[number] = Terms(terms, *map(_array, row[1:]))
            else:
                self._derived[number] = derived(self._segment(number))
                self._unwritten.add(number)
        return self._derived[number]

    def _spelling(self, number: int) -> Spelling | Terms:
        if number in self._derived:
            return self._derived[number]
        if number not in self._spelled:
            self._spelled[number] = Spelling(self._segment(number))
        return self._spelled[number]

    def _row(self, columns: str, table: str, number: int) -> tuple[Any, ...]:
        """A row; empty where there is none."""
        *row, sums = self._connection.execute(
            f"SELECT {columns}, sums FROM {table} = ?", (number,)
        ).fetchone() or (0,)
        if sums != _sums(row):
            raise sqlite3.DatabaseError("a segment is malformed")
        return tuple(row)

    def _write_terms(self) -> None:
        """Keep the terms that were derived, unless another process is writing."""
        unwritten, self._unwritten = self._unwritten, set()
        rows = [
            (number, "\n".join(terms.terms).encode(), *terms[1:])
            for number, terms in self._derived.items()
            if number in unwritten
        ]
        if rows:
            with self._lock, suppress(sqlite3.OperationalError), self._writing():
                self._connection.executemany(
                    "INSERT OR IGNORE INTO terms VALUES (?, ?, ?, ?, ?)",
                    [(*row, _sums(row[1:])) for row in rows],
                )

    def update(
        self,
        gone: Iterable[str],
        changed: Sequence[KnownFile] = (),
        words: Segment | None = None,
        *,
        is_text: bool = False,
    ) -> None:  # fmt: skip
        """Remove deleted files, and replace changed ones, whose slots are their places."""
        run = self._connection
        with self._lock, self._writing():
            self._updates += 1
            run.executemany("DELETE FROM files WHERE path = ?", [(_stored(path),) for path in gone])
            if words is None:
                return
            segment = self._write(words, is_text=is_text)
            run.executemany(
                "INSERT OR REPLACE INTO files VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (_stored(stamp.path), *stamp[1:5], racy, note, segment, slot)
                    for slot, (stamp, racy, note) in enumerate(changed)
                ),
            )
            self._merge(is_text=is_text)

    def _write(self, words: Segment, *, is_text: bool) -> int:
        (number,) = self._connection.execute(
            "INSERT INTO segments VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (is_text, *words, _sums(words)),
        ).fetchone()
        return int(number)

    def _merge(self, *, is_text: bool) -> None:
        """Write small segments as one, without what is outdated."""
        run = self._connection
        small = run.execute(
            "SELECT segments.id FROM segments LEFT JOIN files ON segment = segments.id "
            "WHERE is_text = ? GROUP BY segments.id HAVING count(segment) < ?",
            (is_text, _SMALL),
        ).fetchall()
        if len(small) <= _MOST_SMALL:
            return
        building, places = Building(), []
        for (segment,) in small:
            rows = run.execute(
                "SELECT slot, id FROM files WHERE segment = ? ORDER BY slot", (segment,)
            ).fetchall()
            first = building.merge(self._segment(segment), [slot for slot, _ in rows])
            places += [(slot, file) for slot, (_, file) in enumerate(rows, first)]
        number = self._write(building.segment(), is_text=is_text)
        for table in ("segments WHERE id", "terms WHERE segment"):
            run.executemany(f"DELETE FROM {table} = ?", small)
        run.executemany(f"UPDATE files SET segment = {number}, slot = ? WHERE id = ?", places)

    def outline(self, key: bytes) -> str | None:
        """The outline that was kept under the key of its content."""
        with self._lock:
            if key in self._outlines:
                return self._outlines[key]
            row = self._connection.execute(
                "SELECT outline FROM outlines WHERE key = ?", (key,)
            ).fetchone()
        return None if row is None else str(row[0])

    def keep_outline(self, key: bytes, outline: str) -> None:
        """Keep an outline; the oldest ones make room.

        Other processes see it a few later: a transaction for each would keep them waiting.
        """
        with self._lock:
            self._outlines[key] = outline
            if len(self._outlines) >= _OUTLINES_AT_ONCE:
                self._write_outlines()

    def _write_outlines(self) -> None:
        if not self._outlines:
            return
        # Even if it fails: outlines that weren't written are made again.
        outlines, self._outlines = self._outlines, {}
        with self._writing():
            self._connection.executemany(
                "INSERT OR REPLACE INTO outlines VALUES (?, ?)", outlines.items()
            )
            last = self._number("SELECT max(rowid) FROM outlines")
            self._connection.execute(
                "DELETE FROM outlines WHERE rowid <= ?", (last - _MOST_OUTLINES,)
            )

    def _is_current(self) -> bool:
        version = self._number("PRAGMA user_version")
        application = self._number("PRAGMA application_id")
        return (application, version) == (_APPLICATION_ID, SCHEMA_VERSION)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; until its end other processes read what was there before."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _number(self, query: str) -> int:
        value = self._connection.execute(query).fetchone()[0]
        return int(value or 0)


def _stored(path: str) -> str | bytes:
    """The path as SQLite can hold it: text is UTF-8 there, and a name of a file may be other."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
    return path


def _loaded(path: str | bytes) -> str:
    """The path that `_stored` made this of."""
    return path if isinstance(path, str) else path.decode("utf-8", "surrogatepass")


def _array(data: bytes) -> array[int]:
    found = array("I")
    found.frombytes(data)
    return found


def _sums(row: Iterable[object]) -> int:
    """A checksum of the arrays and texts of a row."""
    found = 0
    for part in row:
        if not isinstance(part, int):
            found = crc32(part, found)  # type: ignore[arg-type]  # Bytes or an array.
    return found
