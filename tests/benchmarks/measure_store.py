"""Measure the stores of events: 16 writers, a million events, and a server that is killed.

    uv run python -m tests.benchmarks.measure_store [--events 1000000] [--writers 16]

Each writer adds the events of its runs to PostgreSQL, and every tenth to one SQLite file of all, in
turn: both are timed under the same load. A third of the way the server is killed, with all its
processes, and started again. In the end every event must be there once, and the reports over all
runs are those of one SQLite file with the same events.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from array import array
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from foldline.plugins.stores import SQLiteEventStore
from foldline.plugins.stores.postgres_store import PostgresEventStore
from foldline.plugins.stores.records import record_of
from foldline.prompts.disclosure.disclosure import OpenSectionsParams
from foldline.prompts.runtime import Event, ModelAnswered, PromptExecuted, TokenUsage, ToolInvoked

from ..conftest import _on_path
from ..plugins.stores.postgres_server import PostgresServer, running_server

if TYPE_CHECKING:
    from collections.abc import Iterator

PER_RUN = 10
SECTIONS = [f"chapter-{number}.section" for number in range(30)]
TODAY = datetime.now(UTC)
SECONDS = 1800.0


def run_events(run: int) -> Iterator[Event]:
    """Yield the events of one run: ten, two of them openings, on one of thirty days."""
    at = TODAY - timedelta(days=run % 30)
    shared = {
        "prompt_ns": "bench",
        "prompt_key": f"prompt-{run % 5}",
        "evaluation_id": f"run-{run}",
        "created_at": at,
    }
    usage = TokenUsage(1000 + run % 100, 50, 900, 10)
    for turn in range(1, 6):
        yield ModelAnswered(
            **shared,  # type: ignore[arg-type]
            event_id=f"{run}-a{turn}",
            turn=turn,
            text="The answer to it.",
            tool_calls=(),
            usage=usage,
        )
    for turn in range(1, 5):
        section = SECTIONS[(run * turn) % len(SECTIONS)]
        yield ToolInvoked(
            **shared,  # type: ignore[arg-type]
            event_id=f"{run}-t{turn}",
            name="open_sections" if turn < 3 else "search",
            turn=turn,
            call_id="c",
            params=OpenSectionsParams(reason="needed for the answer", section_keys=(section,)),
        )
    yield PromptExecuted(
        **shared,  # type: ignore[arg-type]
        event_id=f"{run}-e",
        text="The answer to it.",
        turns=5,
        usage=usage,
    )


def write(url: str, folder: str, number: int, runs: int) -> None:
    """Add the events of one writer's runs, and leave how long each took."""
    times, anchors = array("d"), array("d")
    with (
        PostgresEventStore(url, spool=Path(folder) / "spool", spool_bytes=1 << 30) as team,
        SQLiteEventStore(Path(folder) / "shared.sqlite") as file,
    ):
        count = 0
        for run in range(number * runs, (number + 1) * runs):
            for event in run_events(run):
                began = time.perf_counter()
                team.add(event)
                times.append(time.perf_counter() - began)
                count += 1
                if count % 10 == 0:
                    began = time.perf_counter()
                    file.add(event)
                    anchors.append(time.perf_counter() - began)
            if run % 100 == 0:
                (Path(folder) / f"{number}.progress").write_text(str(count))
        if not team.flush(SECONDS):
            raise AssertionError(
                f"writer {number} couldn't send: {team.outbox and team.outbox.problem}"
            )
    for name, values in (("times", times), ("anchors", anchors)):
        with (Path(folder) / f"{number}.{name}").open("wb") as output:
            values.tofile(output)


def written(folder: Path) -> int:
    return sum(int(path.read_text() or 0) for path in folder.glob("*.progress"))


def read(folder: Path, name: str) -> list[float]:
    values = array("d")
    for path in folder.glob(f"*.{name}"):
        values.frombytes(path.read_bytes())
    return sorted(values)


def percentiles(values: list[float]) -> str:
    shown = ((0.5, "median"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9"))
    parts = [f"{name} {values[int(len(values) * share)] * 1000:.2f} ms" for share, name in shown]
    return ", ".join([*parts, f"most {values[-1] * 1000:.0f} ms, of {len(values):,}"])


def delivered(url: str, folder: Path) -> list[float]:
    """Return how long single events take from `add` until the server has them."""
    times = []
    with PostgresEventStore(url, spool=folder / "single") as team:
        for made in (event for run in range(50) for event in run_events(run)):
            event = replace(made, event_id=f"single-{made.event_id}", prompt_ns="single")
            began = time.perf_counter()
            team.add(event)
            assert team.flush(SECONDS)
            times.append(time.perf_counter() - began)
    return sorted(times)


def measure(server: PostgresServer, folder: Path, writers: int, runs: int) -> None:
    server.stop()
    server.start(fsync=True)
    url = server.database()
    context = get_context("fork")
    began = time.perf_counter()
    processes = [
        context.Process(target=write, args=(url, str(folder), number, runs))
        for number in range(writers)
    ]
    for process in processes:
        process.start()
    total = writers * runs * PER_RUN
    while written(folder) < total // 3 and any(process.is_alive() for process in processes):
        time.sleep(0.5)
    server.kill()
    server.start(fsync=True)
    print(f"the server was killed and started again after {written(folder):,} events")
    for process in processes:
        process.join()
    print(f"all sent after {time.perf_counter() - began:.0f} s by {writers} processes")
    assert all(process.exitcode == 0 for process in processes)
    with psycopg.connect(url) as connection:
        stored = connection.execute(
            "SELECT count(*), count(DISTINCT event_id) FROM foldline.events"
        ).fetchone()
        size = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    print(f"events: {stored} of {total:,} added; {size and size[0] / 1e6:,.0f} MB")
    assert stored == (total, total)
    print(f"append, PostgreSQL: {percentiles(read(folder, 'times'))}")
    print(f"append, SQLite:     {percentiles(read(folder, 'anchors'))}")
    print(f"from `add` to PostgreSQL, one writer: {percentiles(delivered(url, folder))}")
    with SQLiteEventStore(folder / "all.sqlite") as file, PostgresEventStore(url) as team:
        for first in range(0, writers * runs, 1000):
            last = min(first + 1000, writers * runs)
            file.add_all(
                [
                    record_of(event, content=False)
                    for run in range(first, last)
                    for event in run_events(run)
                ]
            )
        with suppress(psycopg.Error), psycopg.connect(url, autocommit=True) as connection:
            # As autovacuum does within a minute.
            connection.execute("ANALYZE")
        for name in ("openings_by_day", "opening_counts", "token_totals", "size_totals"):
            answers = []
            for store in (team, file):
                report = partial(getattr(store, name), prompt_ns="bench")
                answers.append(report())
                seconds = []
                for _ in range(5):
                    began = time.perf_counter()
                    report()
                    seconds.append(time.perf_counter() - began)
                print(
                    f"{name} over {writers * runs:,} runs, {type(store).__name__}: "
                    f"median {statistics.median(seconds):.2f} s, most {max(seconds):.2f} s"
                )
            assert answers[0] == answers[1], f"{name} differs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--writers", type=int, default=16)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")

    def program(name: str) -> str:
        path = _on_path((name,))
        if path is None:
            raise SystemExit(f"there is no {name}: run tests/install-programs")
        return path

    with tempfile.TemporaryDirectory() as folder:
        for server in running_server(program):
            measure(
                server, Path(folder), options.writers, options.events // options.writers // PER_RUN
            )
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
