"""Outlines that an index file keeps for later processes, by the keys of their contents."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.backends.index.database import Database

_MOST_OUTLINES = 20_000
_OUTLINES_AT_ONCE = 64


class StoredOutlines:
    """The outlines in a file, and those of this process that wait to be written.

    Other processes see one a few later: a transaction for each would keep them waiting.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._unwritten: dict[bytes, str] = {}

    def get(self, key: bytes) -> str | None:
        """The outline that was kept under the key of its content."""
        with self._database.lock, self._database.spoiled():
            if key in self._unwritten:
                return self._unwritten[key]
            row = self._database.connection.execute(
                "SELECT outline FROM outlines WHERE key = ?", (key,)
            ).fetchone()
            return None if row is None else zlib.decompress(row[0]).decode("utf-8", "surrogatepass")

    def keep(self, key: bytes, outline: str) -> None:
        """Keep an outline; the oldest ones make room."""
        with self._database.lock:
            self._unwritten[key] = outline
            if len(self._unwritten) >= _OUTLINES_AT_ONCE:
                self.write()

    def write(self) -> None:
        """Write those that wait; if it fails they are forgotten, and made again."""
        database = self._database
        with database.lock:
            outlines, self._unwritten = self._unwritten, {}
            if not outlines:
                return
            with database.writing():
                database.connection.executemany(
                    "INSERT OR REPLACE INTO outlines VALUES (?, ?)",
                    [
                        (key, zlib.compress(outline.encode("utf-8", "surrogatepass"), 1))
                        for key, outline in outlines.items()
                    ],
                )
                last = database.number("SELECT max(rowid) FROM outlines")
                database.connection.execute(
                    "DELETE FROM outlines WHERE rowid <= ?", (last - _MOST_OUTLINES,)
                )
