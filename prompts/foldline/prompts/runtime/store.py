"""A store of evaluations' events, in one SQLite file."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from foldline.prompts.disclosure.disclosure import OpenSectionsParams, ReadSectionParams
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.runtime.events import Event, Listener, ToolInvoked

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

SCHEMA_VERSION = 1
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY,
    event_id TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    ns TEXT NOT NULL,
    key TEXT NOT NULL,
    evaluation_id TEXT NOT NULL,
    session_id TEXT,
    provider TEXT,
    data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_prompt ON events (ns, key, number);
CREATE TABLE IF NOT EXISTS openings (
    event INTEGER NOT NULL REFERENCES events (number) ON DELETE CASCADE,
    section TEXT NOT NULL,
    how TEXT NOT NULL,
    turn INTEGER NOT NULL,
    reason TEXT
);
CREATE INDEX IF NOT EXISTS openings_by_event ON openings (event);
PRAGMA user_version = {SCHEMA_VERSION};
"""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One stored event."""

    at: datetime
    kind: str
    """The event's class, such as `ToolInvoked`."""
    prompt_ns: str
    prompt_key: str
    evaluation_id: str
    session_id: str | None
    provider: str | None
    data: Mapping[str, object]
    """Sizes, keys and counts; texts only if the store keeps content."""


@dataclass(frozen=True, slots=True)
class SectionOpening:
    """One section that a model opened or read."""

    at: datetime
    section_key: str
    """The dotted key, as the model wrote it."""
    how: str
    """`open_sections` or `read_section`."""
    turn: int
    """The number of the model's message in the evaluation, from 1."""
    reason: str | None
    evaluation_id: str
    session_id: str | None


class EventStore(Listener):
    """Stores the events of a bus: which sections were opened, how often, at which turn, and why.

    >>> from foldline.prompts.runtime import InProcessEventBus
    >>> bus = InProcessEventBus()
    >>> with EventStore(":memory:") as store:
    ...     store.attach(bus)
    ...     list(store.events())
    []

    It stores sizes, keys, counts and the models' reasons for opening sections; prompts, answers,
    parameters and results only if `content` is true. Several processes can write to one file; while
    one has it open, SQLite keeps two more files next to it. All methods may be called from any
    thread.

    Args:
        path: The file, created if it doesn't exist; `:memory:` lasts as long as the store is open.
        content: Store texts, too.

    Raises:
        ValueError: The file was written by a newer version.
    """

    def __init__(self, path: str | os.PathLike[str], *, content: bool = False) -> None:
        super().__init__()
        self._content = content
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, timeout=5, check_same_thread=False)
        try:
            (version,) = self._database.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA_VERSION:
                raise ValueError(
                    f"{path} was written by a newer foldline (format {version}; this one reads "
                    f"{SCHEMA_VERSION})."
                )
            self._database.execute("PRAGMA foreign_keys = ON")
            # Write-ahead logging, so that events don't wait for the disk. It is optional: another
            # process may be using the file, or the file system may not support it.
            with contextlib.suppress(sqlite3.OperationalError):
                self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            if version < SCHEMA_VERSION:
                self._database.executescript(SCHEMA)
        except BaseException:
            self._database.close()
            raise

    def add(self, event: Event) -> None:
        """Store one event, unless it is stored already."""
        row = (
            event.event_id,
            event.created_at.astimezone(UTC).isoformat(),
            type(event).__name__,
            event.prompt_ns,
            event.prompt_key,
            event.evaluation_id,
            event.session_id,
            event.provider,
            json.dumps(
                {**event.facts(), **(event.content() if self._content else {})},
                ensure_ascii=False,
            ),
        )
        with self._lock, self._database:
            cursor = self._database.execute(
                "INSERT OR IGNORE INTO events (event_id, at, kind, ns, key, evaluation_id, "
                "session_id, provider, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            if cursor.rowcount and isinstance(event, ToolInvoked):
                self._database.executemany(
                    "INSERT INTO openings (event, section, how, turn, reason) "
                    "VALUES (?, ?, ?, ?, ?)",
                    [
                        (cursor.lastrowid, section, event.name, event.turn, reason)
                        for section, reason in _openings(event)
                    ],
                )

    def events(
        self, *, prompt_ns: str | None = None, prompt_key: str | None = None
    ) -> tuple[StoredEvent, ...]:
        """Return the events of one prompt or of all, in the order in which they were stored."""
        where, values = _where(prompt_ns, prompt_key)
        with self._lock:
            rows = self._database.execute(
                "SELECT at, kind, ns, key, evaluation_id, session_id, provider, data "
                f"FROM events{where} ORDER BY number",
                values,
            ).fetchall()
        return tuple(
            StoredEvent(*(datetime.fromisoformat(at), *names, json.loads(data)))
            for at, *names, data in rows
        )

    def openings(
        self, *, prompt_ns: str | None = None, prompt_key: str | None = None
    ) -> tuple[SectionOpening, ...]:
        """Return the sections that models opened or read, in order, of one prompt or of all."""
        where, values = _where(prompt_ns, prompt_key)
        with self._lock:
            rows = self._database.execute(
                "SELECT at, section, how, turn, reason, evaluation_id, session_id "
                f"FROM openings JOIN events ON event = number{where} "
                "ORDER BY number, openings.rowid",
                values,
            ).fetchall()
        return tuple(SectionOpening(datetime.fromisoformat(row[0]), *row[1:]) for row in rows)

    def opening_counts(self, *, prompt_ns: str, prompt_key: str) -> Mapping[str, int]:
        """Return the number of openings and reads by section of a prompt, most frequent first.

        A section that nearly every evaluation opens should be shown in full.
        """
        counts: dict[str, int] = {}
        for opening in self.openings(prompt_ns=prompt_ns, prompt_key=prompt_key):
            counts[opening.section_key] = counts.get(opening.section_key, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def prune(self, *, before: datetime) -> int:
        """Delete the events before that time, and return their number."""
        with self._lock, self._database:
            return self._database.execute(
                "DELETE FROM events WHERE at < ?", (before.astimezone(UTC).isoformat(),)
            ).rowcount

    def close(self) -> None:
        """Unsubscribe from all buses, and close the file."""
        super().close()
        with self._lock:
            self._database.close()


def _openings(event: ToolInvoked) -> Iterator[tuple[str, str | None]]:
    if not event.success:
        return
    params = event.params
    if event.name == OPEN_SECTIONS and isinstance(params, OpenSectionsParams):
        for key in params.section_keys:
            yield key, params.reason
    elif event.name == READ_SECTION and isinstance(params, ReadSectionParams):
        yield params.section_key, None


def _where(ns: str | None, key: str | None) -> tuple[str, list[str]]:
    conditions = [
        (column, value) for column, value in (("ns", ns), ("key", key)) if value is not None
    ]
    clause = " AND ".join(f"{column} = ?" for column, _ in conditions)
    return (f" WHERE {clause}" if conditions else ""), [value for _, value in conditions]
