"""An index file in which anything was changed is made anew: answers are those of a fresh index."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from foldline.backends import SmartFileAccess
from foldline.backends.index.family import index_location

from ..rows import slow

FILES = {
    f"pkg/m{number}.py": f"class Thing{number}:\n    def pay(self):\n        return {number}\n"
    for number in range(12)
} | {"main.py": "from pkg.m1 import Thing1\n\nThing1().pay()\n", "notes.txt": "pay the bill\n"}
TABLES = ("about", "workspaces", "paths", "files", "contents", "segments", "terms", "outlines")
ENDLESS = """
ALTER TABLE paths RENAME TO other;
CREATE VIEW paths AS WITH RECURSIVE n(id, path) AS
    (SELECT 1, 'a.py' UNION ALL SELECT id + 1, 'a.py' FROM n) SELECT id, path FROM n;
"""
TRIGGER = "CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM contents; END;"
STRANGE = (None, 0, -1, 1, 2**62, 1.5, "", "x", "\0", b"", b"\0", b"\xff" * 9, "pkg/m1.py")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def answers(root: Path) -> list[str]:
    """What depends on the index, as a process that starts now has it."""
    with closing(SmartFileAccess.for_workspace(root, patience=None)) as access:
        assert access.index is not None
        access.index.refresh()
        return [
            repr(access.find_references("pay", seconds=0)),
            repr(access.search_files("Thing3 pays a bill", budget=2_000)),
            repr(access.get_outline("pkg/m3.py")),
            repr(sorted(access.index.last_defined())),
        ]


def change_rows(file: Path, chance: random.Random) -> None:
    """Change some values of a table, whatever its rules say."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        table = chance.choice(TABLES)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column, value = chance.choice(columns), chance.choice(STRANGE)
        where = chance.choice(("", "WHERE rowid % 2 = 0" if table != "files" else "WHERE path % 2"))
        new = chance.choice(("?1", f"{column} + 1", f"substr({column}, 2) || ?1"))
        with suppress(sqlite3.Error), connection:
            given = (value,) if "?1" in new else ()
            connection.execute(f"UPDATE {table} SET {column} = {new} {where}", given)


def change_bytes(file: Path, chance: random.Random) -> None:
    """Change some bytes."""
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 3, 40))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    file.write_bytes(data)


@pytest.mark.parametrize("seed", [*range(6), *slow(*range(6, 50))])
@pytest.mark.parametrize("change", [change_rows, change_bytes])
def test_answers_of_a_changed_index_are_those_of_a_fresh_one(
    root: Path, change: Callable[[Path, random.Random], None], seed: int
) -> None:
    expected = answers(root)
    file = index_location(root)
    assert file.exists()
    change(file, random.Random(seed))
    assert answers(root) == expected
    assert answers(root) == expected


@pytest.mark.parametrize("script", [ENDLESS, TRIGGER])
def test_what_is_no_table_of_ours_is_not_executed(root: Path, script: str) -> None:
    expected = answers(root)
    file = index_location(root)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
    (root / "new.py").write_text("")
    answers(root)
    (root / "new.py").unlink()
    assert answers(root) == expected
    with closing(sqlite3.connect(file)) as connection:
        kinds = dict(connection.execute("SELECT name, type FROM sqlite_master"))
    assert kinds["paths"] == "table"
    assert "trigger" not in kinds.values()
