"""The protocol of stores of evaluations' events, and the choice of one."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypedDict, Unpack
from urllib.parse import urlsplit

from foldline.links import resolved
from foldline.plugins.stores.records import (
    EventRecord,
    SectionOpening,
    StoredEvent,
    stored_name,
    time_of,
)
from foldline.prompts.bus import EventBus
from foldline.prompts.files import read_text_file
from foldline.prompts.runtime.events import Event
from foldline.prompts.runtime.redaction import Redact

VARIABLE = "FOLDLINE_STORE"
_PROJECT_BYTES = 2_000_000
# The table of a project's settings, by file.
_TABLES = {"foldline.toml": (), "pyproject.toml": ("tool", "foldline")}
# What libpq takes beside URLs; its text may hold a password.
_PAIRS = re.compile(r"\s*\w+\s*=")


class EventFilter(TypedDict, total=False):
    """The events to report on: by default all."""

    prompt_ns: str | None
    prompt_key: str | None
    since: datetime | None
    until: datetime | None
    """Those before this time."""


class DayOpenings(NamedTuple):
    """Counts of models' openings and readings of a section of a prompt on one day, in UTC."""

    day: date
    prompt_ns: str
    prompt_key: str
    section_key: str
    openings: int
    evaluations: int


class TokenTotals(NamedTuple):
    """The tokens of all the answers to a prompt, by kind."""

    prompt_ns: str
    prompt_key: str
    answers: int
    input: int
    output: int
    cached: int
    written: int


class SizeTotals(NamedTuple):
    """The characters of one kind of a prompt's events, such as `PromptRendered`."""

    prompt_ns: str
    prompt_key: str
    kind: str
    events: int
    characters: int
    largest: int


class EventStore(Protocol):
    """Stores the events of a bus: which sections were opened, how often, at which turn, and why.

    `open_event_store` opens the one that is configured, a `SQLiteEventStore` or a
    `PostgresEventStore`. Both keep sizes, keys, counts and the models' reasons for opening
    sections; prompts, answers, parameters and results only if they keep content. All methods may be
    called from any thread. The reports are one SQL for every database, and what they group is
    sorted here, as databases differ in the order of texts.
    """

    events_table: str
    openings_table: str

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows of a query, in which `?` stands for a value."""
        ...

    def attach(self, bus: EventBus) -> None:
        """Add the events of this bus from now on."""
        ...

    def add(self, event: Event) -> None:
        """Store one event, unless it is stored already."""
        ...

    def add_all(self, records: Sequence[EventRecord]) -> int:
        """Store the records of another store that this one lacks, and return their number."""
        ...

    def prune(self, *, before: datetime) -> int:
        """Delete the events before that time, and return their number."""
        ...

    def migrate(self, *, days: int) -> int:
        """Prepare a server for the next days; returns how many are new: none in a file."""
        return 0

    def close(self) -> None:
        """Unsubscribe from all buses, and close the store."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def events(self, **only: Unpack[EventFilter]) -> tuple[StoredEvent, ...]:
        """Return events, in the order in which they were stored."""
        where, values = _where(only)
        rows = self.rows(
            "SELECT at, kind, ns, key, evaluation_id, session_id, provider, data, texts "
            f"FROM {self.events_table}{where} ORDER BY number",
            values,
        )
        hashes = {text for row in rows if row[-1] for text in json.loads(row[-1]).values()}
        query = "SELECT hash, text FROM foldline.texts WHERE hash = ANY(?)"
        texts = dict(self.rows(query, [[*hashes]])) if hashes else {}
        return tuple(
            StoredEvent(*(time_of(at), *row, _whole(data, long, texts)))
            for at, *row, data, long in rows
        )

    def openings(self, **only: Unpack[EventFilter]) -> tuple[SectionOpening, ...]:
        """Return the sections that models opened or read, in order."""
        where, values = _where(only)
        rows = self.rows(
            "SELECT at, section, how, turn, reason, evaluation_id, session_id "
            f"FROM {self.openings_table}{where} ORDER BY number",
            values,
        )
        return tuple(SectionOpening(time_of(at), *row) for at, *row in rows)

    def opening_counts(self, **only: Unpack[EventFilter]) -> Mapping[str, int]:
        """Return the number of openings and reads by section of a prompt, most frequent first.

        A section that nearly every evaluation opens should be shown in full.
        """
        where, values = _where(only)
        sql = f"SELECT section, count(*) FROM {self.openings_table}{where} GROUP BY section"
        return dict(sorted(self.rows(sql, values), key=lambda row: (-row[1], row[0])))

    def openings_by_day(self, **only: Unpack[EventFilter]) -> tuple[DayOpenings, ...]:
        """Return the openings and reads by day, prompt and section."""
        where, values = _where(only)
        # One row for each evaluation first: counting distinct ids would sort all of them.
        rows = self.rows(
            "SELECT day, ns, key, section, CAST(sum(times) AS bigint), count(*) FROM "
            "(SELECT day, ns, key, section, evaluation_id, count(*) AS times "
            f"FROM {self.openings_table}{where} GROUP BY day, ns, key, section, evaluation_id) "
            "AS runs GROUP BY day, ns, key, section",
            values,
        )
        return tuple(sorted(DayOpenings(date.fromisoformat(str(day)), *row) for day, *row in rows))

    def token_totals(self, **only: Unpack[EventFilter]) -> tuple[TokenTotals, ...]:
        """Return the tokens of the models' answers by prompt."""
        where, values = _where(only, "kind = 'ModelAnswered'")
        kinds = ("input_tokens", "output_tokens", "cached_tokens", "written_tokens")
        sums = ", ".join(f"CAST(coalesce(sum({kind}), 0) AS bigint)" for kind in kinds)
        sql = f"SELECT ns, key, count(*), {sums} FROM {self.events_table}{where} GROUP BY ns, key"
        return tuple(sorted(TokenTotals(*row) for row in self.rows(sql, values)))

    def size_totals(self, **only: Unpack[EventFilter]) -> tuple[SizeTotals, ...]:
        """Return the characters of prompts, answers and results by prompt and kind of event."""
        where, values = _where(only, "characters IS NOT NULL")
        sql = (
            "SELECT ns, key, kind, count(*), CAST(sum(characters) AS bigint), max(characters) "
            f"FROM {self.events_table}{where} GROUP BY ns, key, kind"
        )
        return tuple(sorted(SizeTotals(*row) for row in self.rows(sql, values)))


def open_event_store(
    where: str | os.PathLike[str] | None = None, *, content: bool | Redact = False
) -> EventStore:
    """Open a store of events.

    Args:
        where: A `postgresql://` URL, which needs the extra `postgres`, or the path of an SQLite
            file. By default the environment's `FOLDLINE_STORE`, else `store` of the nearest
            `foldline.toml`, or of `[tool.foldline]` of the nearest `pyproject.toml`.
        content: Store texts, too; a function, such as `Redaction()`, redacts them, and reasons.

    Raises:
        ValueError: No store is configured, or it isn't a valid one.
        ModuleNotFoundError: The extra `postgres` isn't installed.
    """
    chosen = where or os.environ.get(VARIABLE) or project_store(Path.cwd())
    if not chosen:
        raise ValueError(
            f"No store is configured: set {VARIABLE}, or `store` in foldline.toml or "
            "[tool.foldline] of pyproject.toml, to a postgresql:// URL or a path, or pass one."
        )
    if is_server(chosen):
        from foldline.plugins.stores.postgres_store import PostgresEventStore

        return PostgresEventStore(str(chosen), content=content)
    from foldline.plugins.stores.sqlite_store import SQLiteEventStore

    return SQLiteEventStore(chosen, content=content)


def is_server(where: str | os.PathLike[str]) -> bool:
    """Return whether a store is a server's, rather than a file, whatever the scheme of its URL.

    Raises:
        ValueError: It's a list of `key=value` pairs.
    """
    if _PAIRS.match(str(where)):
        raise ValueError("A store is a postgresql:// URL or a path, and not `key=value` pairs.")
    return "://" in str(where)


def project_store(folder: Path) -> str | None:
    """Return `store` of the nearest `foldline.toml` or `pyproject.toml`, upward from a folder.

    Raises:
        ValueError: That isn't TOML, or names a password or a file outside of the project.
    """
    files = (one / name for one in (folder, *folder.parents) for name in _TABLES)
    file = next((one for one in files if one.exists()), None)
    if file is None:
        return None
    root = file.parent
    try:
        table: Any = tomllib.loads(read_text_file(file, _PROJECT_BYTES))
        store = reduce(getitem, (*_TABLES[file.name], "store"), table)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file} isn't TOML: {error}") from error
    except (KeyError, TypeError):
        return None
    if not isinstance(store, str) or not store:
        raise ValueError(f"{file}: `store` is a postgresql:// URL or a path.")
    if is_server(store):
        parts = urlsplit(store)
        if parts.password is not None or not re.fullmatch(r"(sslmode=[a-z-]+)?", parts.query):
            # All who have the project read it, and it may be a stranger's.
            raise ValueError(
                f"{file}: `store` names a user, a host, a port, a database and `sslmode` only; a "
                f"password belongs into PGPASSWORD, ~/.pgpass or {VARIABLE}."
            )
        return store
    path = resolved(root / store)
    if not path.is_relative_to(resolved(root)):
        raise ValueError(f"{file}: `store` is a file inside the project, not {store!r}.")
    return str(path)


def _where(only: EventFilter, *conditions: str) -> tuple[str, list[object]]:
    """Return the clause that selects events, and its values."""
    begin, end = (at and time_of(at) for at in (only.get("since"), only.get("until")))
    names = (only.get("prompt_ns"), only.get("prompt_key"))
    ns, key = (None if name is None else stored_name(name) for name in names)
    # The days let PostgreSQL leave out the partitions of other days.
    wanted: Mapping[str, object] = {
        "ns = ?": ns,
        "key = ?": key,
        "at >= ?": begin,
        "day >= ?": begin and begin.date(),
        "at < ?": end,
        "day <= ?": end and end.date(),
    }
    limits = {condition: value for condition, value in wanted.items() if value is not None}
    clause = " AND ".join([*conditions, *limits])
    return (f" WHERE {clause}" if clause else ""), [*limits.values()]


def _whole(data: str, hashes: str | None, texts: Mapping[str, str]) -> dict[str, object]:
    """Return an event's data; a text that was pruned is None."""
    record: dict[str, object] = json.loads(data)
    for name, text in (json.loads(hashes) if hashes else {}).items():
        record[name] = json.loads(texts[text]) if text in texts else None
    return record
