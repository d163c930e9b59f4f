"""A store of evaluations' events in one SQLite file."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from foldline.plugins.stores.records import (
    COLUMNS,
    NUMBERS,
    EventRecord,
    numbers_of,
    record_of,
    stored_record,
    time_of,
)
from foldline.plugins.stores.store import EventStore
from foldline.prompts.runtime.events import Event, Listener
from foldline.prompts.runtime.redaction import Redact

WAIT_SECONDS = 30.0
# What is here stays as it is: a change is one more entry, which finds the data of earlier ones.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY AUTOINCREMENT, "
        "event_id TEXT NOT NULL UNIQUE, at TEXT NOT NULL, kind TEXT NOT NULL, ns TEXT NOT NULL, "
        "key TEXT NOT NULL, evaluation_id TEXT NOT NULL, session_id TEXT, provider TEXT, "
        "data TEXT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS events_by_prompt ON events (ns, key, number)",
        "CREATE TABLE IF NOT EXISTS openings (event INTEGER NOT NULL REFERENCES events (number) "
        "ON DELETE CASCADE, section TEXT NOT NULL, how TEXT NOT NULL, turn INTEGER NOT NULL, "
        "reason TEXT)",
        "CREATE INDEX IF NOT EXISTS openings_by_event ON openings (event)",
    ),
    (
        *(f"ALTER TABLE events ADD COLUMN {name} INTEGER" for name in NUMBERS),
        "UPDATE events SET "
        + ", ".join(f"{name} = foldline_number(data, {at})" for at, name in enumerate(NUMBERS)),
        "CREATE VIEW event_report AS SELECT *, substr(at, 1, 10) AS day, NULL AS texts FROM events",
        "CREATE VIEW opening_report AS SELECT openings.rowid AS number, substr(at, 1, 10) AS day, "
        "at, ns, key, evaluation_id, session_id, section, how, turn, reason "
        "FROM openings JOIN events ON event = events.number",
    ),
)
_INSERT = (
    f"INSERT OR IGNORE INTO events ({', '.join(COLUMNS)}) "
    f"VALUES ({', '.join('?' for _ in COLUMNS)})"
)
_stores: weakref.WeakSet[SQLiteEventStore] = weakref.WeakSet()
_stores_lock = threading.RLock()
_INSERT_OPENING = "INSERT INTO openings (event, section, how, turn, reason) VALUES (?, ?, ?, ?, ?)"


class SQLiteEventStore(Listener, EventStore):
    """An `EventStore` in one SQLite file.

    >>> from foldline.prompts.runtime import InProcessEventBus
    >>> bus = InProcessEventBus()
    >>> with SQLiteEventStore(":memory:") as store:
    ...     store.attach(bus)
    ...     list(store.events())
    []

    Several processes can write to one file; while one has it open, SQLite keeps two more files next
    to it.

    Args:
        path: The file, created if it doesn't exist; `:memory:` lasts as long as the store is open.
        content: Store texts, too; a function, such as `Redaction()`, redacts them, and reasons.

    Raises:
        ValueError: The file was written by a newer version, or by another program.
        sqlite3.OperationalError: The file can't be opened.
    """

    events_table = "event_report"
    openings_table = "opening_report"

    def __init__(self, path: str | os.PathLike[str], *, content: bool | Redact = False) -> None:
        super().__init__()
        self._content, self._path = content, path
        # Reentrant, as what reads or writes first after a fork opens the file.
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        if path != ":memory:":
            with _stores_lock:
                _stores.add(self)
        with self._lock:
            self._open()

    def _open(self) -> None:
        self._connection = sqlite3.connect(
            self._path, timeout=WAIT_SECONDS, check_same_thread=False, isolation_level=None
        )
        try:
            self._database.execute("PRAGMA foreign_keys = ON")
            # Write-ahead logging, so that events don't wait for the disk. It is optional: another
            # process may be using the file, or the file system may not support it.
            with contextlib.suppress(sqlite3.OperationalError):
                self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            if self._version() < len(MIGRATIONS):
                self._migrate()
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def _database(self) -> sqlite3.Connection:
        if self._connection is None:
            self._open()
        assert self._connection is not None
        return self._connection

    def add(self, event: Event) -> None:
        """Store one event, unless it is stored already."""
        self.add_all([record_of(event, content=self._content)])

    def add_all(self, records: Sequence[EventRecord]) -> int:
        """Store the records that aren't stored yet, and return their number."""
        stored = 0
        with self._transaction() as database:
            for record in records:
                _, at, *columns, openings = record
                cursor = database.execute(_INSERT, (record.event_id, at.isoformat(), *columns))
                stored += cursor.rowcount
                if cursor.rowcount and openings:
                    number = cursor.lastrowid
                    database.executemany(_INSERT_OPENING, [(number, *one) for one in openings])
        return stored

    def records(
        self, *, after: int = 0, limit: int = 500, max_bytes: int = 4 << 20
    ) -> list[tuple[int, EventRecord]]:
        """Return the next records behind a number, in order, each with its own number.

        They are at most `limit`, and those that go beyond `max_bytes` are left for the next call.
        """
        rows: list[tuple[Any, ...]] = []
        with self._lock:
            for row in self._database.execute(
                f"SELECT number, {', '.join(COLUMNS)} FROM events WHERE number > ? "
                "ORDER BY number LIMIT ?",
                (after, limit),
            ):
                max_bytes -= len(row[9])
                if rows and max_bytes < 0:
                    break
                rows.append(row)
        openings: dict[int, list[Sequence[Any]]] = {}
        for event, *opening in self.rows(
            "SELECT event, section, how, turn, reason FROM openings WHERE event BETWEEN ? AND ? "
            "ORDER BY rowid",
            (rows[0][0], rows[-1][0]) if rows else (0, 0),
        ):
            openings.setdefault(event, []).append(opening)
        return [(number, stored_record(row, openings.get(number, ()))) for number, *row in rows]

    def prune(self, *, before: datetime) -> int:
        """Delete the events before that time, and return their number."""
        with self._transaction() as database:
            return database.execute(
                "DELETE FROM events WHERE at < ?", (time_of(before).isoformat(),)
            ).rowcount

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows of a query."""
        texts = [
            value if isinstance(value, int | str) else value.isoformat()  # type: ignore[attr-defined]
            for value in values
        ]
        with self._lock:
            return self._database.execute(sql, texts).fetchall()

    def close(self) -> None:
        """Unsubscribe from all buses, and close the file."""
        super().close()
        with self._lock:
            if self._connection is not None:
                self._connection.close()
        with _stores_lock:
            _stores.discard(self)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._database:
            # Immediate, as a read that becomes a write can't wait for another writer.
            self._database.execute("BEGIN IMMEDIATE")
            yield self._database

    def _version(self) -> int:
        version: int = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise ValueError(
                f"{self._path} was written by a newer foldline (format {version}; this one reads "
                f"{len(MIGRATIONS)})."
            )
        return version

    def _migrate(self) -> None:
        self._database.create_function(
            "foldline_number", 2, lambda data, at: numbers_of(json.loads(data))[at]
        )
        with self._transaction() as database:
            query = "SELECT name FROM sqlite_master WHERE type = 'table'"
            tables = {name for (name,) in database.execute(query)}
            if tables and "openings" not in tables:
                raise ValueError(f"{self._path} is a database of another program.")
            # Another process may have done it in the meantime.
            for migration in MIGRATIONS[self._version() :]:
                for statement in migration:
                    database.execute(statement)
            database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _before_fork() -> None:
    """Close all files, which are opened again when they are used.

    Of an open one, a fork would believe that it has its parent's locks, and the parent, that nobody
    else uses the log, which it deletes.
    """
    _stores_lock.acquire()
    for store in _stores:
        store._lock.acquire()  # noqa: SLF001 - Only a fork does it.
        store._close()  # noqa: SLF001 - As above.


def _after_fork() -> None:
    for store in _stores:
        store._lock.release()  # noqa: SLF001 - As above.
    _stores_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
