"""The index as an SQLite file: the words of each file, its times when it was read, and outlines.

A word is looked for in the words of every file, by its bytes: some milliseconds for thousands of
files. In return a file that changes costs one row, and an index half built already answers.
"""

from __future__ import annotations

import sqlite3
import threading
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.files.listing import FileStamp, decode_listing, encode_listing
from foldline.backends.index import segments
from foldline.backends.index.words import Words, is_indexed, needle

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from foldline.backends.files.listing import Listing
    from foldline.backends.index.segments import DocumentRow, Postings

SCHEMA_VERSION = 4
_APPLICATION_ID = 0x666F6C64
_BUSY_SECONDS = 2.0
_MOST_OUTLINES = 20_000
_OUTLINES_AT_ONCE = 64
_SCHEMA = f"""
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    racy INTEGER NOT NULL, note TEXT NOT NULL
);
CREATE TABLE words (file INTEGER PRIMARY KEY, used BLOB NOT NULL, defined BLOB NOT NULL);
CREATE TABLE listings (id INTEGER PRIMARY KEY, looked_at INTEGER NOT NULL, listing TEXT NOT NULL);
CREATE TABLE outlines (key BLOB PRIMARY KEY, outline TEXT NOT NULL);
{segments.SCHEMA}"""


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

    def files(self) -> list[KnownFile]:
        """Every file that the index knows."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT path, size, mtime_ns, ctime_ns, inode, racy, note FROM files"
            ).fetchall()
        return [
            KnownFile(FileStamp(_loaded(path), size, mtime, ctime, inode), bool(racy), note)
            for path, size, mtime, ctime, inode, racy, note in rows
        ]

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

    def is_racy(self) -> bool:
        """Return whether some file was read so soon after a change that it must be read again."""
        with self._lock:
            return self._number("SELECT EXISTS (SELECT 1 FROM files WHERE racy)") == 1

    def noted(self, note: str) -> list[str]:
        """The paths of the files with this note."""
        with self._lock:
            rows = self._connection.execute("SELECT path FROM files WHERE note = ?", (note,))
            return sorted(_loaded(path) for (path,) in rows)

    def files_with(self, word: str, *, defined: bool = False) -> list[str]:
        """The paths of the files that hold the word, or seem to define it."""
        column = "defined" if defined else "used"
        with self._lock:
            rows = self._connection.execute(
                f"SELECT path FROM words JOIN files ON id = file WHERE instr({column}, ?)",
                (needle(word),),
            ).fetchall()
        return [_loaded(path) for (path,) in rows]

    def defined_names(self) -> set[bytes]:
        """The names that files seem to define, as UTF-8."""
        with self._lock:
            rows = self._connection.execute("SELECT defined FROM words").fetchall()
        return {name for (names,) in rows for name in names.split(b"\n") if name}

    def files_without(self, parts: Iterable[str]) -> set[str]:
        """The paths of the files with words of which none has one of the parts in it."""
        wanted = [part.encode() for part in parts]
        held = " AND ".join("instr(used, ?)" for _ in wanted) or "1"
        with self._lock:
            rows = self._connection.execute(
                f"SELECT path FROM words JOIN files ON id = file WHERE note = '' AND NOT ({held})",
                wanted,
            ).fetchall()
        return {_loaded(path) for (path,) in rows}

    def postings(
        self, terms: Collection[str], known: object = None
    ) -> tuple[object, list[DocumentRow] | None, dict[str, list[Postings]]]:
        """The version of the index, the documents of all files, and the postings of the terms.

        All are of one moment. The documents are None where `known` is that version.
        """
        with self._lock:
            run = self._connection.execute
            run("BEGIN")
            try:
                rows = None
                version = self._number("PRAGMA data_version"), self._connection.total_changes
                if version != known:
                    rows = [
                        row._replace(path=_loaded(row.path))
                        for row in segments.document_rows(self._connection)
                    ]
                return version, rows, segments.read_postings(self._connection, terms)
            finally:
                run("COMMIT")

    def vocabulary(self) -> list[str]:
        """All terms, a line each."""
        with self._lock:
            return segments.read_vocabulary(self._connection)

    def update(
        self, gone: Iterable[str], changed: Iterable[tuple[KnownFile, Words]]
    ) -> None:  # fmt: skip
        """Remove deleted files, and replace the words of changed ones."""
        rows = [(_stored(path),) for path in gone]
        with self._lock, self._writing():
            run = self._connection
            segments.remove_documents(run, rows)
            run.executemany(
                "DELETE FROM words WHERE file = (SELECT id FROM files WHERE path = ?)", rows
            )
            run.executemany("DELETE FROM files WHERE path = ?", rows)
            documents = []
            for (stamp, racy, note), words in changed:
                row = run.execute(
                    "INSERT INTO files VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7) "
                    "ON CONFLICT (path) DO UPDATE SET size = ?2, mtime_ns = ?3, ctime_ns = ?4, "
                    "inode = ?5, racy = ?6, note = ?7 RETURNING id",
                    (_stored(stamp.path), *stamp[1:5], racy, note),
                ).fetchone()
                run.execute("INSERT OR REPLACE INTO words VALUES (?, ?, ?)", (*row, *words[:2]))
                if is_indexed(stamp.path):
                    documents.append((*row, words.document))
            segments.write_documents(run, documents)

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
