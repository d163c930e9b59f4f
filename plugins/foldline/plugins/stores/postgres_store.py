"""A store of evaluations' events in a team's PostgreSQL. Needs the extra `postgres`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, LiteralString, TypeAlias

from foldline.plugins.stores.outbox import LIMIT, Outbox, RefusedRecordError
from foldline.plugins.stores.postgres import (
    PARTITION_LOCK,
    Server,
    errors,
    limited,
    migrate,
    one,
    psycopg,
    sql,
)
from foldline.plugins.stores.records import COLUMNS, EventRecord, record_of, time_of
from foldline.plugins.stores.store import EventStore
from foldline.prompts.errors import StoreUnavailableError
from foldline.prompts.runtime.events import Event, Listener
from foldline.prompts.runtime.redaction import Redact

VARIABLE = "FOLDLINE_SPOOL"
TEXT_CHARACTERS = 200
"""Values from this length on are stored once, by their hash."""
FLUSH_SECONDS = 5.0
PRUNE_SECONDS = 600
# All lock them in this order.
_TABLES = ("openings", "events")
_KEEP_LAST_DAY: LiteralString = (
    "(hash) DO UPDATE SET last_day = excluded.last_day WHERE texts.last_day < excluded.last_day"
)
_NEW_PARTITION = sql.SQL("CREATE TABLE {} PARTITION OF {} FOR VALUES FROM ({}) TO ({})")
_Row: TypeAlias = "dict[str, Any]"


class PostgresEventStore(Listener, EventStore):
    """An `EventStore` in PostgreSQL, in the schema `foldline`, for all machines of a team.

    Events go through a file on this machine: `add` waits for no network, and an event that it took
    is sent once the server can be reached, by this process or by another one: see `Outbox`. All
    that reads first waits up to five seconds for the events of this process, and raises a
    `StoreUnavailableError` if the server can't be reached, or refuses.

    Args:
        url: A `postgresql://` URL. What it leaves out comes from libpq's variables and files, such
            as `PGPASSWORD` and `~/.pgpass`.
        content: Store texts, too; a function, such as `Redaction()`, redacts them, and reasons.
        spool: The folder for events that wait, in which each database has its own; by default the
            environment's `FOLDLINE_SPOOL`, else one below `~/.local/state`.
        spool_bytes: How much may wait there, of all processes.

    Attributes:
        outbox: Where the events of this machine wait; None before the first of this process.

    Raises:
        ValueError: It isn't such a URL.
    """

    events_table = "foldline.events"
    openings_table = "foldline.openings"

    def __init__(
        self,
        url: str,
        *,
        content: bool | Redact = False,
        spool: str | os.PathLike[str] | None = None,
        spool_bytes: int = LIMIT,
    ) -> None:
        super().__init__()
        self._server = Server(url)
        self._content, self._spool_bytes = content, spool_bytes
        base = spool or os.environ.get(VARIABLE) or "~/.local/state/foldline/spool"
        # What a dead process left is sent by another one with the same folder.
        name = sha256(self._server.database.encode()).hexdigest()[:16]
        self._spool = Path(base).expanduser() / name
        self.outbox: Outbox | None = None
        self._lock = threading.Lock()
        self._connection: psycopg.Connection | None = None

    def add(self, event: Event) -> None:
        """Keep one event until it is stored, unless it is stored already; see `Outbox`."""
        record = record_of(event, content=self._content)
        with self._lock:
            if self.outbox is None or not self.outbox.is_ours:
                # A fork has its parent's, whose answers both would read.
                self._connection = None
                self.outbox = Outbox(
                    self._spool, self._send, self._disconnect, limit=self._spool_bytes
                )
        self.outbox.put(record)

    def flush(self, seconds: float | None = None) -> bool:
        """Wait until the events of this process are stored; returns False when time is up."""
        wait = FLUSH_SECONDS if seconds is None else seconds
        return self.outbox is None or self.outbox.flush(wait)

    def add_all(self, records: Sequence[EventRecord]) -> int:
        """Store the records that aren't stored yet, at once, and return their number."""
        with self._server.connection() as connection:
            return self._insert(connection, records)

    def migrate(self, *, days: int) -> int:
        """Extend the schema, and make partitions from today; returns how many days got one.

        It waits for all who read: up to five seconds, in which others wait behind it.
        """
        created = 0
        with self._server.connection() as connection:
            migrate(connection)
            with limited(connection) as cursor:
                # By the server's clock: this machine's may be the wrong one.
                today: date = one(cursor, "SELECT current_date")
            for day in (today + timedelta(days=number) for number in range(days)):
                # Once the default partition has events of a day, it keeps the day.
                with suppress(errors.CheckViolation), limited(connection) as cursor:
                    cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", PARTITION_LOCK)
                    if day not in _partitions(cursor):
                        for table in _TABLES:
                            cursor.execute(
                                _NEW_PARTITION.format(
                                    _partition(table, day),
                                    sql.Identifier("foldline", table),
                                    sql.Literal(day),
                                    sql.Literal(day + timedelta(days=1)),
                                )
                            )
                        created += 1
        return created

    def prune(self, *, before: datetime) -> int:
        """Delete the events before that time, and return their number; drops whole days at once."""
        self.flush()
        limits = {"at": time_of(before), "day": time_of(before).date()}
        pruned = 0
        with self._server.connection() as connection:
            with connection.cursor() as cursor:
                days = [day for day in _partitions(cursor) if day < limits["day"]]
            # Each by itself: a transaction has only so many locks.
            for day in days:
                with limited(connection, statement_seconds=PRUNE_SECONDS) as cursor:
                    cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", PARTITION_LOCK)
                    if day in _partitions(cursor):
                        count = sql.SQL("SELECT count(*) FROM {}").format(_partition("events", day))
                        pruned += one(cursor, count)
                        for table in _TABLES:
                            cursor.execute(sql.SQL("DROP TABLE {}").format(_partition(table, day)))
            with limited(connection, statement_seconds=PRUNE_SECONDS) as cursor:
                for table in _TABLES:
                    query = sql.SQL("DELETE FROM {} WHERE day <= %(day)s AND at < %(at)s")
                    cursor.execute(query.format(sql.Identifier("foldline", table)), limits)
                pruned += cursor.rowcount
            with limited(connection, statement_seconds=PRUNE_SECONDS) as cursor:
                cursor.execute("DELETE FROM foldline.texts WHERE last_day < %(day)s", limits)
        return pruned

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows of a query, in which `?` stands for a value."""
        self.flush()
        with self._server.transaction() as cursor:
            return cursor.execute(sql.replace("?", "%s"), values).fetchall()

    def close(self) -> None:
        """Unsubscribe from all buses, and wait up to five seconds until all events are sent."""
        super().close()
        if self.outbox is not None:
            self.outbox.close()

    def _send(self, records: Sequence[EventRecord]) -> None:
        """Store records, by the connection of the outbox' thread."""
        try:
            if self._connection is None:
                self._connection = self._server.connect()
            self._insert(self._connection, records)
        except (psycopg.DataError, psycopg.IntegrityError, errors.ProgramLimitExceeded) as error:
            raise RefusedRecordError(self._server.describe(error)) from None
        except psycopg.Error as error:
            self._disconnect()
            raise StoreUnavailableError(self._server.describe(error)) from None

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _insert(self, connection: psycopg.Connection, records: Sequence[EventRecord]) -> int:
        texts: dict[str, _Row] = {}
        events = [_event_row(record, texts) for record in records]
        openings = [
            one
            for record, row in zip(records, events, strict=True)
            for one in _opening_rows(record, row)
        ]
        with limited(connection) as cursor:
            _insert_rows(cursor, "texts", _new_texts(cursor, texts), _KEEP_LAST_DAY)
            _insert_rows(cursor, "openings", openings, "DO NOTHING")
            return _insert_rows(cursor, "events", events, "DO NOTHING")


def _insert_rows(
    cursor: psycopg.Cursor, table: LiteralString, rows: Sequence[_Row], conflict: LiteralString
) -> int:
    """Insert rows, whose types are the table's; returns how many are new."""
    if not rows:
        return 0
    query = sql.SQL(
        "INSERT INTO {0} ({1}) SELECT {1} FROM json_populate_recordset(NULL::{0}, %s) ON CONFLICT "
    ).format(sql.Identifier("foldline", table), sql.SQL(", ").join(map(sql.Identifier, rows[0])))
    cursor.execute(query + sql.SQL(conflict), [json.dumps(rows, default=str)])
    return cursor.rowcount


def _event_row(record: EventRecord, texts: dict[str, _Row]) -> _Row:
    """Return an event's row; adds the rows of its long values to `texts`, by their hashes."""
    row: _Row = {**dict(zip(COLUMNS, record, strict=False)), "day": record.at.date(), "texts": None}
    if len(record.data) > TEXT_CHARACTERS:
        short, long = {}, {}
        for name, value in json.loads(record.data).items():
            # ASCII alone: a database has no surrogates.
            text = json.dumps(value)
            if len(text) < TEXT_CHARACTERS:
                short[name] = value
                continue
            hashed = long[name] = sha256(text.encode()).hexdigest()
            last = max(record.at.date(), texts.get(hashed, {"last_day": date.min})["last_day"])
            texts[hashed] = {"hash": hashed, "text": text, "last_day": last}
        if long:
            row |= {"data": json.dumps(short), "texts": json.dumps(long)}
    return row


def _opening_rows(record: EventRecord, row: _Row) -> Iterable[_Row]:
    shared = ("day", "event_id", "at", "ns", "key", "evaluation_id", "session_id")
    for position, opening in enumerate(record.openings):
        yield {name: row[name] for name in shared} | opening._asdict() | {"position": position}


def _new_texts(cursor: psycopg.Cursor, texts: Mapping[str, _Row]) -> list[_Row]:
    """Return the texts that aren't stored yet, or for an earlier day: most are, and aren't sent."""
    if not texts:
        return []
    cursor.execute("SELECT hash, last_day FROM foldline.texts WHERE hash = ANY(%s)", [[*texts]])
    days: dict[str, date] = dict(cursor)
    # In one order everywhere, as two writers would wait for each other otherwise.
    return [
        texts[name] for name in sorted(texts) if days.get(name, date.min) < texts[name]["last_day"]
    ]


def _partition(table: str, day: date) -> sql.Identifier:
    return sql.Identifier("foldline", f"{table}_{day:%Y%m%d}")


def _partitions(cursor: psycopg.Cursor) -> list[date]:
    """Return the days with partitions of their own."""
    cursor.execute(
        "SELECT right(relname, 8) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
        "WHERE inhparent = 'foldline.events'::regclass AND relname ~ '^events_[0-9]{8}$'"
    )
    return [datetime.strptime(row[0], "%Y%m%d").date() for row in cursor]
