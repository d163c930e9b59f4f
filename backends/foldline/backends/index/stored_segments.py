"""The segments of an index file as objects, read when a question first asks for them.

They never change, so all connections of a process to one file share them, under no lock: two
threads may read the same one, and the first that has it counts. What is written, and what is
forgotten, is decided under the lock of the database.
"""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from foldline.backends.index.database import Database, checksum
from foldline.backends.index.segments import Segment, Spelling, Terms, derived, numbers_of

# Parts of keys whose slots are kept.
_MOST_PARTS = 32


class _Decoded:
    """Decoded segments of an index file, by their numbers."""

    def __init__(self) -> None:
        self.segments: dict[int, Segment] = {}
        # By part of a key: a question asks about a word several times.
        self.slots: dict[int, dict[str, set[int]]] = {}
        self.terms: dict[int, Terms] = {}
        self.spelled: dict[int, Spelling] = {}


_DECODED: weakref.WeakValueDictionary[bytes, _Decoded] = weakref.WeakValueDictionary()
_DECODED_LOCK = threading.Lock()


class StoredSegments:
    """The segments that one connection reads and writes, in the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._unwritten: set[int] = set()
        with _DECODED_LOCK:
            self._decoded = _DECODED.setdefault(database.name, _Decoded())

    def keep(self, numbers: Collection[int]) -> None:
        """Forget what was read of all segments but these."""
        decoded = self._decoded
        for objects in (decoded.segments, decoded.slots, decoded.terms, decoded.spelled):
            for gone in objects.keys() - numbers:
                objects.pop(gone, None)

    def get(self, number: int) -> Segment:
        """The segment with this number."""
        segment = self._decoded.segments.get(number)
        if segment is None:
            _, words, keys, *arrays = self._row(
                "is_text, words, keys, ends, places, lengths, defined", "segments WHERE id", number
            )
            segment = Segment(words, keys, *map(numbers_of, arrays))
            segment = self._decoded.segments.setdefault(number, segment)
        return segment

    def slots_with(self, number: int, part: str) -> set[int]:
        """The slots of the segment's files with a key that holds the part."""
        by_part = self._decoded.slots.setdefault(number, {})
        slots = by_part.get(part)
        if slots is None:
            if len(by_part) >= _MOST_PARTS:
                by_part.clear()
            slots = by_part[part] = self.get(number).slots(part)
        return slots

    def terms(self, number: int) -> Terms:
        """The terms of a segment's words, derived when they are first asked for."""
        terms = self._decoded.terms.get(number)
        if terms is None:
            row = self._row("terms, ends, keys", "terms WHERE segment", number)
            if row:
                terms = Terms(row[0].decode().split("\n"), *map(numbers_of, row[1:]))
            else:
                terms = derived(self.get(number))
                self._unwritten.add(number)
            terms = self._decoded.terms.setdefault(number, terms)
        return terms

    def spelling(self, number: int) -> Spelling | Terms:
        """For few terms: the terms of a segment if they are known, else its words."""
        spelling = self._decoded.terms.get(number) or self._decoded.spelled.get(number)
        if spelling is None:
            spelling = Spelling(self.get(number))
            spelling = self._decoded.spelled.setdefault(number, spelling)
        return spelling

    def _row(self, columns: str, table: str, number: int) -> tuple[Any, ...]:
        """A row; empty where there is none."""
        *row, sums = self._database.connection.execute(
            f"SELECT {columns}, sums FROM {table} = ?", (number,)
        ).fetchone() or (0,)
        if sums != checksum(*row):
            raise sqlite3.DatabaseError("a segment is malformed")
        return tuple(row)

    def write_segment(self, words: Segment, *, is_text: bool) -> int:
        """Write a segment; returns its number."""
        (number,) = self._database.connection.execute(
            "INSERT INTO segments VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (is_text, *words, checksum(int(is_text), *words)),
        ).fetchone()
        return int(number)

    def write_terms(self) -> None:
        """Keep the terms that were derived, unless another process is writing."""
        unwritten, self._unwritten = self._unwritten, set()
        rows = [
            (number, "\n".join(terms.terms).encode(), *terms[1:])
            for number in unwritten
            if (terms := self._decoded.terms.get(number)) is not None
        ]
        if rows:
            with suppress(sqlite3.OperationalError), self._database.writing():
                self._database.connection.executemany(
                    "INSERT OR IGNORE INTO terms VALUES (?, ?, ?, ?, ?)",
                    [(*row, checksum(*row[1:])) for row in rows],
                )
