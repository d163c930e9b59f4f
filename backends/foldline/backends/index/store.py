"""The index as an SQLite file: the words of each content, who has it since when, and outlines.

All worktrees and clones of a repository share a file. A row of `files` is a file of one workspace
and points to its content; a row of `contents` has the hash of that, and the segment and the slot of
its words. So a content that one worktree has read isn't read by the others. A question looks into
the segments that have something of its own workspace.

A word is looked for in the words of each segment, by its bytes: some milliseconds for thousands of
files. In return a file that changes costs one row, and an index half built already answers.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, TypeVar

from foldline.backends.base.languages import language_of
from foldline.backends.files.listing import FileStamp, Listing, decode_listing, encode_listing
from foldline.backends.index.database import (
    Database,
    checksum,
    loaded_path,
    stored_path,
    sweep,
    today,
)
from foldline.backends.index.segments import (
    EXACT,
    FEW_TERMS,
    Building,
    DocumentRow,
    Part,
    Postings,
    Segment,
    postings,
)
from foldline.backends.index.stored_segments import StoredSegments
from foldline.backends.index.words import BY_WORDS

TEXT_NOTE = "text "
"""The beginning of the notes of files that aren't code."""
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
# More segments with fewer files are merged.
_MOST_SMALL = 8
_SMALL = 400
# The contents of a part of an artefact, about.
_PART_CONTENTS = 4_000
_MOST_OUTLINES = 20_000
_OUTLINES_AT_ONCE = 64
_Result = TypeVar("_Result")


class KnownFile(NamedTuple):
    """A file as it was read; `note` says why its words are not known, if so.

    A `racy` one was read so soon after it changed that its times may not show a further change.
    """

    stamp: FileStamp
    racy: bool
    note: str
    content: bytes | None = None


class Store:
    """The index of a workspace; its methods may raise what those of `Database` do.

    A path that isn't UTF-8 is kept as bytes, every other as text.
    """

    def __init__(self, location: Path | None, root: Path | str = "") -> None:
        self._database = Database(location)
        self._connection = self._database.connection
        self._segments = StoredSegments(self._database)
        self.outlines = _Outlines(self._database)
        self._root = stored_path(str(root))
        self._updates = 0
        # Answers as of one moment.
        self._noted: dict[str, list[str]] = {}
        # This workspace as of `_moment`, and its copies as of `_copied_at`: `_reading` and
        # `postings` renew them, under the database's lock.
        self._moment: object = None
        self._workspace = 0
        self._own_segments: Sequence[tuple[int, bool]] = ()
        self._is_checked = False
        self._copied_at: object = None
        self._copies: dict[int, dict[int, list[int]]] = {}

    def close(self) -> None:
        """Write what is pending, and close the connection."""
        with self._database.lock:
            with suppress(sqlite3.Error):
                self.outlines.write()
            self._connection.close()

    def version(self) -> int:
        """A number that changes when another process has written."""
        with self._database.lock:
            return self._database.number("PRAGMA data_version")

    def files(self, kind: int | None = None) -> dict[str, tuple[int, int, int, int, int]]:
        """The files that the index knows, or code or texts alone: size, times, inode, `racy`."""
        with self._reading():
            rows = self._connection.execute(
                "SELECT paths.path, size, ctime_ns - since, ctime_ns, inode, racy FROM files "
                "JOIN paths ON paths.id = files.path "
                f"WHERE workspace = ? AND coalesce((note LIKE '{TEXT_NOTE}%') = ?, 1)",
                (self._workspace, kind),
            ).fetchall()
        return {loaded_path(row[0]): row[1:] for row in rows}

    def has(self, content: bytes) -> bool:
        """Return whether the words of the content with this key are known."""
        with self._database.lock:
            rows = self._connection.execute("SELECT 1 FROM contents WHERE key = ?", (content,))
            return rows.fetchone() is not None

    def contents(self) -> set[bytes]:
        """The keys of all contents whose words are known."""
        with self._database.lock:
            rows = self._connection.execute("SELECT key FROM contents")
            return {key for (key,) in rows}

    def listing(self) -> tuple[Listing, int] | None:
        """The list of files that was kept, and when it was made."""
        with self._reading():
            row = self._connection.execute(
                "SELECT listing FROM workspaces WHERE id = ?", (self._workspace,)
            ).fetchone()
            if not (row and row[0]):
                return None
            looked_at, _, text = zlib.decompress(row[0]).decode().partition("\n")
        listing = decode_listing(text)
        return None if listing is None else (listing, int(looked_at))

    def keep_listing(self, listing: Listing, looked_at: int) -> None:
        """Keep a list of files, from which the next process begins."""
        text = zlib.compress(f"{looked_at}\n{encode_listing(listing)}".encode(), 1)
        with self._database.writing():
            self._updates += 1
            self._connection.execute(
                "UPDATE workspaces SET listing = ? WHERE id = ?", (text, self._enter())
            )

    def noted(self, note: str) -> list[str]:
        """The paths of the files with this note."""
        with self._reading():
            if note not in self._noted:
                rows = self._connection.execute(
                    "SELECT paths.path FROM files JOIN paths ON paths.id = files.path "
                    "WHERE workspace = ? AND note = ?",
                    (self._workspace, note),
                )
                self._noted[note] = sorted(loaded_path(path) for (path,) in rows)
            return self._noted[note]

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
            # CROSS JOIN keeps SQLite from changing the order.
            rows = self._connection.execute(
                "SELECT paths.path FROM json_each(?) AS wanted CROSS JOIN contents "
                "CROSS JOIN files CROSS JOIN paths WHERE segment = ? AND slot = wanted.value "
                "AND content = contents.id AND workspace = ? AND paths.id = files.path",
                (json.dumps([*self._segments.slots_with(number, part)]), number, self._workspace),
            )
            paths.update(loaded_path(path) for (path,) in rows)
        return paths

    def defined_names(self) -> set[bytes]:
        """The names that files seem to define, as UTF-8."""
        with self._reading():
            slots = self._slots()
            get = self._segments.get
            return {name for number in slots for name in get(number).names(slots[number])}

    def _slots(self) -> dict[int, set[int]]:
        """The slots of this workspace's files, by segment."""
        slots: dict[int, set[int]] = {}
        for number, slot in self._connection.execute(
            f"SELECT segment, slot {_OWN}", (self._workspace,)
        ):
            slots.setdefault(number, set()).add(slot)
        return slots

    def files_without(self, parts: Iterable[str]) -> set[str]:
        """The paths of the files with words of which none has one of the parts in it."""
        with self._reading():
            rows = self._connection.execute(
                f"SELECT paths.path {_OWN} AND note = ''", (self._workspace,)
            ).fetchall()
            every = {loaded_path(path) for (path,) in rows}
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
            is_few = len(terms) <= FEW_TERMS
            terms_of = self._segments.spelling if is_few else self._segments.terms
            for number in self._numbers(are_texts=False):
                segment = self._segments.get(number)
                known_terms = terms_of(number)
                copies = self._copies.get(number, {})
                for term in terms:
                    places = postings(number, segment, known_terms, term, copies)
                    if places is not None:
                        by_term.setdefault(term, []).append(places)
        self._segments.write_terms()
        return version, rows, by_term

    def _documents(self) -> list[DocumentRow]:
        """The documents of this workspace, a number in a segment for each file.

        The number is the slot; of several files with one content all but the first, its copies, get
        numbers behind the last slot.
        """
        rows: list[DocumentRow] = []
        places: dict[int, tuple[bytearray, dict[int, list[int]], Segment]] = {}
        for number in self._numbers(are_texts=False):
            segment = self._segments.get(number)
            places[number] = bytearray(len(segment.lengths)), {}, segment
        for path, number, slot in self._connection.execute(
            f"SELECT paths.path, segment, slot {_OWN}", (self._workspace,)
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
                (loaded_path(path), number, document, segment.lengths[slot], segment.defined[slot])
            )
        self._copies = {number: copies for number, (_, copies, _) in places.items() if copies}
        return rows

    def vocabulary(self, parts: Collection[str]) -> list[str]:
        """The terms that hold one of the parts, a line each."""
        with self._reading():
            segments, slots = self._segments, self._slots()
            return [
                "\n".join(
                    segments.terms(number).like([*parts], segments.get(number), slots[number])
                )
                for number in self._numbers(are_texts=False)
            ]

    @contextmanager
    def _reading(self) -> Iterator[object]:
        """Everything is read as of one moment, whose version is returned."""
        with self._database.reading():
            version = self._database.number("PRAGMA data_version"), self._updates
            if version != self._moment:
                self._renew()
                self._moment = version
            yield version

    def _renew(self) -> None:
        """Find the number of this workspace, and its segments."""
        run = self._connection.execute
        self._noted.clear()
        row = run("SELECT id FROM workspaces WHERE root = ?", (self._root,)).fetchone()
        self._workspace = row[0] if row else 0
        # Once a process: a row that was changed behind our back would make answers wrong.
        if not self._is_checked:
            for sums, content_sums, *row in run(_ROWS, (self._workspace,)):
                *file, segment, slot = row
                held = file[-1] is None or content_sums == checksum(file[-1], segment, slot)
                if sums != checksum(*file) or not held:
                    raise sqlite3.DatabaseError("a row is malformed")
            self._is_checked = True
        numbers = {
            number for (number,) in run(f"SELECT DISTINCT segment {_OWN}", (self._workspace,))
        }
        rows = run("SELECT id, is_text FROM segments").fetchall()
        self._segments.keep({number for number, _ in rows})
        self._own_segments = [
            (number, bool(is_text)) for number, is_text in rows if number in numbers
        ]

    def _numbers(self, *, are_texts: bool = True) -> list[int]:
        """The numbers of the segments that have something of this workspace."""
        return [number for number, is_text in self._own_segments if are_texts or not is_text]

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
        with self._database.writing():
            self._updates += 1
            workspace = self._enter()
            sweep(run)
            run.executemany(
                "DELETE FROM files WHERE workspace = ? AND path = "
                "(SELECT id FROM paths WHERE path = ?)",
                [(workspace, stored_path(path)) for path in gone],
            )
            for part in words:
                if part.keys and self._add(part):
                    self._merge(is_text=part.is_text)
            rows = [
                (stored_path(path), size, ctime, ctime - mtime, inode, int(racy), note, content)
                for (path, size, mtime, ctime, inode, _), racy, note, content in changed
            ]
            run.executemany(
                "INSERT OR IGNORE INTO paths VALUES (NULL, ?)", [row[:1] for row in rows]
            )
            run.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, (SELECT id FROM paths WHERE path = ?), "
                "?, ?, ?, ?, ?, ?, (SELECT id FROM contents WHERE key = ?), ?)",
                [(workspace, *row, checksum(*row)) for row in rows],
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
        number = self._segments.write_segment(part.words, is_text=part.is_text)
        before = run.total_changes
        run.executemany(
            "INSERT OR IGNORE INTO contents VALUES (NULL, ?, ?, ?, ?, ?, ?)",
            [
                (key, number, slot, day, artefact, checksum(key, number, slot))
                for slot, key in enumerate(part.keys)
            ],
        )
        added = run.total_changes - before
        if added == len(part.keys):
            return added
        # Another process added some a moment ago, and their words would be here twice.
        rows = run.execute("SELECT slot FROM contents WHERE segment = ? ORDER BY slot", (number,))
        part = part.subset([slot for (slot,) in rows])
        run.execute("DELETE FROM contents WHERE segment = ?", (number,))
        run.execute("DELETE FROM segments WHERE id = ?", (number,))
        return self._add(part, artefact) if part.keys else 0

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
            first = building.merge(self._segments.get(segment), [slot for slot, *_ in rows])
            places += [(slot, key, content) for slot, (_, content, key) in enumerate(rows, first)]
        number = self._segments.write_segment(building.segment(), is_text=is_text)
        moved = [(slot, checksum(key, number, slot), content) for slot, key, content in places]
        for table in ("segments WHERE id", "terms WHERE segment"):
            run.executemany(f"DELETE FROM {table} = ?", small)
        run.executemany(
            f"UPDATE contents SET segment = {number}, slot = ?, sums = ? WHERE id = ?", moved
        )

    def own_contents(self) -> Iterator[Part]:
        """The words of all that this workspace has."""
        with self._reading():
            rows = self._connection.execute(
                f"SELECT DISTINCT segment, slot, key {_OWN} ORDER BY segment, slot",
                (self._workspace,),
            ).fetchall()
            kinds = dict(self._own_segments)
            segments = {number: self._segments.get(number) for number in kinds}
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
            part = part.subset(slots)
        return self.change(lambda _: self._add(part, artefact)) if slots else 0

    def change(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Run `work`, which may change the tables, in one transaction."""
        with self._database.writing():
            self._updates += 1
            return work(self._connection)

    def look(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Run `work`, which reads the tables as of one moment."""
        with self._reading():
            return work(self._connection)

    def vacuum(self) -> None:
        """Give the room of what was forgotten back to the disk."""
        with self._database.lock:
            # No other process reads meanwhile, and memory would hold all of it.
            for statement in ("PRAGMA cache_spill = ON", "VACUUM", "PRAGMA cache_spill = OFF"):
                self._connection.execute(statement)


class _Outlines:
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
