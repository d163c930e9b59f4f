"""Pruning of an index file: contents and workspaces that were not used for a while.

Functions of an SQLite connection, within a transaction of `Store.writing`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_DAY = 86_400
# Somebody comes back to a branch within these days, and derives nothing again.
_CONTENT_DAYS = 14
# A workspace without a change for so long is hashed again.
_WORKSPACE_DAYS = 30


def today() -> int:
    """The number of the day."""
    return int(time.time()) // _DAY


def sweep(run: sqlite3.Connection, *, at_once: bool = False) -> None:
    """Once a day, forget what is old; `at_once`, all that nothing has, whatever its age."""
    day = today()
    (swept,) = run.execute("SELECT swept FROM about").fetchone()
    if swept == day and not at_once:
        return
    run.execute("UPDATE about SET swept = ?", (day,))
    if at_once:
        rows = run.execute("SELECT id, CAST(root AS BLOB) FROM workspaces").fetchall()
        gone = [(number,) for number, root in rows if not _is_there(root)]
        run.executemany("DELETE FROM workspaces WHERE id = ?", gone)
    run.execute("DELETE FROM workspaces WHERE used < ?", (day - _WORKSPACE_DAYS,))
    run.execute("DELETE FROM files WHERE workspace NOT IN (SELECT id FROM workspaces)")
    held = "(SELECT content FROM files WHERE content IS NOT NULL)"
    run.execute(f"UPDATE contents SET used = ? WHERE id IN {held} AND used <> ?", (day, day))
    last = day + 1 if at_once else day - _CONTENT_DAYS
    run.execute(f"DELETE FROM contents WHERE used < ? AND id NOT IN {held}", (last,))
    # It's taken again, as parts of it may have gone.
    run.execute("DELETE FROM artefacts WHERE taken < ?", ((day - _CONTENT_DAYS) * _DAY,))
    _drop_unused(run)


def forget_imported(run: sqlite3.Connection) -> int:
    """Forget all that artefacts brought; returns how many contents. Files that had it are read."""
    came = "(SELECT id FROM contents WHERE artefact IS NOT NULL)"
    run.execute(f"DELETE FROM files WHERE content IN {came}")
    count = run.execute("DELETE FROM contents WHERE artefact IS NOT NULL").rowcount
    run.execute("DELETE FROM artefacts")
    _drop_unused(run)
    return count


def _drop_unused(run: sqlite3.Connection) -> None:
    run.execute("DELETE FROM segments WHERE id NOT IN (SELECT segment FROM contents)")
    run.execute("DELETE FROM terms WHERE segment NOT IN (SELECT id FROM segments)")
    run.execute("DELETE FROM paths WHERE id NOT IN (SELECT path FROM files)")


def _is_there(root: bytes) -> bool:
    try:
        return Path(root.decode("utf-8", "surrogatepass")).is_dir()
    except (OSError, ValueError):
        return False
