"""Moves an index between machines, and says what is in it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from foldline.backends.errors import ArtefactError
from foldline.backends.files.reader import read_chunks
from foldline.backends.index.artefact import (
    MOST_BYTES,
    SUFFIX,
    Contents,
    check_artefact,
    read_artefact,
    write_artefact,
)
from foldline.backends.index.database import forget_imported, sweep
from foldline.backends.index.family import index_folder
from foldline.backends.index.store import Store
from foldline.backends.index.workspace import WorkspaceIndex
from foldline.links import resolved

_UNUSED_FILE_SECONDS = 60 * 86_400
_TABLES = ("workspaces", "contents", "segments", "outlines")


class Imported(NamedTuple):
    """The result of an import: `added` contents were new."""

    source: str
    artefact: Contents
    added: int


def export_index(index: WorkspaceIndex, file: Path) -> Contents:
    """Write the words of the workspace's files as an artefact, in place of one that is there.

    Raises:
        ArtefactError: It can't be written.
    """
    if file.exists() and not file.is_file():
        raise ArtefactError(f"{file}: can't be replaced: it isn't a regular file")
    index.refresh()
    try:
        descriptor, name = tempfile.mkstemp(dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb") as out:
                written = index.upkeep(lambda store: write_artefact(out, store.own_contents()))
            # It has nothing but words, for others to take.
            Path(name).chmod(0o644)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ArtefactError(f"{file}: can't be written: {error.strerror}") from error
    return written


def import_index(index: WorkspaceIndex, where: Path) -> Imported:
    """Add what an artefact has, a file or the newest in a folder, after all of it was checked.

    It's written part by part, so that no other process waits for long. What is there already is
    kept.

    Raises:
        ArtefactError: It's damaged, of another version or over a limit, or can't be written.
        PathError: The file can't be read.
    """
    path = _newest(where)
    source = str(resolved(path))
    # The folder is made with the index.
    folder = index.upkeep(lambda _: index.location.parent)
    # Copied to a file without a name, so that what is checked is what is imported.
    with tempfile.TemporaryFile(dir=folder) as file:
        _copy(source, file, str(where))
        file.seek(0)
        try:
            artefact = check_artefact(file)
        except ArtefactError as error:
            raise ArtefactError(f"{source}: {error}") from error
        file.seek(0)
        row = (artefact.digest, source, int(time.time()))
        insert = "INSERT INTO artefacts VALUES (NULL, ?, ?, ?)"

        def take(store: Store) -> int:
            number = store.change(lambda run: run.execute(insert, row).lastrowid) or 0
            return sum(store.take(part, number) for part in read_artefact(file))

        return Imported(source, artefact, index.upkeep(take))


def _newest(path: Path) -> Path:
    """The file, or the newest artefact in the folder."""
    if not path.is_dir():
        return path
    # One may vanish between being listed and being looked at.
    by_age: list[tuple[int, Path]] = []
    for file in path.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            by_age.append((file.stat().st_mtime_ns, file))
    if not by_age:
        raise ArtefactError(f"{path}: the folder has no *{SUFFIX} file")
    return max(by_age)[1]


def _copy(path: str, out: BinaryIO, name: str) -> None:
    size = 0
    for chunk in read_chunks(path, name=name):
        size += len(chunk)
        if size > MOST_BYTES:
            raise ArtefactError(f"{name}: it has more than {MOST_BYTES:,} bytes")
        out.write(chunk)


def prune_index(index: WorkspaceIndex, *, imported: bool) -> dict[str, int]:
    """Forget what no workspace has, or all that was imported; returns the bytes that are freed."""
    location = index.location
    before = location.stat().st_size if location.exists() else 0

    def prune(store: Store) -> int:
        forgotten = store.change(forget_imported) if imported else 0
        store.change(lambda run: sweep(run, at_once=True))
        store.vacuum()
        return forgotten

    forgotten = index.upkeep(prune)
    files, size = 0, max(before - location.stat().st_size, 0)
    now = time.time()
    for file in index_folder().glob("*.sqlite3"):
        with suppress(OSError):
            status = file.stat()
            if file != location and now - status.st_mtime > _UNUSED_FILE_SECONDS:
                file.unlink()
                files, size = files + 1, size + status.st_size
    return {"imported": forgotten, "files": files, "bytes": size}


def index_status(index: WorkspaceIndex) -> dict[str, object]:
    """The contents of the index file, and where they come from."""

    def counted(run: sqlite3.Connection) -> dict[str, object]:
        counts = {
            table: run.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in _TABLES
        }
        artefacts = run.execute(
            "SELECT digest, source, taken, "
            "(SELECT count(*) FROM contents WHERE artefact = artefacts.id) FROM artefacts"
        )
        names = ("digest", "source", "taken", "contents")
        return {**counts, "artefacts": [dict(zip(names, row, strict=True)) for row in artefacts]}

    status = index.upkeep(lambda store: {**store.look(counted), "files": len(store.files())})
    location = index.location
    return {"file": str(location), "bytes": location.stat().st_size, **status}
