"""The event store keeps what happened, not what was said."""

import contextlib
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foldline.plugins.stores import SQLiteEventStore, open_event_store
from foldline.plugins.stores.store import project_store
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.runtime import (
    InProcessEventBus,
    Redaction,
    Session,
    TokenUsage,
    ToolInvoked,
    evaluate_with_disclosure,
)

from .old_file import old_file

SUMMARY = SectionVisibility.SUMMARY
TEMPLATE = PromptTemplate(
    ns="demo",
    key="stored",
    disclosure="open",
    sections=[
        MarkdownSection[None](
            title=key, key=key, template=f"Secret {key}.", summary="Short.", visibility=SUMMARY
        )
        for key in ("docs", "rules")
    ],
)


def call(*keys: str, reason: str) -> ScriptedTurn:
    arguments: dict[str, object] = {"section_keys": list(keys), "reason": reason}
    return ScriptedTurn(tool_calls=(ScriptedCall("open_sections", arguments),))


def evaluate(bus: InProcessEventBus) -> Session:
    session = Session(bus=bus)
    script = Transcript.of(
        [call("nope", reason="wrong"), call("docs", reason="need the API")],
        [call("rules", reason="cite them")],
        [ScriptedTurn("Secret answer.", usage=TokenUsage(7, 3, 2, 1))],
    )
    evaluate_with_disclosure(ScriptedAdapter(script), TEMPLATE, session=session)
    return session


def test_openings_are_kept_with_turn_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    bus = InProcessEventBus()
    with SQLiteEventStore(path) as store:
        store.attach(bus)
        session = evaluate(bus)
        evaluate(bus)
    with SQLiteEventStore(path) as store:
        openings = store.openings(prompt_ns="demo", prompt_key="stored")
        assert [(o.section_key, o.turn, o.reason, o.how) for o in openings] == [
            ("docs", 2, "need the API", "open_sections"),
            ("rules", 1, "cite them", "open_sections"),
        ] * 2
        assert openings[0].session_id == session.session_id
        assert openings[0].evaluation_id != openings[1].evaluation_id
        assert store.opening_counts(prompt_ns="demo", prompt_key="stored") == {
            "docs": 2,
            "rules": 2,
        }
        assert store.openings(prompt_ns="demo", prompt_key="other") == ()


def test_a_hook_redacts_what_is_kept_and_the_reasons_of_openings() -> None:
    bus = InProcessEventBus()
    redact = Redaction({"hidden": "Secret|API"})
    with open_event_store(":memory:", content=redact) as store:
        store.attach(bus)
        evaluate(bus)
        assert store.openings()[0].reason == "need the [hidden]"
        assert store.events()[-1].data["text"] == "[hidden] answer."
        kept = str([event.data for event in store.events()])
        assert "Secret" not in kept
        assert "API" not in kept


def test_content_is_kept_only_on_request(tmp_path: Path) -> None:
    bus = InProcessEventBus()
    with (
        SQLiteEventStore(tmp_path / "sizes.db") as sizes,
        SQLiteEventStore(tmp_path / "texts.db", content=True) as texts,
    ):
        for store in (sizes, texts):
            store.attach(bus)
        evaluate(bus)
        kinds = [event.kind for event in sizes.events()]
        assert kinds == [event.kind for event in texts.events()]
        assert kinds == [
            "PromptRendered",
            "ModelAnswered",
            "ToolInvoked",
            "ModelAnswered",
            "ToolInvoked",
            "PromptStopped",
            "SectionsOpened",
            "PromptRendered",
            "ModelAnswered",
            "ToolInvoked",
            "PromptStopped",
            "SectionsOpened",
            "PromptRendered",
            "ModelAnswered",
            "PromptExecuted",
        ]
        assert sizes.events()[6].data == {
            "sections": ["docs"],
            "appended": False,
            "why": "the scripted adapter can't append to what was sent",
            "tools": [],
        }
        rendered, executed = sizes.events()[7], sizes.events()[-1]
        assert rendered.data["sections"] == {"docs": "FULL", "rules": "SUMMARY"}
        assert rendered.data["overrides"] == {"docs": "FULL"}
        assert executed.data == {
            "characters": 14,
            "turns": 1,
            "input_tokens": 7,
            "output_tokens": 3,
            "cached_tokens": 2,
            "written_tokens": 1,
        }
        assert texts.events()[-1].data["text"] == "Secret answer."
    assert b"Secret" not in (tmp_path / "sizes.db").read_bytes()
    assert b"Secret docs" in (tmp_path / "texts.db").read_bytes()


def test_one_event_is_kept_once_and_old_ones_can_be_forgotten() -> None:
    bus = InProcessEventBus()
    with SQLiteEventStore(":memory:") as store:
        store.attach(bus)
        store.attach(bus)
        evaluate(bus)
        assert len(store.events()) == 15
        assert len(store.openings()) == 2
        assert store.prune(before=datetime.now(UTC) - timedelta(days=1)) == 0
        assert store.prune(before=datetime.now(UTC) + timedelta(days=1)) == 15
        assert store.openings() == ()


def test_a_value_that_json_cannot_hold_is_kept_as_it_prints() -> None:
    event = ToolInvoked(
        prompt_ns="n",
        prompt_key="k",
        evaluation_id="e",
        name="t",
        turn=1,
        call_id="c",
        value=float("inf"),
        params={1: b"\xff"},
    )
    with SQLiteEventStore(":memory:", content=True) as store:
        store.add(event)
        (kept,) = store.events()
    assert kept.data["params"] == {"1": "b'\\xff'"}


def test_many_threads_can_write(tmp_path: Path) -> None:
    bus = InProcessEventBus()
    with SQLiteEventStore(tmp_path / "events.db") as store:
        store.attach(bus)
        threads = [threading.Thread(target=evaluate, args=(bus,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.events()) == 4 * 15


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ValueError, match="newer"):
        SQLiteEventStore(path)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "places.db")) as database:
        database.execute("CREATE TABLE places (url TEXT)")
        with pytest.raises(ValueError, match="another program"):
            SQLiteEventStore(tmp_path / "places.db")
        assert [row[1] for row in database.execute("SELECT * FROM sqlite_master")] == ["places"]


FORK = """
import os, sys
from foldline.plugins.stores import SQLiteEventStore
from foldline.prompts.runtime import ToolInvoked
def event(run):
    return ToolInvoked(prompt_ns="n", prompt_key="k", evaluation_id=run, name="t", turn=1,
                       call_id="c")
store = SQLiteEventStore(sys.argv[1])
store.add(event("parent"))
(written, write), (closed, close) = os.pipe(), os.pipe()
if child := os.fork():
    os.read(written, 1)
    store.close()
    # Were the child's lock not one, this would be the only one that has the file.
    with SQLiteEventStore(sys.argv[1]) as other:
        other.add(event("other"))
    os.write(close, b"x")
    sys.exit(os.waitpid(child, 0)[1])
store.add(event("child"))
os.write(write, b"x")
os.read(closed, 1)
store.add(event("child"))
os._exit(0)
"""


@pytest.mark.real
def test_a_fork_goes_on_though_its_parent_closes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    subprocess.run([sys.executable, "-c", FORK, str(path)], check=True, timeout=60)
    with SQLiteEventStore(path) as store:
        runs = [event.evaluation_id for event in store.events()]
        assert runs == ["parent", "child", "other", "child"]


WRITER = """
import sys
from foldline.plugins.stores import SQLiteEventStore
from foldline.prompts.runtime import ToolInvoked
for number in range(25):
    with SQLiteEventStore(sys.argv[1]) as store:
        store.add(ToolInvoked(prompt_ns="n", prompt_key="k", evaluation_id=sys.argv[2],
                              name="t", turn=number, call_id="c"))
"""


@pytest.mark.real
def test_several_processes_can_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    with SQLiteEventStore(path) as store:
        assert len(store.events()) == 75
    assert list(tmp_path.iterdir()) == [path], "at rest it is one file"


def test_a_file_of_an_older_version_is_extended(tmp_path: Path) -> None:
    path = old_file(tmp_path / "events.db")
    for _ in range(2):
        with SQLiteEventStore(path) as store:
            assert [(*row,) for row in store.token_totals()] == [("ns", "k", 1, 7, 0, 0, 0)]
            assert [row[2:] for row in store.size_totals()] == [
                ("ModelAnswered", 1, 5, 5),
                ("ToolInvoked", 1, 3, 3),
            ]
            assert [row[3:] for row in store.openings_by_day()] == [("docs", 1, 1)]
            assert store.events()[0].data["text"] == "héllo"


def project(folder: Path, store: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.foldline]\nstore = {store}\n", "utf-8")


def test_a_store_is_the_one_that_is_given_then_the_environments_then_the_projects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOLDLINE_STORE", raising=False)
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    with pytest.raises(ValueError, match="No store is configured"):
        open_event_store()
    project(tmp_path, '"runs.db"')
    open_event_store().close()
    assert (tmp_path / "runs.db").exists()
    (tmp_path / "foldline.toml").write_text('store = "own.db"\n')
    open_event_store().close()
    assert (tmp_path / "own.db").exists()
    monkeypatch.setenv("FOLDLINE_STORE", str(tmp_path / "environment.db"))
    open_event_store().close()
    assert (tmp_path / "environment.db").exists()
    open_event_store(tmp_path / "given.db").close()
    assert (tmp_path / "given.db").exists()


@pytest.mark.parametrize(
    ("store", "problem"),
    [
        ('"../runs.db"', "inside the project"),
        ('"/runs.db"', "inside the project"),
        ("5", "URL or a path"),
        ('""', "URL or a path"),
        ('"postgresql://team:hunter2@host/runs"', "belongs into PGPASSWORD"),
        ('"postgresql://host/runs?password=hunter2"', "belongs into PGPASSWORD"),
        ('"postgresql://host/runs?sslmode=require&passfile=/x"', "belongs into PGPASSWORD"),
        ("[", "isn't TOML"),
    ],
)
def test_a_project_may_name_no_password_and_no_file_elsewhere(
    store: str, problem: str, tmp_path: Path
) -> None:
    project(tmp_path, store)
    with pytest.raises(ValueError, match=problem) as raised:
        project_store(tmp_path)
    assert "hunter2" not in str(raised.value)


def test_a_project_may_name_a_server(tmp_path: Path) -> None:
    for store in ("postgresql://team@db/runs", "postgres://db/runs?sslmode=verify-full"):
        project(tmp_path, f'"{store}"')
        assert project_store(tmp_path) == store
    (tmp_path / "pyproject.toml").write_text("[tool]\nfoldline = 1\n", "utf-8")
    assert project_store(tmp_path) is None
