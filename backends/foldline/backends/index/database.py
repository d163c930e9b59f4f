"""The tables of an index file, one connection to it, and the pruning of what is old.

Threads share a connection: a transaction holds `lock` from its beginning to its end, and so does
whoever executes a statement without one. Other processes, and other workspaces in this one, have
connections of their own: they read what was there before a transaction of ours, until it ends.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

SCHEMA_VERSION = 10
"""Raise it with a change to the tables, or to the words or terms of a content."""
_APPLICATION_ID = 0x666F6C64
_BUSY_SECONDS = 2.0
_DAY = 86_400
# Somebody comes back to a branch within these days, and derives nothing again.
_CONTENT_DAYS = 14
# A workspace without a change for so long is hashed again.
_WORKSPACE_DAYS = 30
_SCHEMA = """
CREATE TABLE about (name BLOB NOT NULL, swept INTEGER NOT NULL);
CREATE TABLE workspaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL UNIQUE, used INTEGER NOT NULL,
    listing BLOB NOT NULL
);
CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE files (
    workspace INTEGER NOT NULL, path INTEGER NOT NULL, size INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL, since INTEGER NOT NULL, inode INTEGER NOT NULL,
    racy INTEGER NOT NULL, note TEXT NOT NULL, content INTEGER, sums INTEGER NOT NULL,
    PRIMARY KEY (workspace, path)
) WITHOUT ROWID;
CREATE INDEX holders ON files (content, workspace);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, segment INTEGER NOT NULL,
    slot INTEGER NOT NULL, used INTEGER NOT NULL, artefact INTEGER, sums INTEGER NOT NULL
);
CREATE INDEX slots ON contents (segment, slot);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, is_text INTEGER NOT NULL, words INTEGER NOT NULL,
    keys BLOB NOT NULL, ends BLOB NOT NULL, places BLOB NOT NULL, lengths BLOB NOT NULL,
    defined BLOB NOT NULL, sums INTEGER NOT NULL
);
CREATE TABLE terms (
    segment INTEGER PRIMARY KEY, terms BLOB NOT NULL, ends BLOB NOT NULL, keys BLOB NOT NULL,
    sums INTEGER NOT NULL
);
CREATE TABLE artefacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL, source TEXT NOT NULL,
    taken INTEGER NOT NULL
);
CREATE TABLE outlines (key BLOB PRIMARY KEY, outline BLOB NOT NULL);
"""
_STATEMENTS = [*filter(None, map(str.strip, _SCHEMA.split(";")))]
# What rows that were changed behind our back may lead to.
_SPOILED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, zlib.error)


class StaleStoreError(Exception):
    """The file isn't an index of this version, and is rebuilt."""


class Database:
    """An index file, or memory, with its tables.

    Every method may raise `sqlite3.Error`, and opening `StaleStoreError` too.

    Attributes:
        lock: Held while statements are executed.
        name: Of the file, wherever it is: a new one has another.
    """

    def __init__(self, location: Path | None) -> None:
        self.lock = threading.RLock()
        self.connection = sqlite3.connect(
            ":memory:" if location is None else location,
            check_same_thread=False,
            isolation_level=None,
            timeout=_BUSY_SECONDS,
        )
        # An index that isn't closed leaves no connection behind. Not at exit: other threads may
        # execute statements then, and closing under them crashes, or waits for them.
        weakref.finalize(self, self.connection.close).atexit = False
        try:
            with self.spoiled():
                self._open()
                (self.name,) = self.connection.execute("SELECT name FROM about").fetchone()
        except BaseException:
            self.connection.close()
            raise

    def _open(self) -> None:
        run = self.connection.execute
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
        with self.writing():
            if self._is_current():
                return
            if self.number("SELECT count(*) FROM sqlite_master"):
                raise StaleStoreError
            for statement in _STATEMENTS:
                run(statement)
            run("INSERT INTO about VALUES (?, ?)", (os.urandom(16), today()))
            run(f"PRAGMA application_id = {_APPLICATION_ID}")
            run(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _is_current(self) -> bool:
        version = self.number("PRAGMA user_version")
        application = self.number("PRAGMA application_id")
        tables = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid"
        schema = [sql for (sql,) in self.connection.execute(tables)]
        return (application, version, schema) == (_APPLICATION_ID, SCHEMA_VERSION, _STATEMENTS)

    @contextmanager
    def spoiled(self) -> Iterator[None]:
        """Raise `sqlite3.DatabaseError` for what only a spoiled file leads to."""
        try:
            yield
        except _SPOILED as error:
            raise sqlite3.DatabaseError(f"its rows can't be right: {error!r}") from error

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One transaction: from the first row that is read, others' changes aren't seen."""
        with self.lock, self.spoiled():
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction; until its end other processes read what was there before."""
        with self.lock:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                with self.spoiled():
                    yield
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    def number(self, query: str) -> int:
        """The number that a query without rows or with a NULL gives as 0."""
        value = self.connection.execute(query).fetchone()[0]
        return int(value or 0)


def stored_path(path: str) -> str | bytes:
    """The path as SQLite can hold it: text is UTF-8 there, and a name of a file may be other."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
    return path


def loaded_path(path: str | bytes) -> str:
    """The path that `stored_path` made this of."""
    return path if isinstance(path, str) else path.decode("utf-8", "surrogatepass")


def checksum(*row: Any) -> int:
    """A checksum of a row."""
    result = 0
    for part in row:
        is_data = isinstance(part, bytes | array)
        result = crc32(part if is_data else repr(part).encode("utf-8", "surrogatepass"), result)
    return result


def today() -> int:
    """The number of the day."""
    return int(time.time()) // _DAY


def sweep(run: sqlite3.Connection, *, at_once: bool = False) -> None:
    """Once a day, forget what is old; `at_once`, all that nothing has, whatever its age."""
    day = today()
    (swept,) = run.execute("SELECT swept FROM about").fetchone()
    if swept == day and not at_once:
        return
    run.execute("UPDATE about SET swept = ?", (day,))
    if at_once:
        rows = run.execute("SELECT id, CAST(root AS BLOB) FROM workspaces").fetchall()
        gone = [(number,) for number, root in rows if not _is_there(root)]
        run.executemany("DELETE FROM workspaces WHERE id = ?", gone)
    run.execute("DELETE FROM workspaces WHERE used < ?", (day - _WORKSPACE_DAYS,))
    run.execute("DELETE FROM files WHERE workspace NOT IN (SELECT id FROM workspaces)")
    held = "(SELECT content FROM files WHERE content IS NOT NULL)"
    run.execute(f"UPDATE contents SET used = ? WHERE id IN {held} AND used <> ?", (day, day))
    last = day + 1 if at_once else day - _CONTENT_DAYS
    run.execute(f"DELETE FROM contents WHERE used < ? AND id NOT IN {held}", (last,))
    # It's taken again, as parts of it may have gone.
    run.execute("DELETE FROM artefacts WHERE taken < ?", ((day - _CONTENT_DAYS) * _DAY,))
    _drop_unused(run)


def forget_imported(run: sqlite3.Connection) -> int:
    """Forget all that artefacts brought; returns how many contents. Files that had it are read."""
    came = "(SELECT id FROM contents WHERE artefact IS NOT NULL)"
    run.execute(f"DELETE FROM files WHERE content IN {came}")
    count = run.execute("DELETE FROM contents WHERE artefact IS NOT NULL").rowcount
    run.execute("DELETE FROM artefacts")
    _drop_unused(run)
    return count


def _drop_unused(run: sqlite3.Connection) -> None:
    run.execute("DELETE FROM segments WHERE id NOT IN (SELECT segment FROM contents)")
    run.execute("DELETE FROM terms WHERE segment NOT IN (SELECT id FROM segments)")
    run.execute("DELETE FROM paths WHERE id NOT IN (SELECT path FROM files)")


def _is_there(root: bytes) -> bool:
    try:
        return Path(root.decode("utf-8", "surrogatepass")).is_dir()
    except (OSError, ValueError):
        return False
