"""Every store of events and of overrides, by one set of tests; and PostgreSQL when it is away."""

from __future__ import annotations

import json
import logging
import math
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from foldline.agent.cli import main
from foldline.plugins.stores import EventStore, SQLiteEventStore, open_event_store, outbox, postgres
from foldline.plugins.stores import postgres_store as postgres_store_module
from foldline.plugins.stores.postgres import MIGRATIONS, Server, migrate
from foldline.plugins.stores.postgres_overrides import PostgresOverridesStore
from foldline.plugins.stores.postgres_store import PostgresEventStore
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
    InProcessEventBus,
    ModelAnswered,
    PromptExecuted,
    SectionsOpened,
    TokenUsage,
    ToolInvoked,
)

from .old_file import old_file
from .postgres_server import PASSWORD, PostgresServer, running_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.real

NOW = datetime.now(UTC)
WAIT = 60.0
PAGE = Path(__file__).parents[3] / "docs" / "stores.md"


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


def test_only_migrating_makes_partitions(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with postgres_store(url, tmp_path) as store:
        for event in [*skewed_events(), opening("docs")]:
            store.add(event)
        assert partitions(store) == {"events_other"}
        # Today and in five days, the default has the day already.
        for made in (5, 0):
            assert main(["runs", "migrate", "--store", url, "--days", "7"]) == 0
            assert capsys.readouterr().out == f"{made} days made ahead\n"
        ahead = {f"events_{NOW + timedelta(days=days):%Y%m%d}" for days in (1, 2, 3, 4, 6)}
        assert partitions(store) == {"events_other", *ahead}
        store.add(opening("docs", at=NOW + timedelta(days=2)))
        assert [row.day for row in store.openings_by_day()][-3:] == [
            (NOW + timedelta(days=2)).date(),
            (NOW + timedelta(days=5)).date(),
            date(9999, 12, 31),
        ]
        assert store.prune(before=NOW) == 3


def partitions(store: PostgresEventStore) -> set[str]:
    rows = store.rows(
        "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
        "WHERE inhparent = 'foldline.events'::regclass"
    )
    return {name for (name,) in rows}


def test_days_are_dropped_with_their_texts(url: str, tmp_path: Path) -> None:
    with postgres_store(url, tmp_path, content=True) as store:
        assert store.migrate(days=3) == 3
        for days in range(4):
            at = NOW + timedelta(days=days)
            store.add(answer("same " * 100, at=at))
            store.add(answer(f"day {days} " * 100, at=at))
        store.flush()
        assert store.rows("SELECT count(*) FROM foldline.texts") == [(5,)]
        assert len(partitions(store)) == 4
        midnight = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
        assert store.prune(before=midnight + timedelta(days=2)) == 4
        assert len(partitions(store)) == 2
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
    assert waiting(tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} == {"waiting.sqlite3", "reserve"}


def waiting(spool: Path) -> list[str]:
    """The ids of the events in a folder that no process uses."""
    with SQLiteEventStore(spool / "waiting.sqlite3") as file:
        return [name for (name,) in file.rows("SELECT event_id FROM events ORDER BY number")]


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
    assert len(waiting(tmp_path)) == 10
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


def test_what_a_process_left_behind_is_sent_by_the_next(url: str, tmp_path: Path) -> None:
    with SQLiteEventStore(tmp_path / "waiting.sqlite3") as left:
        for event in many_events():
            left.add(event)
        # Of a foldline to come.
        left.rows("PRAGMA user_version = 99")
    with postgres_store(url, tmp_path) as store:
        store.add(opening("docs"))
        assert store.flush(WAIT)
        assert len(store.events()) == len(many_events()) + 1
        assert store.outbox is not None
        assert (store.outbox.waiting, store.outbox.dropped) == (0, 0)


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
    with postgres_store(url, tmp_path, spool_bytes=BOUND, content=True) as store:
        server.stop()
        try:
            for number in range(200):
                store.add(answer(f"{number:05} " + "x" * 3_000))
            assert store.outbox is not None
            kept = store.outbox.waiting
            assert store.outbox.dropped == 200 - kept
            assert BOUND // 2 < kept * 3_000 < BOUND
        finally:
            server.start()
        assert store.flush(WAIT)
        store.add(answer("there is room"))
        events = store.events()
    kinds = [event.kind for event in events[kept:]]
    assert sorted(kinds) == ["EventsDropped", "ModelAnswered"]
    assert events[kept + kinds.index("EventsDropped")].data == {"events": 200 - kept}
    assert str(events[0].data["text"]).startswith("00000 "), "what was taken stays"
    assert caplog.text.count("Events are dropped") == 1


BOUND = 400_000


def test_all_stores_of_a_machine_share_the_bound_and_none_counts_what_was_sent(
    server: PostgresServer, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CLOSE_SECONDS", 0.0)
    stores = [
        postgres_store(url, tmp_path, spool_bytes=BOUND, content=True) for _ in range(WRITERS)
    ]

    def add_to_all(events: int) -> tuple[int, int]:
        for number in range(events * WRITERS):
            stores[number % WRITERS].add(answer("x" * 3_000))
        boxes = [store.outbox for store in stores if store.outbox is not None]
        return boxes[0].waiting, sum(box.dropped for box in boxes)

    # Twice what may wait at a time.
    for _ in range(10):
        assert add_to_all(2)[1] == 0
        assert all(store.flush(WAIT) for store in stores)
    server.stop()
    try:
        kept, dropped = add_to_all(20)
        assert kept + dropped == 20 * WRITERS
        assert BOUND // 2 < kept * 3_000 < BOUND
        assert (tmp_path / "waiting.sqlite3").stat().st_size <= BOUND
    finally:
        server.start()
        for store in stores:
            store.close()


def test_adding_raises_nothing_though_no_file_can_be_made(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "spool"
    folder.write_text("in the way")
    with postgres_store(url, folder) as store:
        store.add(opening("docs"))
        assert store.outbox is not None
        assert store.outbox.dropped == 1
        assert "Events are dropped" in caplog.text
        folder.unlink()
        store.add(opening("docs"))
        assert [event.kind for event in store.events()] == ["EventsDropped", "ToolInvoked"]


def test_an_event_that_the_server_refuses_holds_up_no_other(url: str, tmp_path: Path) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection)
        connection.execute("ALTER TABLE foldline.events ADD CHECK (key <> 'poison')")
    with SQLiteEventStore(tmp_path / "waiting.sqlite3") as batch:
        for number in range(20):
            batch.add(opening("docs", key="poison" if number == 7 else "fine"))
    with postgres_store(url, tmp_path) as store:
        store.add(opening("docs", key="poison"))
        assert store.flush(WAIT)
        assert store.outbox is not None
        until(lambda: store.outbox is not None and store.outbox.dropped == 2)
        store.add(opening("docs"))
        until(lambda: store.flush(WAIT) and len(store.events()) == 21)
        kinds = Counter(event.kind for event in store.events())
        assert kinds == {"ToolInvoked": 20, "EventsDropped": 1}


WRITERS_PROGRAM = """
import os, sys
from foldline.prompts.disclosure.disclosure import OpenSectionsParams
from foldline.prompts.runtime import ToolInvoked
from foldline.plugins.stores import outbox
from foldline.plugins.stores.postgres_store import PostgresEventStore

url, spool, writers, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
outbox.LAST_PAUSE = 0.2
params = OpenSectionsParams(reason="r", section_keys=("docs",))

def write(name):
    with PostgresEventStore(url, spool=spool) as store:
        for number in range(count):
            if number and number % (count // 4) == 0:
                os.read(0, 1)
            event = ToolInvoked(
                prompt_ns="n", prompt_key="k", evaluation_id=name, event_id=f"{name}-{number}",
                name="open_sections", turn=1, call_id="c", params=params,
            )
            store.add(event)
            os.write(1, f"{event.event_id}\\n".encode())
            if name == "0" and number == count - 1:
                os.kill(os.getpid(), 9)
        assert store.flush(100), store.outbox.problem
        assert store.outbox.dropped == 0

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
WRITERS = 12


@pytest.mark.parametrize(
    ("writers", "events"), [(WRITERS, 120), pytest.param(40, 32, marks=pytest.mark.slow)]
)
def test_every_acknowledged_event_is_there_once_whatever_is_killed_or_hangs(
    server: PostgresServer, url: str, tmp_path: Path, writers: int, events: int
) -> None:
    server.stop()
    server.start(fsync=True)
    program = [sys.executable, "-c", WRITERS_PROGRAM, url, str(tmp_path), str(writers), str(events)]

    def restart_and_stop() -> None:
        server.start(fsync=True)
        server.signal(signal.SIGSTOP)

    faults: tuple[Callable[[], object], ...] = (
        server.kill,
        restart_and_stop,
        lambda: server.signal(signal.SIGCONT),
    )
    lines: list[str] = []
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for fault in faults:
                lines += [next(process.stdout).strip() for _ in range(writers * events // 4)]
                fault()
                process.stdin.write("x" * writers)
                process.stdin.flush()
            lines += [line.strip() for line in process.stdout]
        finally:
            process.kill()
    assert lines.pop().startswith("dead ")
    assert len(lines) == writers * events
    with PostgresEventStore(url, spool=tmp_path) as store:
        store.add(opening("docs"))
        assert store.flush(WAIT)
        stored = dict(
            store.rows("SELECT event_id, count(*) FROM foldline.events WHERE ns = 'n' GROUP BY 1")
        )
        assert stored == Counter(lines)
        (counted,) = store.openings_by_day(prompt_ns="n")
        assert (counted.openings, counted.evaluations) == (len(lines), writers)


FULL_DISK_PROGRAM = """
import os, sys, time
from pathlib import Path
from foldline.prompts.disclosure.disclosure import OpenSectionsParams
from foldline.prompts.runtime import ToolInvoked
from foldline.plugins.stores import outbox
from foldline.plugins.stores.postgres_store import PostgresEventStore

outbox.FIRST_PAUSE = outbox.LAST_PAUSE = 0.05
outbox.CLOSE_SECONDS = 0.0
url, folder, count = sys.argv[1], Path(sys.argv[2]), 0
params = OpenSectionsParams(reason="r" * 3000, section_keys=("docs",))

def add(store, events):
    global count
    for number in range(events):
        dropped = store.outbox.dropped if store.outbox else 0
        event = ToolInvoked(
            prompt_ns="n", prompt_key="k", evaluation_id="e", event_id=f"{os.getpid()}-{count}",
            name="open_sections", turn=1, call_id="c", params=params,
        )
        store.add(event)
        count += 1
        if store.outbox.dropped == dropped:
            print(event.event_id, flush=True)

def step(name):
    print(name, flush=True)
    input()

if not os.fork():
    store = PostgresEventStore(url, spool=folder)
    add(store, 2000)
    assert 0 < store.outbox.dropped < 2000
    os.kill(os.getpid(), 9)
os.wait()
with open(folder / "others", "wb", buffering=0) as others:
    try:
        while True:
            others.write(bytes(512))
    except OSError:
        pass
store = PostgresEventStore(url, spool=folder)
add(store, 3)
step("full")
for _ in range(6000):
    if store.outbox.waiting:
        time.sleep(0.01)
assert store.outbox.waiting == 0, store.outbox.problem
(folder / "others").unlink()
dropped = store.outbox.dropped
add(store, 3)
assert store.outbox.dropped == dropped
assert store.flush(100), store.outbox.problem
step("back")
"""


def small_disk(folder: Path, program: list[str]) -> list[str]:
    """The command that runs a program with a disk of six megabytes in a folder."""
    mount = ["-m", "sh", "-c", 'mount -t tmpfs -o size=6m tmpfs "$0" && exec "$@"', str(folder)]
    for way in (["unshare"], ["unshare", "-Ur"], ["sudo", "-n", "unshare"]):
        with suppress(FileNotFoundError):
            if not subprocess.run(
                [*way, *mount, "true"], capture_output=True, check=False
            ).returncode:
                return [*way, *mount, *program]
    pytest.skip("Only Linux, with the right to mount, gives a process a small disk.")


def test_a_full_disk_is_emptied_and_used_again(
    server: PostgresServer, url: str, tmp_path: Path
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection)
    server.stop()
    python = [sys.executable, "-c", FULL_DISK_PROGRAM, url, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        small_disk(tmp_path, python), stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        kept: dict[str, list[str]] = {}
        try:
            for name in ("full", "back"):
                kept[name] = [*iter(partial(next, map(str.strip, process.stdout)), name)]
                if name == "full":
                    server.start()
                process.stdin.write("\n")
                process.stdin.flush()
            process.wait(WAIT)
        finally:
            process.kill()
    assert process.returncode == 0
    assert len(kept["full"]) > 100
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT event_id, kind, data FROM foldline.events").fetchall()
    assert {name for name, kind, _ in rows if kind == "ToolInvoked"} == {
        *kept["full"],
        *kept["back"],
    }


FORKING = """
import os, sys
from foldline.prompts.runtime import ModelAnswered, TokenUsage
from foldline.plugins.stores.postgres_store import PostgresEventStore

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
        # The parent may have sent it.
        own = store._connection and store._connection.info.backend_pid
        os._exit(own == connection)
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
    days_made: list[int] = []
    # Not `NOW`, which may be of the day before.
    today = datetime.now(UTC)
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            with (
                postgres_store(url, tmp_path / str(number)) as store,
                SQLiteEventStore(":memory:") as file,
            ):
                for days in range(3):
                    file.add(opening("docs", at=today - timedelta(days=days), run=str(number)))
                store.add_all([record for _, record in file.records(limit=9, max_bytes=9**9)])
                days_made.append(store.migrate(days=3))
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
        assert sum(days_made) == 2
        assert len(partitions(store)) == 3


def granted(server: PostgresServer, role: str) -> str:
    """The URL of a role, after the grants that the page says."""
    _, grants = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    for name in ("writer", "reader", "editor"):
        server.execute(f"DROP ROLE IF EXISTS {name}", "runs")
    server.execute(grants.replace("'…'", f"'{PASSWORD}'"), "runs")
    return server.url(role, "runs")


@pytest.mark.parametrize("level", [MIGRATIONS[:1], MIGRATIONS, (*MIGRATIONS, NEWER)])
def test_a_writer_appends_at_any_level_of_the_schema_and_reads_nothing(
    server: PostgresServer, url: str, tmp_path: Path, level: tuple[Any, ...]
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection, (*level, *MIGRATIONS[len(level) :]))
        if len(level) < len(MIGRATIONS):
            writer = granted(server, "writer")
            connection.execute("DROP TABLE foldline.overrides")
            connection.execute("DELETE FROM foldline.migrations WHERE version > 1")
        else:
            writer = granted(server, "writer")
    with postgres_store(writer, tmp_path, content=True) as store:
        for _ in range(2):
            store.add(answer("long " * 100))
        store.add(opening("docs"))
        assert store.flush(WAIT)
        for read in (
            store.events,
            store.openings,
            lambda: store.rows("SELECT text FROM foldline.texts"),
        ):
            with pytest.raises(StoreUnavailableError, match="permission denied"):
                read()
        with pytest.raises(StoreUnavailableError, match="permission denied"):
            store.prune(before=NOW)
        with pytest.raises(StoreUnavailableError, match="permission denied"):
            store.migrate(days=1)
    with psycopg.connect(url) as connection:
        versions = connection.execute("SELECT max(version) FROM foldline.migrations").fetchone()
        assert versions == (len(level),)
    with postgres_store(server.url("reader", "runs"), tmp_path) as store:
        assert len(store.events()) == 3
        with pytest.raises(StoreUnavailableError, match="permission denied"):
            store.rows("DELETE FROM foldline.events RETURNING 1")
    if len(level) >= len(MIGRATIONS):
        editor = PostgresOverridesStore(server.url("editor", "runs"))
        editor.save(seed_override(TEMPLATE))
        assert editor.tags("hotel/desk", "welcome") == ("latest",)
        with pytest.raises(StoreUnavailableError, match="permission denied"):
            PostgresOverridesStore(writer).load("hotel/desk", "welcome")
    else:
        with pytest.raises(StoreUnavailableError, match="owner has to run `foldline runs migrate`"):
            PostgresOverridesStore(url).tags("ns", "key")


def test_a_reader_over_midnight_holds_up_no_event(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "LOCK_SECONDS", 0.05)
    with postgres_store(url, tmp_path) as store, psycopg.connect(url) as reader:
        store.migrate(days=1)
        store.add(opening("docs"))
        assert store.flush(WAIT)
        reader.execute("SELECT * FROM foldline.events, foldline.openings")
        for days in (1, 0, 2):
            store.add(opening("docs", at=NOW + timedelta(days=days)))
            assert store.flush(WAIT)
        with pytest.raises(StoreUnavailableError, match="lock timeout"):
            store.migrate(days=9)
        assert len(store.events()) == 4


def test_more_machines_than_the_server_has_connections_all_get_through(
    server: PostgresServer, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(outbox, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(outbox, "LAST_PAUSE", 0.1)
    # All of them stay open.
    stores = [postgres_store(url, tmp_path / str(number)) for number in range(60)]
    try:
        for store in stores:
            store.add(opening("docs"))
        assert all(store.flush(WAIT) for store in stores)
        until(lambda: all(store._connection is None for store in stores))
        stores[0].add(opening("docs"))
        assert len(stores[0].events()) == 61
    finally:
        for store in stores:
            store.close()


HOLDING = """
import fcntl, sys
file = open(sys.argv[1], "ab")
fcntl.lockf(file, fcntl.LOCK_EX)
print(flush=True)
input()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="all may send at once")
def test_one_process_sends_unless_it_was_stopped(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_store(url, tmp_path) as store:
        store.add(opening("docs"))
        assert store.flush(WAIT)
        holder = [sys.executable, "-c", HOLDING, str(tmp_path / "reserve")]
        pipe = subprocess.PIPE
        with subprocess.Popen(holder, stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            store.add(opening("docs"))
            until(lambda: store._connection is None)
            assert not store.flush(0.1)
            monkeypatch.setattr(outbox, "TURN_SECONDS", 0.0)
            assert store.flush(WAIT)
            process.communicate("\n")
        assert len(store.events()) == 2


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
