"""Every store of events and of overrides, by one set of tests; and PostgreSQL when it is away."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from foldline.prompts import (
    MarkdownSection,
    OverrideConflictError,
    OverridesStore,
    OverrideStore,
    PromptOverride,
    PromptTemplate,
    PromptValidationError,
    SectionOverride,
    StoreUnavailableError,
    seed_override,
)
from foldline.prompts.disclosure.disclosure import OpenSectionsParams, ReadSectionParams
from foldline.prompts.runtime import (
    Event,
    EventStore,
    InProcessEventBus,
    ModelAnswered,
    PromptExecuted,
    SectionsOpened,
    SQLiteEventStore,
    TokenUsage,
    ToolInvoked,
    open_event_store,
)
from foldline.prompts.stores import outbox, postgres
from foldline.prompts.stores import postgres_store as postgres_store_module
from foldline.prompts.stores.postgres import MIGRATIONS, Server, migrate
from foldline.prompts.stores.postgres_overrides import PostgresOverridesStore
from foldline.prompts.stores.postgres_store import PostgresEventStore

from .old_file import old_file
from .postgres_server import PASSWORD, PostgresServer, running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.real

NOW = datetime.now(UTC)
WAIT = 60.0
PAGE = Path(__file__).parents[2] / "docs" / "stores.md"


@pytest.fixture(scope="module")
def server(program: Callable[..., str]) -> Iterator[PostgresServer]:
    yield from running_server(program)


@pytest.fixture
def url(server: PostgresServer) -> str:
    return server.database()


@pytest.fixture(params=["sqlite", "postgres"])
def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., SQLiteEventStore | PostgresEventStore]]:
    """Opens one store, again and again."""
    stores: list[EventStore] = []
    url = request.getfixturevalue("url") if request.param == "postgres" else ""

    def open_store(**options: bool) -> SQLiteEventStore | PostgresEventStore:
        store = (
            PostgresEventStore(url, spool=tmp_path / "spool", **options)
            if url
            else SQLiteEventStore(tmp_path / "events.db", **options)
        )
        stores.append(store)
        return store

    yield open_store
    for store in stores:
        store.close()


def postgres_store(url: str, spool: Path, **options: Any) -> PostgresEventStore:
    """A store whose events wait in the folder itself, not in the one of its database there."""
    store = PostgresEventStore(url, **options)
    store._spool = spool
    return store


def opening(
    *sections: str, key: str = "k", at: datetime = NOW, run: str = "run", **fields: Any
) -> ToolInvoked:
    params = OpenSectionsParams(reason="need it", section_keys=sections)
    return ToolInvoked(
        **{
            "prompt_ns": "ns",
            "prompt_key": key,
            "evaluation_id": run,
            "created_at": at,
            "name": "open_sections",
            "turn": 1,
            "call_id": "c",
            "params": params,
            **fields,
        }
    )


def answer(text: str, *tokens: int, key: str = "k", at: datetime = NOW) -> ModelAnswered:
    return ModelAnswered(
        prompt_ns="ns",
        prompt_key=key,
        evaluation_id="run",
        created_at=at,
        turn=1,
        text=text,
        tool_calls=(),
        usage=TokenUsage(*tokens),
    )


def reports(store: EventStore, **only: Any) -> dict[str, object]:
    return {
        "events": store.events(**only),
        "openings": store.openings(**only),
        "opening_counts": dict(store.opening_counts(**only)),
        "openings_by_day": store.openings_by_day(**only),
        "token_totals": store.token_totals(**only),
        "size_totals": store.size_totals(**only),
    }


def many_events() -> list[Event]:
    """Events of three prompts over five days."""
    events: list[Event] = []
    for number in range(60):
        at = NOW - timedelta(days=number % 5, seconds=number)
        key, run = f"k{number % 3}", f"run {number // 4}"
        events += [
            opening("a", "b" if number % 2 else "a.c", key=key, at=at, run=run),
            answer("x" * number, number, 2, 3, 4, key=key, at=at),
        ]
    read = ReadSectionParams(section_key="Größe")
    events.append(opening(name="read_section", params=read, at=NOW))
    events.append(opening("refused", success=False, message="no"))
    events.append(
        PromptExecuted(
            prompt_ns="other", prompt_key="k0", evaluation_id="e", text="yes", turns=1,
            usage=TokenUsage(1, 1), session_id="s", provider="p",
        )
    )  # fmt: skip
    return events


def test_a_store_gives_back_what_it_got(
    opened: Callable[..., SQLiteEventStore | PostgresEventStore],
) -> None:
    bus = InProcessEventBus()
    with opened() as store:
        store.attach(bus)
        bus.publish(opening("docs", "rules"))
        bus.publish(answer("Secret.", 7, 3, 2, 1))
    with opened() as store:
        first, second = store.events()
        assert (first.kind, first.at, first.prompt_ns, first.prompt_key) == (
            "ToolInvoked",
            NOW,
            "ns",
            "k",
        )
        assert first.data == {
            "tool": "open_sections",
            "turn": 1,
            "success": True,
            "message_characters": 0,
        }
        assert second.data["characters"] == len("Secret.")
        assert "Secret." not in json.dumps(second.data)
        assert [(o.section_key, o.reason, o.how, o.turn) for o in store.openings()] == [
            ("docs", "need it", "open_sections", 1),
            ("rules", "need it", "open_sections", 1),
        ]


def test_reports_are_those_of_counting_by_hand(
    opened: Callable[..., SQLiteEventStore | PostgresEventStore],
) -> None:
    events = many_events()
    with opened() as store:
        for event in events:
            store.add(event)
        days: Counter[tuple[object, ...]] = Counter()
        runs: dict[tuple[object, ...], set[str]] = {}
        for event in events:
            if isinstance(event, ToolInvoked) and event.success:
                params = event.params
                keys = (
                    params.section_keys
                    if isinstance(params, OpenSectionsParams)
                    else (params.section_key,)  # type: ignore[attr-defined]
                )
                for key in keys:
                    row = (event.created_at.date(), "ns", event.prompt_key, key)
                    days[row] += 1
                    runs.setdefault(row, set()).add(event.evaluation_id)
        expected = sorted((*row, count, len(runs[row])) for row, count in days.items())
        assert [(*row,) for row in store.openings_by_day()] == expected
        before = [event for event in events if event.created_at.astimezone(UTC) < NOW]
        assert 0 < len(before) < len(events)
        assert len(store.events(until=NOW)) == len(before)
        assert len(store.events(since=NOW)) == len(events) - len(before)
        answers = [event for event in events if isinstance(event, ModelAnswered)]
        of_k1 = [event for event in answers if event.prompt_key == "k1"]
        (totals,) = store.token_totals(prompt_key="k1")
        assert totals[2:] == (
            len(of_k1),
            sum(event.usage.input for event in of_k1),
            2 * len(of_k1),
            3 * len(of_k1),
            4 * len(of_k1),
        )
        sizes = {row[2]: row[3:] for row in store.size_totals(prompt_ns="ns", prompt_key="k1")}
        lengths = [len(event.text) for event in of_k1]
        assert sizes["ModelAnswered"] == (len(lengths), sum(lengths), max(lengths))
        assert store.opening_counts(prompt_key="k1") == Counter(
            row[3] for row in days.elements() if row[2] == "k1"
        )


def test_both_stores_give_the_same_numbers(url: str, tmp_path: Path) -> None:
    with (
        SQLiteEventStore(":memory:", content=True) as one,
        postgres_store(url, tmp_path, content=True) as other,
    ):
        for event in [*many_events(), *hostile_events(), *skewed_events()]:
            one.add(event)
            other.add(event)
        filters: list[dict[str, Any]] = [
            {},
            {"prompt_ns": "ns"},
            {"prompt_key": "k1"},
            {"prompt_ns": "ns", "prompt_key": "k0"},
            {"since": NOW - timedelta(days=2)},
            {"until": NOW - timedelta(days=2), "prompt_key": "k1"},
            {"since": NOW - timedelta(days=3), "until": NOW - timedelta(days=1)},
            {"since": NOW + timedelta(days=9999)},
            {"prompt_ns": "'; DROP TABLE events; --"},
        ]
        for only in filters:
            assert reports(one, **only) == reports(other, **only), only
        for before in (NOW - timedelta(days=3), NOW - timedelta(seconds=5), datetime.max):
            assert one.prune(before=before) == other.prune(before=before)
            assert reports(one) == reports(other)
        assert [event.at for event in one.events()] == [datetime.max.replace(tzinfo=UTC)]


def test_an_event_is_stored_once(
    opened: Callable[..., SQLiteEventStore | PostgresEventStore],
) -> None:
    event = opening("docs")
    with opened() as store, SQLiteEventStore(":memory:") as other:
        store.add(event)
        store.add(event)
        other.add(event)
        (record,) = [record for _, record in other.records(limit=9, max_bytes=9999)]
        assert store.events()
        assert store.add_all([record, record]) == 0
        assert store.add_all([record._replace(event_id="new")] * 2) == 1
        assert len(store.events()) == len(store.openings()) == 2


def hostile_events() -> list[Event]:
    nasty = "a\0b\ud800c'\"\\$1%s{}\u202e🙂"
    nested: object = []
    for _ in range(5000):
        nested = [nested]
    return [
        opening(
            nasty,
            key=nasty,
            run=nasty,
            session_id=nasty,
            provider="x" * 5000,
            params=OpenSectionsParams(reason=nasty * 5000, section_keys=(nasty,)),
            message=nasty,
            value=nasty * 100,
        ),
        opening("docs", seconds=math.nan, value=math.inf, event_id="x" * 5000),
        opening("docs", value=nested, event_id="x" * 5001),
        answer(nasty * 50, 2**70, -1, 3, 4),
        opening("docs", value=10**6000),
        SectionsOpened(
            prompt_ns="ns", prompt_key="k" * 900, evaluation_id="e", section_keys=("ü" * 300,),
            reason=nasty, appended=True,
        ),
    ]  # fmt: skip


def test_hostile_texts_are_stored_and_come_back(
    opened: Callable[..., SQLiteEventStore | PostgresEventStore],
) -> None:
    with opened(content=True) as store:
        for event in hostile_events():
            store.add(event)
        found = store.events()
        assert len(found) == len(hostile_events())
        assert found[0].data["value"] == "a\0b\ud800c'\"\\$1%s{}\u202e🙂" * 100
        assert found[0].prompt_key == "a\ufffdb\ufffdc'\"\\$1%s{}\u202e🙂"
        assert store.events(prompt_key="a\0b\ud800c'\"\\$1%s{}\u202e🙂") == found[:1]
        assert found[4].data["value"] == "<int without a text>"
        assert found[3].data["input_tokens"] == 2**70
        assert [totals.input for totals in store.token_totals()] == [0]


def test_pairs_of_a_database_are_no_file_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="not `key=value` pairs") as caught:
        open_event_store("host=db password=secret")
    assert "secret" not in str(caught.value)


def test_a_text_too_large_to_store_is_named_by_its_size(
    opened: Callable[..., SQLiteEventStore | PostgresEventStore],
) -> None:
    with opened(content=True) as store:
        store.add(answer("x" * 3_000_000))
        store.add(answer("y" * 16_000_001))
        large, larger = store.events()
        assert large.data["text"] == "x" * 3_000_000
        assert larger.data["text"] == "<16,000,003 characters, too many to store>"
        assert store.size_totals()[0].characters == 19_000_001


def skewed_events() -> list[Event]:
    behind = datetime.min.replace(tzinfo=UTC)
    ahead = datetime.max.replace(tzinfo=UTC)
    cut = datetime.min.replace(tzinfo=datetime.strptime("+0100", "%z").tzinfo)
    times = (behind, ahead, cut, datetime(1970, 1, 1), NOW + timedelta(days=5))
    return [opening("clock", at=at) for at in times]


def test_a_wrong_clock_makes_no_partitions(url: str, tmp_path: Path) -> None:
    with postgres_store(url, tmp_path) as store:
        for event in [*skewed_events(), opening("docs")]:
            store.add(event)
        assert partitions(store) == {f"events_{NOW:%Y%m%d}", "events_other"}
        assert [row.day for row in store.openings_by_day()][-2:] == [
            (NOW + timedelta(days=5)).date(),
            date(9999, 12, 31),
        ]
        # Five days later, the default has the day already.
        assert store.prune(before=NOW) == 3


def partitions(store: PostgresEventStore) -> set[str]:
    rows = store.rows(
        "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
        "WHERE inhparent = 'foldline.events'::regclass"
    )
    return {name for (name,) in rows}


def test_days_are_dropped_with_their_texts(url: str, tmp_path: Path) -> None:
    with postgres_store(url, tmp_path, content=True) as store:
        for days in range(4):
            at = NOW - timedelta(days=days)
            store.add(answer("same " * 100, at=at))
            store.add(answer(f"day {days} " * 100, at=at))
        store.flush()
        assert store.rows("SELECT count(*) FROM foldline.texts") == [(5,)]
        assert len(partitions(store)) == 5
        midnight = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
        assert store.prune(before=midnight - timedelta(days=1)) == 4
        assert len(partitions(store)) == 3
        assert store.rows("SELECT count(*) FROM foldline.texts") == [(3,)]
        assert [len(str(event.data["text"])) for event in store.events()] == [500, 600] * 2


def test_a_laptops_file_can_be_pushed_any_number_of_times(url: str, tmp_path: Path) -> None:
    with (
        SQLiteEventStore(old_file(tmp_path / "old.db")) as laptop,
        postgres_store(url, tmp_path / "spool") as team,
    ):
        assert [row[2:] for row in laptop.token_totals()] == [(1, 7, 0, 0, 0)]
        for event in many_events():
            laptop.add(event)
        for stored in (len(laptop.events()), 0):
            assert pushed(laptop, team) == stored
        theirs = reports(team)
        (reason,) = (
            {o.reason for o in team.openings() if o.at.year == 2026 and o.turn == 1}
            - {"need it"}
            - {None}
        )
        assert reason == "nul\ufffd"
        mine = reports(laptop)
        del mine["openings"], theirs["openings"]
        assert mine == theirs


def pushed(source: SQLiteEventStore, target: EventStore) -> int:
    stored = after = 0
    while batch := source.records(after=after, limit=7, max_bytes=5000):
        stored += target.add_all([record for _, record in batch])
        after = batch[-1][0]
    return stored


def test_while_the_server_is_stopped_events_wait(
    server: PostgresServer, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "FIRST_PAUSE", 0.01)
    events = [opening("docs") for _ in range(20)]
    with postgres_store(url, tmp_path) as store:
        store.add(events[0])
        assert store.flush()
        server.stop()
        try:
            for event in events:
                store.add(event)
            assert not store.flush(0.1)
            assert store.outbox is not None
            assert store.outbox.waiting == 20
            with pytest.raises(StoreUnavailableError, match="can't be used") as raised:
                store.add_all([])
            assert PASSWORD not in str(raised.value)
        finally:
            server.start()
        assert store.flush(WAIT)
        assert len(store.events()) == len(store.openings()) == 20
    assert [*tmp_path.iterdir()] == []


def test_a_server_that_never_answers_holds_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(outbox, "CLOSE_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        url = f"postgresql://team:{PASSWORD.replace(' ', '+')}@127.0.0.1:{port}/runs"
        with postgres_store(url, tmp_path) as store:
            for _ in range(10):
                store.add(opening("docs"))
            assert store.outbox is not None
            assert store.outbox.waiting == 10
    (left,) = tmp_path.glob("*.db")
    with SQLiteEventStore(left) as file:
        assert len(file.events()) == 10
    assert "correct" not in caplog.text


def test_each_database_has_a_folder_for_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(url: str) -> Path:
        return PostgresEventStore(url, spool=tmp_path)._spool

    monkeypatch.delenv("PGDATABASE", raising=False)
    folders = [
        *(folder(f"postgresql://{place}") for place in ("a/runs", "b/runs", "a:5433/runs", "a/x")),
        folder("postgresql:///"),
    ]
    monkeypatch.setenv("PGDATABASE", "runs")
    folders.append(folder("postgresql:///"))
    assert len({*folders}) == len(folders)
    assert {one.parent for one in folders} == {tmp_path}
    assert folder("postgresql://a/runs") == folder("postgresql://a/runs?connect_timeout=3")
    assert folder("postgresql:///") == folder("postgresql:///runs")


def test_what_a_process_left_behind_is_sent_by_the_next(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SQLiteEventStore(tmp_path / "1-dead.db") as left:
        for event in many_events():
            left.add(event)
    (tmp_path / "2-broken.db").write_bytes(b"no database")
    monkeypatch.setattr(outbox, "UNLOCKED_SECONDS", -1.0)
    with SQLiteEventStore(tmp_path / "3-alive.db", exclusive=True) as alive:
        alive.add(opening("of another process"))
        with postgres_store(url, tmp_path) as store:
            store.add(opening("docs"))
            until(lambda: not (tmp_path / "1-dead.db").exists())
            assert len(store.events()) == len(many_events()) + 1
        assert {path.name for path in tmp_path.glob("*.db")} == {"2-broken.db", "3-alive.db"}


@pytest.mark.parametrize("changed", [0.0, NOW.timestamp() + 86_400], ids=["old", "of tomorrow"])
def test_a_new_file_is_not_taken_for_one_that_was_left_behind(
    url: str, tmp_path: Path, changed: float
) -> None:
    young = tmp_path / "1-young.db"
    with SQLiteEventStore(young) as left:
        left.add(opening("docs"))
    with SQLiteEventStore(tmp_path / "2-old.db") as left:
        left.add(opening("docs"))
    os.utime(tmp_path / "2-old.db", (changed, changed))
    with postgres_store(url, tmp_path) as store:
        store.add(opening("docs"))
        until(lambda: not (tmp_path / "2-old.db").exists())
        assert len(store.events()) == 2
    assert young.exists()


def until(condition: Callable[[], bool]) -> None:
    event = threading.Event()
    for _ in range(int(WAIT * 100)):
        if condition():
            return
        event.wait(0.01)
    raise AssertionError("it never came")


def test_without_room_events_are_dropped_and_counted(
    server: PostgresServer,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(outbox, "FIRST_PAUSE", 0.01)
    with postgres_store(url, tmp_path, spool_bytes=5_000, content=True) as store:
        server.stop()
        try:
            for number in range(50):
                store.add(answer(f"{number:05} " + "x" * 1_000))
            assert store.outbox is not None
            kept = store.outbox.waiting
            assert 2 <= kept <= 4
            assert store.outbox.dropped == 50 - kept
        finally:
            server.start()
        assert store.flush(WAIT)
        store.add(answer("there is room"))
        events = store.events()
    assert [event.kind for event in events[kept:]] == ["EventsDropped", "ModelAnswered"]
    assert events[kept].data == {"events": 50 - kept}
    assert str(events[0].data["text"]).startswith("00000 "), "what was taken stays"
    assert caplog.text.count("Events are dropped") == 1


def test_what_others_left_takes_of_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CLOSE_SECONDS", 0.0)
    (tmp_path / "1-other.db").write_bytes(b"x" * 3_000)
    (tmp_path / "1-other.db-wal").write_bytes(b"x" * 1_000)
    nowhere = "postgresql://127.0.0.1:1/none"
    for limit, kept in ((4_800, 1), (4_100, 0)):
        box = postgres_store(nowhere, tmp_path, spool_bytes=limit)
        box.add(opening("docs"))
        assert box.outbox is not None
        assert (box.outbox.waiting, box.outbox.dropped) == (kept, 1 - kept)
        box.close()
        for path in tmp_path.glob(f"{os.getpid()}-*"):
            path.unlink()


def test_a_folder_that_others_left_full_is_emptied_though_nothing_more_fits(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SQLiteEventStore(tmp_path / "1-dead.db") as left:
        left.add(opening("docs"))
    monkeypatch.setattr(outbox, "UNLOCKED_SECONDS", -1.0)
    monkeypatch.setattr(outbox, "LOOK_SECONDS", 600.0)
    with postgres_store(url, tmp_path, spool_bytes=4_000) as store:
        store.add(opening("dropped"))
        until(lambda: not (tmp_path / "1-dead.db").exists())
        assert store.outbox is not None
        until(lambda: store.outbox is not None and store.outbox._room == 4_000)
        store.add(opening("docs"))
        assert [event.kind for event in store.events()] == [
            "ToolInvoked",
            "EventsDropped",
            "ToolInvoked",
        ]


def test_events_that_a_full_disk_cannot_hold_are_dropped_and_counted(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with postgres_store(url, tmp_path) as store:
        store.add(opening("docs"))
        assert store.flush()
        assert store.outbox is not None
        disk = store.outbox._spool
        (pages,) = disk.rows("PRAGMA page_count")
        disk.rows(f"PRAGMA max_page_count = {pages[0] + 2}")
        params = OpenSectionsParams(reason="y" * 9_000, section_keys=("docs",) * 9)
        for _ in range(3):
            store.add(opening(params=params))
        disk.rows("PRAGMA max_page_count = 1000000")
        store.add(opening("docs"))
        assert [event.data for event in store.events()][1] == {"events": 3}
    assert caplog.text.count("Events are dropped") == 1
    assert "disk is full" in caplog.text


def test_an_event_that_the_server_refuses_holds_up_no_other(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection)
        connection.execute("ALTER TABLE foldline.events ADD CHECK (key <> 'poison')")
    monkeypatch.setattr(outbox, "UNLOCKED_SECONDS", -1.0)
    with SQLiteEventStore(tmp_path / "batch.db") as batch:
        for number in range(20):
            batch.add(opening("docs", key="poison" if number == 7 else "fine"))
    with postgres_store(url, tmp_path) as store:
        store.add(opening("docs", key="poison"))
        until(lambda: not (tmp_path / "batch.db").exists())
        assert len(store.events()) == 19
        assert store.outbox is not None
        assert store.outbox.dropped == 2
        store.add(opening("docs"))
        assert store.events()[-2].data == {"events": 2}


WRITERS_PROGRAM = """
import os, sys
from foldline.prompts.disclosure.disclosure import OpenSectionsParams
from foldline.prompts.runtime import ToolInvoked
from foldline.prompts.stores import outbox
from foldline.prompts.stores.postgres_store import PostgresEventStore

url, spool, writers, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
outbox.LAST_PAUSE = 0.2
params = OpenSectionsParams(reason="r", section_keys=("docs",))

def write(name):
    with PostgresEventStore(url, spool=spool) as store:
        for number in range(count):
            event = ToolInvoked(
                prompt_ns="n", prompt_key="k", evaluation_id=name, event_id=f"{name}-{number}",
                name="open_sections", turn=1, call_id="c", params=params,
            )
            store.add(event)
            os.write(1, f"{event.event_id}\\n".encode())
            if name == "0" and number == count - 2:
                os.kill(os.getpid(), 9)
        assert store.flush(100), store.outbox.problem

children = []
for number in range(writers):
    child = os.fork()
    if not child:
        write(str(number))
        os._exit(0)
    children.append(child)
ends = [os.waitpid(child, 0)[1] for child in children]
assert ends == [9] + [0] * (writers - 1), ends
print("dead", children[0], flush=True)
"""
WRITERS, EVENTS = 16, 100


def test_every_acknowledged_event_is_there_once_though_server_and_writer_are_killed(
    server: PostgresServer, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "UNLOCKED_SECONDS", -1.0)
    server.stop()
    server.start(fsync=True)
    program = [sys.executable, "-c", WRITERS_PROGRAM, url, str(tmp_path), str(WRITERS), str(EVENTS)]
    lines: list[str] = []
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as writers:
        try:
            assert writers.stdout is not None
            for line in writers.stdout:
                lines.append(line.strip())
                if len(lines) == WRITERS * EVENTS // 3:
                    server.kill()
                    server.start(fsync=True)
        finally:
            writers.kill()
    assert lines.pop().startswith("dead ")
    assert len(lines) == WRITERS * EVENTS - 1
    with PostgresEventStore(url, spool=tmp_path) as store:
        store.add(opening("docs"))
        until(lambda: len([*tmp_path.rglob("*.db")]) == 1)
        stored = dict(
            store.rows("SELECT event_id, count(*) FROM foldline.events WHERE ns = 'n' GROUP BY 1")
        )
        assert stored == Counter(lines)
        (counted,) = store.openings_by_day(prompt_ns="n")
        assert (counted.openings, counted.evaluations) == (len(lines), WRITERS)


FORKING = """
import os, sys
from foldline.prompts.runtime import ModelAnswered, TokenUsage
from foldline.prompts.stores.postgres_store import PostgresEventStore

def event(run):
    return ModelAnswered(prompt_ns="n", prompt_key="k", evaluation_id=run, turn=1, text="",
                         tool_calls=(), usage=TokenUsage(1, 1))

with PostgresEventStore(sys.argv[1], spool=sys.argv[2]) as store:
    store.add(event("parent"))
    assert store.flush(60)
    connection = store._connection.info.backend_pid
    child = os.fork()
    store.add(event("child" if not child else "parent"))
    assert store.flush(60)
    if not child:
        os._exit(store._connection.info.backend_pid == connection)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_fork_sends_its_own_events(url: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING, url, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT * 2,
    )
    assert done.returncode == 0, done.stderr
    with postgres_store(url, tmp_path) as store:
        assert sorted(e.evaluation_id for e in store.events()) == ["child", "parent", "parent"]


NEWER = (
    "ALTER TABLE foldline.events ADD COLUMN region text; CREATE TABLE foldline.later (a integer);"
)


def test_two_versions_of_the_schema_live_side_by_side(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(postgres, "MIGRATIONS", MIGRATIONS[:1])
        older.setattr(postgres.migrate, "__defaults__", (MIGRATIONS[:1],))
        old = postgres_store(url, tmp_path / "old")
        old.add(opening("docs"))
        assert old.flush()
    with old, postgres_store(url, tmp_path / "new") as new:
        with psycopg.connect(url, autocommit=True) as connection:
            migrate(connection, (*MIGRATIONS, NEWER))
            versions = connection.execute("SELECT version FROM foldline.migrations ORDER BY 1")
            assert [row[0] for row in versions] == [1, 2, 3]
        for store in (old, new, old):
            store.add(opening("docs"))
            assert store.flush()
        with psycopg.connect(url, autocommit=True) as connection:
            migrate(connection)
        assert reports(old) == reports(new)
        assert len(old.events()) == 4
        # One that starts now finds a schema that is newer than itself.
        with postgres_store(url, tmp_path / "again") as again:
            again.add(opening("docs"))
            assert len(again.events()) == 5


def test_a_migration_only_extends_what_an_older_foldline_uses() -> None:
    allowed = re.compile(
        r"CREATE (TABLE|INDEX)|COMMENT ON|ALTER TABLE \S+ ADD COLUMN (?!.*NOT NULL)", re.IGNORECASE
    )
    for migration in (*MIGRATIONS, NEWER):
        for statement in filter(str.strip, re.sub(r"--.*", "", migration).split(";")):
            assert allowed.match(statement.strip()), statement
    assert not allowed.match("ALTER TABLE foldline.events DROP COLUMN data")
    assert not allowed.match("ALTER TABLE foldline.events ADD COLUMN a text NOT NULL")


def test_writers_that_start_at_once_make_one_schema(url: str, tmp_path: Path) -> None:
    problems: list[Exception] = []
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            with (
                postgres_store(url, tmp_path / str(number)) as store,
                SQLiteEventStore(":memory:") as file,
            ):
                for days in range(3):
                    file.add(opening("docs", at=NOW - timedelta(days=days), run=str(number)))
                store.add_all([record for _, record in file.records(limit=9, max_bytes=9**9)])
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with postgres_store(url, tmp_path / "reader") as store:
        assert [row.evaluations for row in store.openings_by_day()] == [8, 8, 8]
        assert len(partitions(store)) == 4


def test_a_writer_needs_no_right_but_to_append(
    server: PostgresServer, url: str, tmp_path: Path
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        # It needn't know all of the schema, either.
        migrate(connection, (*MIGRATIONS, NEWER))
    # As the page says.
    _, grants = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    server.execute(grants.replace("'…'", f"'{PASSWORD}'"), "runs")
    url = server.url("writer", "runs")
    with postgres_store(url, tmp_path, content=True) as store:
        store.add(answer("long " * 100))
        store.add(opening("docs"))
        assert len(store.events()) == 2
        assert partitions(store) == {"events_other"}
        with pytest.raises(StoreUnavailableError, match="permission denied"):
            store.prune(before=NOW)
    assert PostgresOverridesStore(url).tags("ns", "key") == ()
    PostgresOverridesStore(url).save(seed_override(TEMPLATE))
    with postgres_store(server.url("reader", "runs"), tmp_path) as store:
        assert len(store.events()) == 2
        with pytest.raises(StoreUnavailableError, match="permission denied"):
            store.rows("DELETE FROM foldline.events RETURNING 1")


def test_a_statement_waits_for_no_lock_beyond_its_time(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_store(url, tmp_path) as store, psycopg.connect(url) as other:
        assert store.events() == ()
        other.execute("LOCK TABLE foldline.events")
        monkeypatch.setattr(postgres, "LOCK_SECONDS", 0.05)
        with pytest.raises(StoreUnavailableError, match="lock timeout"):
            store.events()
        other.rollback()
        assert store.events() == ()
        with (
            pytest.raises(StoreUnavailableError, match="statement timeout"),
            Server(url).connection() as connection,
            postgres.limited(connection, statement_seconds=1) as cursor,
        ):
            cursor.execute("SELECT pg_sleep(60)")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://team:s3cr@t@host/runs",
        "postgresql://team:s3c/r3t@host/runs",
        "postgresql://team:12/s3cret@host/runs",
        "postgresql://team:s3c#ret@host:x/runs",
        "postgresql://host:s3cret/runs",
        "postgresql://host/runs?s3cret",
        "postgresql+psycopg://team:s3cret@host/runs",
        " postgresql://team:s3cret@host/runs",
    ],
)
def test_a_wrong_url_is_refused_without_showing_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="valid postgresql:// URL") as raised:
        open_event_store(url)
    assert "s3c" not in "".join(map(str, [raised.value, raised.value.__cause__]))
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_no_message_has_the_password(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(outbox, "CLOSE_SECONDS", 0.1)
    monkeypatch.setattr(postgres_store_module, "FLUSH_SECONDS", 0.1)
    wrong = url.replace("correct", "s3cret")
    with postgres_store(wrong, tmp_path) as store:
        store.add(opening("docs"))
        with pytest.raises(StoreUnavailableError, match="password authentication failed") as raised:
            store.events()
    shown = f"{raised.value!r} {store!r} {vars(store)!r} {caplog.text}"
    assert "s3cret" not in shown
    assert "postgresql://team@" in str(raised.value)
    assert Server("postgresql://a:pa%2Fss@h:1/d").describe(OSError("pa/ss pa")).endswith("*** pa")


# Overrides


@pytest.fixture(params=["files", "postgres"])
def overrides(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], OverrideStore]:
    """Opens one store, as each writer does for itself."""
    if request.param == "files":
        return lambda: OverridesStore(tmp_path)
    url = request.getfixturevalue("url")
    return lambda: PostgresOverridesStore(url)


TEMPLATE = PromptTemplate(
    ns="hotel/desk",
    key="welcome",
    sections=[
        MarkdownSection[None](title="Tone", key="tone", template="Be kind."),
        MarkdownSection[None](title="Guest", key="guest", template="Greet."),
    ],
)


def changed(override: PromptOverride, path: str, text: str) -> PromptOverride:
    sections = tuple(
        replace(section, text=text) if section.path == (path,) else section
        for section in override.sections
    )
    return replace(override, sections=sections)


def test_overrides_come_back_by_tag(overrides: Callable[[], OverrideStore]) -> None:
    store = overrides()
    assert store.tags("hotel/desk", "welcome") == ()
    assert store.load("hotel/desk", "welcome") is None
    seeded = seed_override(TEMPLATE)
    german = changed(seed_override(TEMPLATE, tag="de"), "tone", "Sei freundlich\0\ud800 🙂")
    store.save(seeded)
    store.save(german)
    assert overrides().load("hotel/desk", "welcome", "de") == german
    assert overrides().load("hotel/desk", "welcome") == seeded
    assert TEMPLATE.bind(overrides=store, tag="de").render().text.count("Sei freundlich") == 1
    assert store.tags("hotel/desk", "welcome") == ("de", "latest")
    assert store.delete("hotel/desk", "welcome", "de")
    assert not store.delete("hotel/desk", "welcome", "de")
    assert store.tags("hotel/desk", "welcome") == ("latest",)
    assert store.load("hotel/desk", "welcome", "de") is None
    for refuse in (store.load, store.delete, store.tags):
        for key in ("../welcome", "a\0", "\ud800"):
            with pytest.raises(PromptValidationError, match="cannot name a file"):
                refuse("hotel/desk", key)
    with pytest.raises(PromptValidationError, match="more than 4,194,304 bytes"):
        store.save(changed(seeded, "tone", "x" * (4 << 20)))
    with pytest.raises(PromptValidationError, match="tone"):
        store.save(changed(seeded, "tone", "${nobody}"), template=TEMPLATE)


def test_of_two_writers_the_second_learns_what_changed(
    overrides: Callable[[], OverrideStore],
) -> None:
    seeded = seed_override(TEMPLATE)
    overrides().save(seeded, expected=None)
    with pytest.raises(OverrideConflictError, match=r"have changed \(.*since you read them"):
        overrides().save(changed(seeded, "tone", "Be rude."), expected=None)
    mine, theirs = (
        overrides().load("hotel/desk", "welcome"),
        overrides().load("hotel/desk", "welcome"),
    )
    assert mine is not None
    assert theirs is not None
    overrides().save(changed(theirs, "tone", "Be brief."), expected=theirs.content_hash)
    with pytest.raises(OverrideConflictError, match=r"Yours differ in guest, tone\.") as raised:
        overrides().save(changed(mine, "guest", "Wave."), expected=mine.content_hash)
    assert isinstance(overrides(), OverridesStore) or "by team, at" in str(raised.value)
    again = overrides().load("hotel/desk", "welcome")
    assert again is not None
    overrides().save(changed(again, "guest", "Wave."), expected=again.content_hash)
    merged = overrides().load("hotel/desk", "welcome")
    assert merged == changed(changed(seeded, "tone", "Be brief."), "guest", "Wave.")
    # Who expects nothing wins.
    overrides().save(seeded)
    overrides().delete("hotel/desk", "welcome")
    with pytest.raises(OverrideConflictError, match="were deleted since"):
        overrides().save(seeded, expected=merged.content_hash)


def test_no_change_of_writers_at_once_is_lost(overrides: Callable[[], OverrideStore]) -> None:
    overrides().save(PromptOverride("ns", "counter", sections=(SectionOverride(("n",), "0"),)))
    problems: list[Exception] = []

    def count() -> None:
        store, left = overrides(), 5
        try:
            while left:
                read = store.load("ns", "counter")
                assert read is not None
                text = str(int(read.sections[0].text or "") + 1)
                section = replace(read.sections[0], text=text)
                try:
                    store.save(replace(read, sections=(section,)), expected=read.content_hash)
                    left -= 1
                except OverrideConflictError:
                    continue
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    last = overrides().load("ns", "counter")
    assert last is not None
    assert last.sections[0].text == "20"


def test_earlier_overrides_stay_and_are_used_while_the_server_is_away(
    server: PostgresServer, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = PostgresOverridesStore(url)
    seeded = seed_override(TEMPLATE)
    store.save(seeded)
    store.save(changed(seeded, "tone", "Be brief."))
    assert store.load("hotel/desk", "welcome") == changed(seeded, "tone", "Be brief.")
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT version, hash, author FROM foldline.overrides").fetchall()
    assert rows[0] == (1, seeded.content_hash, "team")
    assert rows[1][0] == 2
    server.stop()
    try:
        assert store.load("hotel/desk", "welcome") == changed(seeded, "tone", "Be brief.")
        assert "are those loaded before" in caplog.text
        with pytest.raises(StoreUnavailableError):
            store.load("hotel/desk", "goodbye")
        with pytest.raises(StoreUnavailableError):
            store.save(seeded)
    finally:
        server.start()
