"""The index as an SQLite file: the words of each content, who has it since when, and outlines.

All worktrees and clones of a repository share a file. Words are kept under a hash of what they are
of, so that none of them can be wrong about another's, and a content that one has read costs the
others a look at it. A question looks into the segments that have something of its own workspace.

A word is looked for in the words of each segment, by its bytes: some milliseconds for thousands of
files. In return a file that changes costs one row, and an index half built already answers.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import weakref
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

from foldline.backends.base.caches import cache_folder
from foldline.backends.base.languages import language_of
from foldline.backends.files.listing import FileStamp, Listing, decode_listing, encode_listing
from foldline.backends.index.definitions import BY_WORDS
from foldline.backends.index.family import family_of
from foldline.backends.index.segments import (
    EXACT,
    FEW_TERMS,
    Building,
    DocumentRow,
    Postings,
    Segment,
    Spelling,
    Terms,
    derived,
    postings,
)
from foldline.backends.index.upkeep import sweep, today

SCHEMA_VERSION = 10
"""Raise it with a change to the tables, or to the words or terms of a content."""
_APPLICATION_ID = 0x666F6C64
_BUSY_SECONDS = 2.0
_MOST_OUTLINES = 20_000
_OUTLINES_AT_ONCE = 64
_SCHEMA = """
CREATE TABLE about (name BLOB NOT NULL, swept INTEGER NOT NULL);
CREATE TABLE workspaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL UNIQUE, used INTEGER NOT NULL,
    listing BLOB NOT NULL
);
CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE files (
    workspace INTEGER NOT NULL, path INTEGER NOT NULL, size INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL, since INTEGER NOT NULL, inode INTEGER NOT NULL,
    racy INTEGER NOT NULL, note TEXT NOT NULL, content INTEGER, sums INTEGER NOT NULL,
    PRIMARY KEY (workspace, path)
) WITHOUT ROWID;
CREATE INDEX holders ON files (content, workspace);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, segment INTEGER NOT NULL,
    slot INTEGER NOT NULL, used INTEGER NOT NULL, artefact INTEGER, sums INTEGER NOT NULL
);
CREATE INDEX slots ON contents (segment, slot);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, is_text INTEGER NOT NULL, words INTEGER NOT NULL,
    keys BLOB NOT NULL, ends BLOB NOT NULL, places BLOB NOT NULL, lengths BLOB NOT NULL,
    defined BLOB NOT NULL, sums INTEGER NOT NULL
);
CREATE TABLE terms (
    segment INTEGER PRIMARY KEY, terms BLOB NOT NULL, ends BLOB NOT NULL, keys BLOB NOT NULL,
    sums INTEGER NOT NULL
);
CREATE TABLE artefacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL, source TEXT NOT NULL,
    taken INTEGER NOT NULL
);
CREATE TABLE outlines (key BLOB PRIMARY KEY, outline BLOB NOT NULL);
"""
_STATEMENTS = [*filter(None, map(str.strip, _SCHEMA.split(";")))]
TEXT_NOTE = "text "
"""The beginning of the notes of files that aren't code."""
# Parts of keys whose slots are kept.
_MOST_PARTS = 32
# The notes of files whose words are known: those of code, and of texts.
_READ = f"('', '{TEXT_NOTE}')"
_OWN = """
FROM files JOIN contents ON contents.id = files.content JOIN paths ON paths.id = files.path
WHERE files.workspace = ?
"""
_ROWS = """
SELECT files.sums, contents.sums, paths.path, size, ctime_ns, since, inode, racy, note, key,
    segment, slot
FROM files LEFT JOIN contents ON contents.id = content LEFT JOIN paths ON paths.id = files.path
WHERE workspace = ?
"""
# What rows that were changed behind our back may lead to.
_SPOILED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, zlib.error)
# More segments with fewer files are merged.
_MOST_SMALL = 8
_SMALL = 400
# The contents of a part of an artefact, about.
_PART_CONTENTS = 4_000
_Found = TypeVar("_Found")


def index_location(root: Path) -> Path:
    """The index file of the workspace; `FOLDLINE_CACHE_DIR` moves the folder of all of them.

    Each version has its own: several may be in use at once.
    """
    name = hashlib.blake2b(os.fsencode(family_of(root)), digest_size=12).hexdigest()
    return index_folder() / f"{name}-{SCHEMA_VERSION}.sqlite3"


def index_folder() -> Path:
    """The folder of all index files."""
    return cache_folder() / "index"


class KnownFile(NamedTuple):
    """A file as it was read; `note` says why its words are not known, if so.

    A `racy` one was read so soon after it changed that its times may not show a further change.
    """

    stamp: FileStamp
    racy: bool
    note: str
    content: bytes | None = None


class Part(NamedTuple):
    """The words of some contents: their keys by slot."""

    is_text: bool
    keys: list[bytes]
    words: Segment

    def of(self, slots: Sequence[int]) -> Part:
        """The contents with these slots."""
        return Part(self.is_text, [self.keys[slot] for slot in slots], self.words.of(slots))


class StaleStoreError(Exception):
    """The file isn't an index of this version, and is rebuilt."""


class _Decoded:
    """The segments of a file as objects, which all connections of this process share.

    They don't change. Their terms are derived when they are first asked for.
    """

    def __init__(self) -> None:
        self.segments: dict[int, Segment] = {}
        # By part of a key: a question asks about a word several times.
        self.slots: dict[int, dict[str, set[int]]] = {}
        self.terms: dict[int, Terms] = {}
        self.spelled: dict[int, Spelling] = {}

    def keep(self, numbers: Collection[int]) -> None:
        """Forget all segments but these."""
        for decoded in (self.segments, self.slots, self.terms, self.spelled):
            for gone in decoded.keys() - numbers:
                decoded.pop(gone, None)


_DECODED: weakref.WeakValueDictionary[bytes, _Decoded] = weakref.WeakValueDictionary()
_DECODED_LOCK = threading.Lock()


class Store:
    """One connection to the index of a workspace, which several threads share.

    Other processes, and other workspaces in this one, have theirs. Every method may raise
    `sqlite3.Error`, and opening `StaleStoreError` too.

    A path that isn't UTF-8 is kept as bytes, every other as text.
    """

    def __init__(self, location: Path | None, root: Path | str = "") -> None:
        self._lock = threading.RLock()
        self._root = _stored(str(root))
        self._outlines: dict[bytes, str] = {}
        self._unwritten: set[int] = set()
        self._updates = 0
        # What this workspace has, as of a moment: its number and segments; its copies.
        self._moment: object = None
        self._own = 0
        self._own_segments: Sequence[tuple[int, bool]] = ()
        self._is_checked = False
        self._copied_at: object = None
        self._copies: dict[int, dict[int, list[int]]] = {}
        self._connection = sqlite3.connect(
            ":memory:" if location is None else location,
            check_same_thread=False,
            isolation_level=None,
            timeout=_BUSY_SECONDS,
        )
        # An index that isn't closed leaves no connection behind. Not at exit: other threads may
        # execute statements then, and closing under them crashes, or waits for them.
        weakref.finalize(self, self._connection.close).atexit = False
        try:
            with self._spoiled():
                self._open()
                (name,) = self._connection.execute("SELECT name FROM about").fetchone()
        except BaseException:
            self._connection.close()
            raise
        with _DECODED_LOCK:
            self._decoded = _DECODED.setdefault(name, _Decoded())

    def _open(self) -> None:
        run = self._connection.execute
        # A write-ahead log would map a file that all processes share: truncating that file, or a
        # network drive, would end them by SIGBUS. The index itself isn't mapped either.
        run("PRAGMA mmap_size = 0")
        run("PRAGMA journal_mode = TRUNCATE")
        # Readers wait only while a change is written, not while it grows.
        run("PRAGMA cache_spill = OFF")
        run("PRAGMA synchronous = NORMAL")
        run("PRAGMA trusted_schema = OFF")
        if self._is_current():
            return
        with self._writing():
            if self._is_current():
                return
            if self._number("SELECT count(*) FROM sqlite_master"):
                raise StaleStoreError
            for statement in _STATEMENTS:
                run(statement)
            run("INSERT INTO about VALUES (?, ?)", (os.urandom(16), today()))
            run(f"PRAGMA application_id = {_APPLICATION_ID}")
            run(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def close(self) -> None:
        """Write what is pending, and close the connection."""
        with self._lock:
            with suppress(sqlite3.Error):
                self._write_outlines()
            self._connection.close()

    def version(self) -> int:
        """A number that changes when another process has written."""
        with self._lock:
            return self._number("PRAGMA data_version")

    def files(self, kind: int | None = None) -> dict[str, tuple[int, int, int, int, int]]:
        """The files that the index knows, or code or texts alone: size, times, inode, `racy`."""
        with self._reading():
            rows = self._connection.execute(
                "SELECT paths.path, size, ctime_ns - since, ctime_ns, inode, racy FROM files "
                "JOIN paths ON paths.id = files.path "
                f"WHERE workspace = ? AND coalesce((note LIKE '{TEXT_NOTE}%') = ?, 1)",
                (self._own, kind),
            ).fetchall()
        return {_loaded(row[0]): row[1:] for row in rows}

    def has(self, content: bytes) -> bool:
        """Return whether the words of the content with this key are known."""
        with self._lock:
            rows = self._connection.execute("SELECT 1 FROM contents WHERE key = ?", (content,))
            return rows.fetchone() is not None

    def contents(self) -> set[bytes]:
        """The keys of all contents whose words are known."""
        with self._lock:
            rows = self._connection.execute("SELECT key FROM contents")
            return {key for (key,) in rows}

    def listing(self) -> tuple[Listing, int] | None:
        """The list of files that was kept, and when it was made."""
        with self._reading():
            row = self._connection.execute(
                "SELECT listing FROM workspaces WHERE id = ?", (self._own,)
            ).fetchone()
            if not (row and row[0]):
                return None
            looked_at, _, text = zlib.decompress(row[0]).decode().partition("\n")
        listing = decode_listing(text)
        return None if listing is None else (listing, int(looked_at))

    def keep_listing(self, listing: Listing, looked_at: int) -> None:
        """Keep a list of files, from which the next process begins."""
        text = zlib.compress(f"{looked_at}\n{encode_listing(listing)}".encode(), 1)
        with self._lock, self._writing():
            self._updates += 1
            self._connection.execute(
                "UPDATE workspaces SET listing = ? WHERE id = ?", (text, self._enter())
            )

    def noted(self, note: str) -> list[str]:
        """The paths of the files with this note."""
        with self._reading():
            rows = self._connection.execute(
                "SELECT paths.path FROM files JOIN paths ON paths.id = files.path "
                "WHERE workspace = ? AND note = ?",
                (self._own, note),
            )
            return sorted(_loaded(path) for (path,) in rows)

    def files_with(self, word: str, *, defined: bool = False) -> list[str]:
        """The paths of the files that hold the word, or seem to define it."""
        with self._reading():
            paths = self._holding(f"\n{word}\n", are_texts=not defined)
            if defined:
                # In other languages every word may be defined.
                paths = {path for path in paths if language_of(path) not in BY_WORDS}
                paths |= self._holding(f"\n{EXACT}{word}\n", are_texts=False)
        return [*paths]

    def _holding(self, part: str, *, are_texts: bool = True) -> set[str]:
        """The paths of the files with a key that holds the part; without texts, of code alone."""
        paths: set[str] = set()
        for number in self._numbers(are_texts=are_texts):
            rows = self._connection.execute(
                "SELECT paths.path FROM json_each(?) AS wanted CROSS JOIN contents "
                "CROSS JOIN files CROSS JOIN paths WHERE segment = ? AND slot = wanted.value "
                "AND content = contents.id AND workspace = ? AND paths.id = files.path",
                (json.dumps([*self._slots_with(number, part)]), number, self._own),
            )
            paths.update(_loaded(path) for (path,) in rows)
        return paths

    def defined_names(self) -> set[bytes]:
        """The names that files seem to define, as UTF-8."""
        with self._reading():
            slots = self._slots()
            return {name for number in slots for name in self._segment(number).names(slots[number])}

    def _slots_with(self, number: int, part: str) -> set[int]:
        by_part = self._decoded.slots.setdefault(number, {})
        slots = by_part.get(part)
        if slots is None:
            if len(by_part) >= _MOST_PARTS:
                by_part.clear()
            slots = by_part[part] = self._segment(number).slots(part)
        return slots

    def _slots(self) -> dict[int, set[int]]:
        """The slots of this workspace's files, by segment."""
        slots: dict[int, set[int]] = {}
        for number, slot in self._connection.execute(f"SELECT segment, slot {_OWN}", (self._own,)):
            slots.setdefault(number, set()).add(slot)
        return slots

    def files_without(self, parts: Iterable[str]) -> set[str]:
        """The paths of the files with words of which none has one of the parts in it."""
        with self._reading():
            rows = self._connection.execute(
                f"SELECT paths.path {_OWN} AND note = ''", (self._own,)
            ).fetchall()
            every = {_loaded(path) for (path,) in rows}
            return every - every.intersection(*map(self._holding, parts))

    def postings(
        self, terms: Collection[str], known: object = None
    ) -> tuple[object, list[DocumentRow] | None, dict[str, list[Postings]]]:
        """The version of the index, the documents of all files, and the postings of the terms.

        All are of one moment. The documents are None where `known` is that version.
        """
        by_term: dict[str, list[Postings]] = {}
        with self._reading() as version:
            rows = None
            if version != known or version != self._copied_at:
                rows, self._copied_at = self._documents(), version
            for number in self._numbers(are_texts=False):
                known_terms = (
                    self._spelling(number) if len(terms) <= FEW_TERMS else self._terms(number)
                )
                copies = self._copies.get(number, {})
                for term in terms:
                    places = postings(number, self._segment(number), known_terms, term, copies)
                    if places is not None:
                        by_term.setdefault(term, []).append(places)
        self._write_terms()
        return version, rows, by_term

    def _documents(self) -> list[DocumentRow]:
        """The documents of this workspace; what several files have is in more slots, of its own."""
        rows: list[DocumentRow] = []
        places: dict[int, tuple[bytearray, dict[int, list[int]], Segment]] = {}
        for number in self._numbers(are_texts=False):
            segment = self._segment(number)
            places[number] = bytearray(len(segment.lengths)), {}, segment
        for path, number, slot in self._connection.execute(
            f"SELECT paths.path, segment, slot {_OWN}", (self._own,)
        ):
            if number not in places:
                continue
            taken, copies, segment = places[number]
            document = slot
            if taken[slot]:
                document = len(taken)
                taken.append(1)
                copies.setdefault(slot, []).append(document)
            taken[slot] = 1
            rows.append(
                (_loaded(path), number, document, segment.lengths[slot], segment.defined[slot])
            )
        self._copies = {number: copies for number, (_, copies, _) in places.items() if copies}
        return rows

    def vocabulary(self, parts: Collection[str]) -> list[str]:
        """The terms that hold one of the parts, a line each."""
        with self._reading():
            slots = self._slots()
            return [
                "\n".join(self._terms(number).like([*parts], self._segment(number), slots[number]))
                for number in self._numbers(are_texts=False)
            ]

    @contextmanager
    def _reading(self) -> Iterator[object]:
        """Everything is read as of one moment, whose version is returned."""
        with self._lock, self._spoiled():
            self._connection.execute("BEGIN")
            try:
                # From here on, others' changes aren't seen.
                version = self._number("PRAGMA data_version"), self._updates
                if version != self._moment:
                    self._look()
                    self._moment = version
                yield version
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("COMMIT")

    def _look(self) -> None:
        """Find the number of this workspace, and its segments."""
        run = self._connection.execute
        row = run("SELECT id FROM workspaces WHERE root = ?", (self._root,)).fetchone()
        self._own = row[0] if row else 0
        if not self._is_checked:
            for sums, placed, *row in run(_ROWS, (self._own,)):
                *file, segment, slot = row
                held = file[-1] is None or placed == _sum_of(file[-1], segment, slot)
                if sums != _sum_of(*file) or not held:
                    raise sqlite3.DatabaseError("a row is malformed")
            self._is_checked = True
        numbers = {number for (number,) in run(f"SELECT DISTINCT segment {_OWN}", (self._own,))}
        rows = run("SELECT id, is_text FROM segments").fetchall()
        self._decoded.keep({number for number, _ in rows})
        self._own_segments = [
            (number, bool(is_text)) for number, is_text in rows if number in numbers
        ]

    def _numbers(self, *, are_texts: bool = True) -> list[int]:
        """The numbers of the segments that have something of this workspace."""
        return [number for number, is_text in self._own_segments if are_texts or not is_text]

    def _segment(self, number: int) -> Segment:
        segment = self._decoded.segments.get(number)
        if segment is None:
            _, words, keys, *arrays = self._row(
                "is_text, words, keys, ends, places, lengths, defined", "segments WHERE id", number
            )
            segment = Segment(words, keys, *map(_array, arrays))
            segment = self._decoded.segments.setdefault(number, segment)
        return segment

    def _terms(self, number: int) -> Terms:
        terms = self._decoded.terms.get(number)
        if terms is None:
            row = self._row("terms, ends, keys", "terms WHERE segment", number)
            if row:
                terms = Terms(row[0].decode().split("\n"), *map(_array, row[1:]))
            else:
                terms = derived(self._segment(number))
                self._unwritten.add(number)
            terms = self._decoded.terms.setdefault(number, terms)
        return terms

    def _spelling(self, number: int) -> Spelling | Terms:
        spelling = self._decoded.terms.get(number) or self._decoded.spelled.get(number)
        if spelling is None:
            spelling = Spelling(self._segment(number))
            spelling = self._decoded.spelled.setdefault(number, spelling)
        return spelling

    def _row(self, columns: str, table: str, number: int) -> tuple[Any, ...]:
        """A row; empty where there is none."""
        *row, sums = self._connection.execute(
            f"SELECT {columns}, sums FROM {table} = ?", (number,)
        ).fetchone() or (0,)
        if sums != _sum_of(*row):
            raise sqlite3.DatabaseError("a segment is malformed")
        return tuple(row)

    def _write_terms(self) -> None:
        """Keep the terms that were derived, unless another process is writing."""
        unwritten, self._unwritten = self._unwritten, set()
        rows = [
            (number, "\n".join(terms.terms).encode(), *terms[1:])
            for number in unwritten
            if (terms := self._decoded.terms.get(number)) is not None
        ]
        if rows:
            with self._lock, suppress(sqlite3.OperationalError), self._writing():
                self._connection.executemany(
                    "INSERT OR IGNORE INTO terms VALUES (?, ?, ?, ?, ?)",
                    [(*row, _sum_of(*row[1:])) for row in rows],
                )

    def update(
        self,
        gone: Iterable[str],
        changed: Sequence[KnownFile] = (),
        *words: Part,
    ) -> bool:
        """Remove deleted files, replace changed ones, and add words.

        Returns whether the words of all are known: another process may have removed some that were
        here a moment ago.
        """
        run = self._connection
        with self._lock, self._writing():
            self._updates += 1
            workspace = self._enter()
            sweep(run)
            run.executemany(
                "DELETE FROM files WHERE workspace = ? AND path = "
                "(SELECT id FROM paths WHERE path = ?)",
                [(workspace, _stored(path)) for path in gone],
            )
            for part in words:
                if part.keys and self._add(part):
                    self._merge(is_text=part.is_text)
            rows = [
                (_stored(path), size, ctime, ctime - mtime, inode, int(racy), note, content)
                for (path, size, mtime, ctime, inode, _), racy, note, content in changed
            ]
            run.executemany(
                "INSERT OR IGNORE INTO paths VALUES (NULL, ?)", [row[:1] for row in rows]
            )
            run.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, (SELECT id FROM paths WHERE path = ?), "
                "?, ?, ?, ?, ?, ?, (SELECT id FROM contents WHERE key = ?), ?)",
                [(workspace, *row, _sum_of(*row)) for row in rows],
            )
            lost = run.execute(
                f"DELETE FROM files WHERE content IS NULL AND workspace = ? AND note IN {_READ}",
                (workspace,),
            )
            return not lost.rowcount

    def _enter(self) -> int:
        """The number of this workspace, which has one from now on."""
        run = self._connection.execute
        run(
            "INSERT INTO workspaces VALUES (NULL, ?, ?, x'') "
            "ON CONFLICT (root) DO UPDATE SET used = excluded.used",
            (self._root, today()),
        )
        return int(run("SELECT id FROM workspaces WHERE root = ?", (self._root,)).fetchone()[0])

    def _add(self, part: Part, artefact: int | None = None) -> int:
        """Add the words of contents that aren't known; returns how many."""
        run, day = self._connection, today()
        number = self._write(part.words, is_text=part.is_text)
        before = run.total_changes
        run.executemany(
            "INSERT OR IGNORE INTO contents VALUES (NULL, ?, ?, ?, ?, ?, ?)",
            [
                (key, number, slot, day, artefact, _sum_of(key, number, slot))
                for slot, key in enumerate(part.keys)
            ],
        )
        added = run.total_changes - before
        if added == len(part.keys):
            return added
        # Another process added some a moment ago, and their words would be here twice.
        rows = run.execute("SELECT slot FROM contents WHERE segment = ? ORDER BY slot", (number,))
        part = part.of([slot for (slot,) in rows])
        run.execute("DELETE FROM contents WHERE segment = ?", (number,))
        run.execute("DELETE FROM segments WHERE id = ?", (number,))
        return self._add(part, artefact) if part.keys else 0

    def _write(self, words: Segment, *, is_text: bool) -> int:
        (number,) = self._connection.execute(
            "INSERT INTO segments VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (is_text, *words, _sum_of(int(is_text), *words)),
        ).fetchone()
        return int(number)

    def _merge(self, *, is_text: bool) -> None:
        """Write small segments as one, without what is outdated."""
        run = self._connection
        small = run.execute(
            "SELECT segments.id FROM segments LEFT JOIN contents ON segment = segments.id "
            "WHERE is_text = ? GROUP BY segments.id HAVING count(segment) < ?",
            (is_text, _SMALL),
        ).fetchall()
        if len(small) <= _MOST_SMALL:
            return
        building, places = Building(), []
        for (segment,) in small:
            rows = run.execute(
                "SELECT slot, id, key FROM contents WHERE segment = ? ORDER BY slot", (segment,)
            ).fetchall()
            first = building.merge(self._segment(segment), [slot for slot, *_ in rows])
            places += [(slot, key, content) for slot, (_, content, key) in enumerate(rows, first)]
        number = self._write(building.segment(), is_text=is_text)
        moved = [(slot, _sum_of(key, number, slot), content) for slot, key, content in places]
        for table in ("segments WHERE id", "terms WHERE segment"):
            run.executemany(f"DELETE FROM {table} = ?", small)
        run.executemany(
            f"UPDATE contents SET segment = {number}, slot = ?, sums = ? WHERE id = ?", moved
        )

    def own_contents(self) -> Iterator[Part]:
        """The words of all that this workspace has."""
        with self._reading():
            rows = self._connection.execute(
                f"SELECT DISTINCT segment, slot, key {_OWN} ORDER BY segment, slot", (self._own,)
            ).fetchall()
            kinds = dict(self._own_segments)
            segments = {number: self._segment(number) for number in kinds}
        for is_text in (False, True):
            building, keys = Building(), []
            for number, rows_of_number in groupby(rows, key=itemgetter(0)):
                if kinds[number] != is_text:
                    continue
                group = [*rows_of_number]
                building.merge(segments[number], [slot for _, slot, _ in group])
                keys += [key for _, _, key in group]
                if len(keys) >= _PART_CONTENTS:
                    yield Part(is_text, keys, building.segment())
                    building, keys = Building(), []
            if keys:
                yield Part(is_text, keys, building.segment())

    def take(self, part: Part, artefact: int) -> int:
        """Add what isn't known of a part of an artefact; returns how many contents that was."""
        # Cut before others wait for the file.
        with self._reading():
            slots = [slot for slot, key in enumerate(part.keys) if not self.has(key)]
        if len(slots) < len(part.keys):
            part = part.of(slots)
        return self.change(lambda _: self._add(part, artefact)) if slots else 0

    def change(self, work: Callable[[sqlite3.Connection], _Found]) -> _Found:
        """Run `work`, which may change the tables, in one transaction."""
        with self._lock, self._writing():
            self._updates += 1
            return work(self._connection)

    def look(self, work: Callable[[sqlite3.Connection], _Found]) -> _Found:
        """Run `work`, which reads the tables as of one moment."""
        with self._reading():
            return work(self._connection)

    def vacuum(self) -> None:
        """Give the room of what was forgotten back to the disk."""
        with self._lock:
            # No other process reads meanwhile, and memory would hold all of it.
            for statement in ("PRAGMA cache_spill = ON", "VACUUM", "PRAGMA cache_spill = OFF"):
                self._connection.execute(statement)

    def outline(self, key: bytes) -> str | None:
        """The outline that was kept under the key of its content."""
        with self._lock, self._spoiled():
            if key in self._outlines:
                return self._outlines[key]
            row = self._connection.execute(
                "SELECT outline FROM outlines WHERE key = ?", (key,)
            ).fetchone()
            return None if row is None else zlib.decompress(row[0]).decode("utf-8", "surrogatepass")

    def keep_outline(self, key: bytes, outline: str) -> None:
        """Keep an outline; the oldest ones make room.

        Other processes see it a few later: a transaction for each would keep them waiting.
        """
        with self._lock:
            self._outlines[key] = outline
            if len(self._outlines) >= _OUTLINES_AT_ONCE:
                self._write_outlines()

    def _write_outlines(self) -> None:
        if not self._outlines:
            return
        # Even if it fails: outlines that weren't written are made again.
        outlines, self._outlines = self._outlines, {}
        with self._writing():
            self._connection.executemany(
                "INSERT OR REPLACE INTO outlines VALUES (?, ?)",
                [
                    (key, zlib.compress(outline.encode("utf-8", "surrogatepass"), 1))
                    for key, outline in outlines.items()
                ],
            )
            last = self._number("SELECT max(rowid) FROM outlines")
            self._connection.execute(
                "DELETE FROM outlines WHERE rowid <= ?", (last - _MOST_OUTLINES,)
            )

    def _is_current(self) -> bool:
        version = self._number("PRAGMA user_version")
        application = self._number("PRAGMA application_id")
        tables = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid"
        schema = [sql for (sql,) in self._connection.execute(tables)]
        return (application, version, schema) == (_APPLICATION_ID, SCHEMA_VERSION, _STATEMENTS)

    @contextmanager
    def _spoiled(self) -> Iterator[None]:
        """Raise `sqlite3.DatabaseError` for what only a spoiled file leads to."""
        try:
            yield
        except _SPOILED as error:
            raise sqlite3.DatabaseError(f"its rows can't be right: {error!r}") from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; until its end other processes read what was there before."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            with self._spoiled():
                yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _number(self, query: str) -> int:
        value = self._connection.execute(query).fetchone()[0]
        return int(value or 0)


def _stored(path: str) -> str | bytes:
    """The path as SQLite can hold it: text is UTF-8 there, and a name of a file may be other."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
    return path


def _loaded(path: str | bytes) -> str:
    """The path that `_stored` made this of."""
    return path if isinstance(path, str) else path.decode("utf-8", "surrogatepass")


def _array(data: bytes) -> array[int]:
    numbers = array("I")
    numbers.frombytes(data)
    return numbers


def _sum_of(*row: Any) -> int:
    """A checksum of a row."""
    checksum = 0
    for part in row:
        is_data = isinstance(part, bytes | array)
        checksum = crc32(part if is_data else repr(part).encode("utf-8", "surrogatepass"), checksum)
    return checksum
