"""`foldline runs`: reports on the stored events of evaluations, and what keeps them in order."""

from __future__ import annotations

import os
from argparse import Namespace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.refusals import Refused
from foldline.agent.targets import number_from
from foldline.agent.terminal import json_text, show
from foldline.agent.verbs import Verbs
from foldline.backends.formatting.visible import visible
from foldline.plugins import stores

DESCRIPTION = """\
Reads and keeps the store of evaluations' events. `report` shows the openings of sections by day,
the tokens by kind and the sizes of each prompt; `push FILE` sends the events of an SQLite file that
the store lacks; `prune` deletes what is older than --days; `migrate` extends a server's tables, and
makes a partition for each of the next --days (30). The store is --store, else FOLDLINE_STORE, else
`store` in foldline.toml, or in [tool.foldline] of pyproject.toml."""

MOST_DAYS = 36_500
"""Events are younger, and dates go back no further than the first year."""
AHEAD_DAYS, MOST_AHEAD_DAYS = 30, 366
_DONE = {"push": "events pushed", "prune": "events deleted", "migrate": "days made ahead"}


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "runs", help="report, push and prune the events of evaluations", description=DESCRIPTION
    )
    parser.add_argument("action", choices=("report", *_DONE), help="what to do")
    parser.add_argument("file", nargs="?", metavar="FILE", help="the SQLite file to push")
    parser.add_argument("--store", metavar="WHERE", help="a postgresql:// URL, or a path")
    parser.add_argument(
        "--days", type=number_from(1), metavar="N", help="the last N days; those to migrate for"
    )
    parser.add_argument("--json", action="store_true", help="write the report as JSON")
    parser.add_argument(
        "--trust", action="store_true", help="connect to the server that the project names"
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    import sqlite3

    from foldline.prompts.errors import StoreUnavailableError

    try:
        with _opened(options) as store:
            if options.action == "report":
                return _report(store, options)
            change = {"push": _push, "prune": _prune, "migrate": _migrate}[options.action]
            number = change(store, options)
    except (StoreUnavailableError, ValueError, sqlite3.Error) as error:
        raise Refused(visible(str(error)), kind="store") from error
    show(f"{number:,} {_DONE[options.action]}")
    return FOUND


def _opened(options: Namespace) -> stores.EventStore:
    from foldline.plugins.stores.store import VARIABLE, is_server, project_store

    named = options.store or os.environ.get(VARIABLE)
    where = named or project_store(Path.cwd())
    if where and is_server(where) and not named and not options.trust:
        raise Refused(
            f"the project names the server {visible(where)}: add --trust to send it your "
            f"password and your events, or set {VARIABLE}"
        )
    if where and not is_server(where) and options.action != "push" and not Path(where).is_file():
        raise Refused(f"there is no file {visible(where)}")
    return stores.open_event_store(where)


def _push(store: stores.EventStore, options: Namespace) -> int:
    if options.file is None or not Path(options.file).is_file():
        raise Refused(f"`push` takes an SQLite file of events, not {options.file or 'nothing'}")
    pushed = after = 0
    with stores.SQLiteEventStore(options.file) as source:
        while batch := source.records(after=after):
            pushed += store.add_all([record for _, record in batch])
            after = batch[-1][0]
    return pushed


def _prune(store: stores.EventStore, options: Namespace) -> int:
    if options.days is None:
        raise Refused("`prune` takes --days N: how many days stay")
    return store.prune(before=_days_ago(options.days))


def _migrate(store: stores.EventStore, options: Namespace) -> int:
    return store.migrate(days=min(options.days or AHEAD_DAYS, MOST_AHEAD_DAYS))


def _days_ago(days: int) -> datetime:
    return datetime.now(UTC) - timedelta(days=min(days, MOST_DAYS))


def _report(store: stores.EventStore, options: Namespace) -> int:
    since = options.days and _days_ago(options.days)
    tables: dict[str, tuple[Any, ...]] = {
        "openings": store.openings_by_day(since=since),
        "tokens": store.token_totals(since=since),
        "sizes": store.size_totals(since=since),
    }
    if options.json:
        data = {name: [row._asdict() for row in rows] for name, rows in tables.items()}
        show(json_text(data))
    else:
        for name, rows in tables.items():
            # A model wrote some of it.
            table = (rows[0]._fields, *rows) if rows else ()
            lines = [[visible(str(cell)) for cell in row] for row in table]
            widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
            show(f"{name}:{'' if rows else ' none'}")
            for line in lines:
                cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
                show(f"  {'  '.join(cells)}".rstrip())
    return FOUND if any(tables.values()) else NOTHING
