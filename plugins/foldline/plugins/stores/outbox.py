"""Events on their way to a server: in a file of all processes first, then in the background."""

from __future__ import annotations

import atexit
import logging
import os
import sqlite3
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from foldline.plugins.stores.records import EventRecord, numbers_of, stored_record
from foldline.plugins.stores.sqlite_store import MIGRATIONS, SQLiteEventStore

LIMIT = 64 << 20
"""Bytes of events that wait: of sizes and keys alone, a hundred thousand events."""
RESERVE = 1 << 20
"""Bytes that are given back on a full disk, where deleting needs room, too."""
FIRST_PAUSE, LAST_PAUSE = 0.5, 30.0
CLOSE_SECONDS = IDLE_SECONDS = 5.0
LOOK_SECONDS = 60.0
"""How often to look for events of processes that are gone."""
TURN_SECONDS, POLL_SECONDS = 40.0, 0.05
"""How long another process may send without success, and how often to look."""
DROPPED = "EventsDropped"
"""The kind of an event that says how many others were dropped."""

_log = logging.getLogger(__name__)


class RefusedRecordError(Exception):
    """A record, or one of several, that the server will never take."""


class Outbox(SQLiteEventStore):
    """The events of all processes of this machine, in one SQLite file until the server has them.

    `put` returns when an event is in the file; a thread of one process after the other sends what
    is there. So nothing waits for the network, and no event is lost when a process or the server
    dies. While `limit` bytes wait, or the disk is full, further events are dropped: what was taken
    stays. How many were dropped is an event `EventsDropped` as soon as there is room.

    Args:
        folder: Where the file is.
        send: Sends records. It may get one again: the server knows it by its id.
            `RefusedRecordError` says that one never goes through, any other error to try later.
        rest: Called in the same thread when there is nothing to send, and at the end.
        limit: The bytes that may wait, of all processes.

    Attributes:
        dropped: The number of events that this process dropped.
        problem: The reason why events can't be sent; None while they can.
    """

    def __init__(
        self,
        folder: Path,
        send: Callable[[Sequence[EventRecord]], object],
        rest: Callable[[], object],
        *,
        limit: int = LIMIT,
    ) -> None:
        self.dropped = self._unreported = 0
        self.problem: Exception | None = None
        self._folder, self._send, self._rest, self._limit = folder, send, rest, limit
        self._reserve, self._process = folder / "reserve", os.getpid()
        # Events are sent in their order: once the last one is, none of this process waits.
        self._last = ""
        self._closing = self._hurry = self._fresh = False
        # A file that can't be opened now is opened when it is used.
        with suppress(sqlite3.Error, OSError, ValueError):
            super().__init__(folder / "waiting.sqlite3")
        self._changed = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._run, name="foldline-outbox", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def is_ours(self) -> bool:
        """True in the process that opened it; a fork doesn't have the thread."""
        return self._process == os.getpid()

    @property
    def waiting(self) -> int:
        """The number of events, of all processes, that wait to be sent."""
        return int(self.rows("SELECT count(*) FROM events")[0][0])

    def put(self, *records: EventRecord) -> None:
        """Keep records until they are sent; without room, drop them and count them."""
        with self._changed:
            rows = (*self._report(), *records)
            try:
                if rows and self.add_all(rows):
                    self._last = rows[-1].event_id
                    self._fresh = True
                self._unreported = 0
            except (sqlite3.Error, OSError, ValueError) as error:
                for _ in records:
                    self._drop(f"{self._folder}: {error}")
                    self._fresh = True
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait until no event of this process waits any more; returns False when time is up."""
        end = time.monotonic() + seconds
        query = "SELECT 1 FROM events WHERE event_id = ?"
        with self._changed, suppress(sqlite3.Error):
            self._hurry = True
            self._changed.notify_all()
            # It may be another process that sends it.
            while self._last and self.rows(query, [self._last]):
                if (left := end - time.monotonic()) <= 0:
                    return False
                self._changed.wait(min(left, POLL_SECONDS))
            return True
        return False

    def close(self) -> None:
        """Send what waits, as far as that goes in five seconds; the rest stays in the file."""
        atexit.unregister(self.close)
        if not self.is_ours or self._closing:
            return
        self.put()
        self.flush(CLOSE_SECONDS)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        # One that hangs in the network ends with the process.
        self._thread.join(1.0)
        super().close()

    def _open(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            super()._open()
        except sqlite3.OperationalError:
            self._spare()
            super()._open()
        self._refill()
        # What was deleted makes room for others. It isn't overwritten, nor deleted row by row.
        self._database.executescript(
            f"PRAGMA max_page_count = {self._limit // 4096}; PRAGMA journal_size_limit = {RESERVE};"
            "PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY"
        )

    def _version(self) -> int:
        # A newer foldline has only added to it.
        with suppress(ValueError):
            return super()._version()
        return len(MIGRATIONS)

    def _drop(self, reason: str) -> None:
        if not self._unreported:
            _log.warning("Events are dropped: %s", reason)
        self.dropped += 1
        self._unreported += 1

    def _report(self) -> tuple[EventRecord, ...]:
        if not self._unreported:
            return ()
        name, data = uuid.uuid4().hex, f'{{"events": {self._unreported}}}'
        row = (name, datetime.now(UTC), DROPPED, "", "", name, None, None, data)
        return (stored_record((*row, *numbers_of({})), ()),)

    def _run(self) -> None:
        pause = FIRST_PAUSE
        try:
            while not self._closing:
                self._fresh = False
                try:
                    self._send_waiting()
                    self.problem, pause = None, FIRST_PAUSE
                    self.put()
                    if not self._wait_for(lambda: self._fresh, IDLE_SECONDS):
                        self._rest()
                        self._wait_for(lambda: self._fresh, LOOK_SECONDS)
                except Exception as error:
                    if self.problem is None and not self._closing:
                        _log.warning("Events wait in %s: %s", self._folder, error)
                    self.problem = error
                    self._wait_for(lambda: self._hurry, pause)
                    self._hurry = False
                    pause = min(pause * 2, LAST_PAUSE)
        finally:
            self._rest()

    def _wait_for(self, condition: Callable[[], object], seconds: float) -> bool:
        """Wait for a condition or the end, but no longer than that."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: self._closing or condition(), seconds))

    def _send_waiting(self) -> None:
        """Send what waits, or wait until another process has sent it."""
        first, since = None, 0.0
        while not self._closing and (row := self.rows("SELECT min(number) FROM events")[0][0]):
            if row != first:
                first, since = row, time.monotonic()
            with self._reserve.open("ab") as file:
                # A process that was stopped while it sent would keep the lock.
                if _is_locked(file) or time.monotonic() - since >= TURN_SECONDS:
                    self._send_in_order()
                    continue
            self._rest()
            self._wait_for(lambda: False, POLL_SECONDS)

    def _send_in_order(self) -> None:
        after, is_full = 0, False
        while not self._closing and (batch := self.records(after=after)):
            self._send_all([record for _, record in batch])
            after = batch[-1][0]
            try:
                if not is_full:
                    self._discard(after)
            except sqlite3.OperationalError:
                is_full = True
        if is_full:
            self._discard(after, spare=True)
            self.rows("VACUUM")
            self.rows("PRAGMA wal_checkpoint")
            self._refill()

    def _discard(self, through: int, *, spare: bool = False) -> None:
        with self._transaction() as database:
            if spare:
                # Now, when no other process can take the room.
                self._spare()
            newer = database.execute("SELECT 1 FROM events WHERE number > ?", [through]).fetchone()
            for table, number in (("openings", "event"), ("events", "number")):
                # To delete all rows needs a page of each thousand.
                which = f" WHERE {number} <= {through}" if newer else ""
                database.execute(f"DELETE FROM {table}{which}")
            self._changed.notify_all()

    def _send_all(self, records: Sequence[EventRecord]) -> None:
        try:
            self._send(records)
        except RefusedRecordError as error:
            # One that never goes through doesn't hold up the others.
            if len(records) == 1:
                with self._changed:
                    self._drop(str(error))
                return
            middle = len(records) // 2
            self._send_all(records[:middle])
            self._send_all(records[middle:])

    def _spare(self) -> None:
        with suppress(OSError):
            os.truncate(self._reserve, self._reserve.stat().st_size // 2)

    def _refill(self) -> None:
        self._reserve.touch(mode=0o600)
        if self._reserve.stat().st_size < RESERVE:
            with suppress(OSError):
                self._reserve.write_bytes(os.urandom(RESERVE))


def _is_locked(file: BinaryIO) -> bool:
    if sys.platform == "win32":
        # Two processes may send an event, which counts once.
        return True
    import fcntl

    with suppress(OSError):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
