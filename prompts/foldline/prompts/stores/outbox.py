"""Events on their way to a server: in a file first, and sent in the background."""

from __future__ import annotations

import atexit
import logging
import os
import sqlite3
import threading
import time
import uuid
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from foldline.prompts.stores.records import EventRecord, numbers_of, stored_record
from foldline.prompts.stores.sqlite_store import SQLiteEventStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LIMIT = 64 << 20
"""Bytes of events that wait: of sizes and keys alone, more than a hundred thousand events."""
FIRST_PAUSE, LAST_PAUSE = 0.5, 30.0
CLOSE_SECONDS = 5.0
LOOK_SECONDS = 60.0
"""How often to look for the files of processes that are gone."""
UNLOCKED_SECONDS = 10.0
"""A younger file may be one that its process is about to lock."""
DROPPED = "EventsDropped"
"""The kind of an event that says how many others were dropped."""

_log = logging.getLogger(__name__)


class RefusedRecordError(Exception):
    """A record, or one of several, that the server will never take."""


class Outbox:
    """The events of one process, in an SQLite file of its own until the server has them.

    `put` returns when an event is in the file; a thread sends it. So nothing waits for the network,
    and no event is lost when the process or the server dies. Files that dead processes left are
    sent within a minute. While the folder has `limit` bytes, further events are dropped: what was
    taken stays. How many were dropped is an event `EventsDropped` as soon as there is room.

    Args:
        folder: Where the files are; a living process has its own locked.
        send: Sends records. It may get one again: the server knows it by its id.
            `RefusedRecordError` says that one never goes through, any other error to try later.
        done: Called in the same thread when nothing will be sent any more.
        limit: The bytes that may wait, with the files of others as they were a minute ago.

    Attributes:
        dropped: The number of events that were dropped.
        problem: The reason why events can't be sent; None while they can.

    Raises:
        OSError: The folder can't be written.
    """

    def __init__(
        self,
        folder: Path,
        send: Callable[[Sequence[EventRecord]], object],
        done: Callable[[], object],
        *,
        limit: int = LIMIT,
    ) -> None:
        self.dropped = self._unreported = 0
        self.problem: Exception | None = None
        self._folder, self._send, self._done, self._limit = folder, send, done, limit
        self._process = os.getpid()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / f"{self._process}-{uuid.uuid4().hex[:12]}.db"
        try:
            self._spool = SQLiteEventStore(self._path, exclusive=True)
        except sqlite3.Error as error:
            raise OSError(f"{self._path}: {error}") from error
        # The sizes of the events that wait, in their order.
        self._sizes: deque[int] = deque()
        self._bytes, self._room = 0, self._room_left()
        self._changed = threading.Condition()
        self._closing = self._hurry = False
        self._thread = threading.Thread(target=self._run, name="foldline-outbox", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def is_ours(self) -> bool:
        """True in the process that opened it; a fork has neither the thread nor the file's lock."""
        return self._process == os.getpid()

    @property
    def waiting(self) -> int:
        """How many events of this process wait to be sent."""
        return len(self._sizes)

    def put(self, record: EventRecord) -> None:
        """Keep a record until it is sent; without room, drop it and count it."""
        with self._changed:
            if self._bytes + _size(record) > self._room:
                self._drop(f"{self._path} is full")
            else:
                self._keep(record)

    def flush(self, seconds: float) -> bool:
        """Wait until no event of this process waits any more; returns False when time is up."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._sizes, seconds)

    def close(self) -> None:
        """Send what waits, as far as that goes in five seconds; the rest stays in the file."""
        atexit.unregister(self.close)
        if not self.is_ours or self._closing:
            return
        with self._changed:
            self._keep()
        self.flush(CLOSE_SECONDS)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        # One that hangs in the network ends with the process.
        self._thread.join(1.0)
        with self._changed:
            self._spool.close()
            if not self._sizes:
                self._path.unlink(missing_ok=True)

    def _room_left(self) -> int:
        """Return how much of the limit the files of others leave."""
        room = self._limit
        for path in self._folder.glob("*.db*"):
            with suppress(FileNotFoundError):
                room -= 0 if path.name.startswith(self._path.name) else path.stat().st_size
        return room

    def _keep(self, *new: EventRecord) -> None:
        """Write a record, and before it how many were dropped; on a full disk, drop it too."""
        records = (*self._report(), *new)
        try:
            stored = self._spool.add_all(records)
        except sqlite3.Error as error:
            if new:
                self._drop(f"{self._path}: {error}")
            return
        self._unreported = 0
        # Only the last one may wait already.
        sizes = [*map(_size, records[:stored])]
        self._sizes += sizes
        self._bytes += sum(sizes)
        self._changed.notify_all()

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
        pause, looked = FIRST_PAUSE, -LOOK_SECONDS
        try:
            # At once: what others left may take all the room.
            while not self._closing:
                try:
                    self._send_own()
                    if time.monotonic() - looked >= LOOK_SECONDS:
                        self._send_left()
                        self._room = self._room_left()
                        looked = time.monotonic()
                    self.problem, pause = None, FIRST_PAUSE
                    self._wait_for(lambda: self._sizes, LOOK_SECONDS)
                except Exception as error:
                    if self.problem is None and not self._closing:
                        _log.warning("Events wait in %s: %s", self._path, error)
                    self.problem = error
                    self._wait_for(lambda: self._hurry, pause)
                    self._hurry = False
                    pause = min(pause * 2, LAST_PAUSE)
        finally:
            self._done()

    def _wait_for(self, condition: Callable[[], object], seconds: float) -> None:
        """Wait for a condition or the end, but no longer than that."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or condition(), seconds)

    def _send_left(self) -> None:
        """Send what processes that are gone left in their files."""
        for path in sorted(self._folder.glob("*.db")):
            # That of a living one is locked; one that isn't sound is left for a person.
            with suppress(sqlite3.Error, ValueError, FileNotFoundError):
                # A clock that was wrong gives files of the future.
                age = abs(time.time() - path.stat().st_mtime)
                if path != self._path and age > UNLOCKED_SECONDS:
                    self._send_file(path)

    def _send_file(self, path: Path) -> None:
        with SQLiteEventStore(path, exclusive=True) as store:
            while batch := store.records():
                self._send_all([record for _, record in batch])
                store.discard(through=batch[-1][0])
                if self._closing:
                    return
                self._send_own()
        path.unlink(missing_ok=True)

    def _send_own(self) -> None:
        while True:
            with self._changed:
                batch = self._spool.records()
            if not batch:
                return
            self._send_all([record for _, record in batch])
            with self._changed:
                self._spool.discard(through=batch[-1][0])
                self._bytes -= sum(self._sizes.popleft() for _ in batch)
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


def _size(record: EventRecord) -> int:
    """Return the bytes that a record takes in a file, roughly; at least those of its texts."""
    texts = (record.data, *(opening.reason or "" for opening in record.openings))
    return 200 * len(texts) + sum(len(one) * (1 if one.isascii() else 4) for one in texts)
