"""The postings of terms, in segments that are written once and merged when they get many.

A file that changes gets a document in a new segment; what older segments say of it is skipped, and
left out when they are merged. So one file costs its own terms, and a question reads one row of each
segment for each of its terms.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from foldline.backends.index.words import Document

SCHEMA = """
CREATE TABLE segments (id INTEGER PRIMARY KEY, terms TEXT NOT NULL);
CREATE TABLE documents (
    file INTEGER PRIMARY KEY, segment INTEGER NOT NULL, slot INTEGER NOT NULL,
    length INTEGER NOT NULL, defined INTEGER NOT NULL
);
CREATE TABLE postings (
    term TEXT NOT NULL, segment INTEGER NOT NULL, places BLOB NOT NULL,
    PRIMARY KEY (term, segment)
) WITHOUT ROWID;
"""
# Before a name that a file defines, as it is written: no term has it.
EXACT = "="
# More segments with fewer files are merged: a slot has two bytes.
_MOST_SMALL = 8
_SMALL = 400
_MOST_COUNT = 255
_AT_ONCE = 500


class DocumentRow(NamedTuple):
    """A file's document: its place in the postings, its length in terms, and that of its names."""

    path: str | bytes
    segment: int
    slot: int
    length: int
    defined: int


class Postings(NamedTuple):
    """A segment's documents with a term: ascending slots, and how often they have and define it."""

    segment: int
    slots: Sequence[int]
    counts: bytes
    defined: bytes


class _Building(NamedTuple):
    """The postings of one term of a segment while it is written."""

    slots: array[int]
    counts: list[int]
    defined: list[int]

    def encoded(self) -> bytes:
        return b"".join((self.slots.tobytes(), _as_bytes(self.counts), _as_bytes(self.defined)))


def _as_bytes(counts: Iterable[int]) -> bytes:
    return bytes([count if count < _MOST_COUNT else _MOST_COUNT for count in counts])


def write_documents(
    connection: sqlite3.Connection, documents: Sequence[tuple[int, Document]]
) -> None:
    """Write a segment with the documents of these files, which replace older ones."""
    if documents:
        rows = [(file, slot, *lengths(document)) for slot, (file, document) in enumerate(documents)]
        _write(connection, _collected(document for _, document in documents), rows)
        _merge(connection)


def postings_of(documents: Iterable[Document], segment: int) -> dict[str, list[Postings]]:
    """The postings of documents that aren't kept; their slots are their places in the order."""
    return {
        term: [Postings(segment, found.slots, _as_bytes(found.counts), _as_bytes(found.defined))]
        for term, found in _collected(documents).items()
    }


def lengths(document: Document) -> tuple[int, int]:
    """The length of a document in terms, and that of the names that it defines."""
    return sum(document.body.values()), sum(document.defined.values())


def _collected(documents: Iterable[Document]) -> dict[str, _Building]:
    terms: dict[str, _Building] = {}
    for slot, (body, defined, names) in enumerate(documents):
        for term, count in body.items():
            _add(terms, term, slot, count, defined.get(term, 0))
        for term in defined.keys() - body.keys():
            _add(terms, term, slot, 0, defined[term])
        for name in names:
            _add(terms, EXACT + name, slot, 0, 1)
    return terms


def _add(terms: dict[str, _Building], term: str, slot: int, count: int, defined: int) -> None:
    found = terms.get(term)
    if found is None:
        terms[term] = _Building(array("H", (slot,)), [count], [defined])
    else:
        slots, counts, names = found
        slots.append(slot)
        counts.append(count)
        names.append(defined)


def _write(
    connection: sqlite3.Connection,
    terms: Mapping[str, _Building],
    rows: Sequence[tuple[int, int, int, int]],
) -> None:
    names = sorted(terms)
    (segment,) = connection.execute(
        "INSERT INTO segments VALUES (NULL, ?) RETURNING id", ("\n".join(names),)
    ).fetchone()
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?)",
        ((term, segment, terms[term].encoded()) for term in names),
    )
    connection.executemany(
        f"INSERT OR REPLACE INTO documents VALUES (?, {int(segment)}, ?, ?, ?)", rows
    )


def remove_documents(connection: sqlite3.Connection, files: Iterable[tuple[str | bytes]]) -> None:
    """Remove the documents of deleted files, given by their paths."""
    connection.executemany(
        "DELETE FROM documents WHERE file = (SELECT id FROM files WHERE path = ?)", files
    )


def _merge(connection: sqlite3.Connection) -> None:
    """Write small segments as one, without what is outdated."""
    small = connection.execute(
        "SELECT id, terms FROM segments LEFT JOIN documents ON segment = id "
        "GROUP BY id HAVING count(segment) < ?",
        (_SMALL,),
    ).fetchall()
    if len(small) <= _MOST_SMALL:
        return
    rows: list[tuple[int, int, int, int]] = []
    slots: dict[int, dict[int, int]] = {}
    for segment, _ in small:
        known = slots[segment] = {}
        for file, slot, length, defined in connection.execute(
            "SELECT file, slot, length, defined FROM documents WHERE segment = ? ORDER BY slot",
            (segment,),
        ):
            known[slot] = len(rows)
            rows.append((file, len(rows), length, defined))
    terms: dict[str, _Building] = {}
    for segment, names in small:
        known = slots[segment]
        # Empty files have no term.
        own = [(name, segment) for name in names.split("\n") if name]
        for name, _ in own:
            row = connection.execute(
                "SELECT places FROM postings WHERE term = ? AND segment = ?", (name, segment)
            ).fetchone()
            for slot, count, defined in zip(*_decoded(segment, row[0])[1:], strict=True):
                if slot in known:
                    _add(terms, name, known[slot], count, defined)
        connection.executemany("DELETE FROM postings WHERE term = ? AND segment = ?", own)
        connection.execute("DELETE FROM segments WHERE id = ?", (segment,))
    if rows:
        _write(connection, terms, rows)


def document_rows(connection: sqlite3.Connection) -> list[DocumentRow]:
    """The documents of all files."""
    rows = connection.execute(
        "SELECT path, segment, slot, length, defined FROM documents JOIN files ON id = file"
    )
    return [DocumentRow(*row) for row in rows]


def read_postings(
    connection: sqlite3.Connection, terms: Collection[str]
) -> dict[str, list[Postings]]:
    """The postings of each of the terms that some document has."""
    found: dict[str, list[Postings]] = {}
    wanted = list(terms)
    for first in range(0, len(wanted), _AT_ONCE):
        some = wanted[first : first + _AT_ONCE]
        marks = ",".join("?" * len(some))
        rows = connection.execute(
            f"SELECT term, segment, places FROM postings WHERE term IN ({marks})", some
        )
        for term, segment, places in rows:
            found.setdefault(term, []).append(_decoded(segment, places))
    return found


def read_vocabulary(connection: sqlite3.Connection) -> list[str]:
    """The terms of each segment, a line each."""
    return [terms for (terms,) in connection.execute("SELECT terms FROM segments")]


def _decoded(segment: int, places: bytes) -> Postings:
    count = len(places) // 4
    slots = array("H")
    slots.frombytes(places[: 2 * count])
    return Postings(segment, slots, places[2 * count : 3 * count], places[3 * count :])
