"""The index: never stale, never the reason for a missing answer."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.repositories import git

from foldline.backends import LocalFileBackend, SmartFileAccess, WorkspaceIndex
from foldline.backends.base.languages import CODE
from foldline.backends.errors import (
    AmbiguousSymbolError,
    SymbolNotFoundError,
    UnreadablePathError,
)
from foldline.backends.files import local
from foldline.backends.files.listing import FileStamp
from foldline.backends.files.reader import read_resolved
from foldline.backends.formatting.visible import visible
from foldline.backends.index import builder, query, reading
from foldline.backends.index.builder import IndexBuilder, State
from foldline.backends.index.family import index_location
from foldline.backends.index.freshness import Freshness
from foldline.backends.index.postings import Corpus, LiveIndex
from foldline.backends.index.segments import Postings, Segment
from foldline.backends.index.store import KnownFile, Store
from foldline.backends.index.words import whole_word, words_of
from foldline.backends.models import COMPLETE
from foldline.backends.outlines.outline_cache import parser_files

from .building import half_indexed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("def first(): ...\n")
    (root / "src" / "b.py").write_text("first()\n")
    (root / "notes.txt").write_text("first\n")
    return root


def files_with(root: Path, word: str) -> tuple[str, ...]:
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    try:
        paths = index.files_with(word).paths
        assert not index.trouble
        return paths
    finally:
        index.close()


def test_words_are_found_in_code_only(root: Path) -> None:
    assert files_with(root, "first") == ("src/a.py", "src/b.py")
    assert files_with(root, "firs") == ()


@pytest.mark.parametrize("beside", ["_", "x", "é", "7"])
def test_a_word_is_found_where_it_stands_alone(beside: str) -> None:
    text = f"on{beside} {beside}on{beside} {beside}on onon on.on".encode()
    found = [place.start() for place in whole_word(b"on").finditer(text)]
    assert found == [len(text) - 5, len(text) - 2]


def test_unicode_words_are_whole() -> None:
    words = words_of("a.py", "größe = naïve_ß1 + x.y".encode())
    assert sorted(word.decode() for word in words.used) == ["größe", "naïve_ß1", "x", "y"]


# As Linux keeps them, and half a character as Windows may.
NOT_UTF8 = ("a\udcff.py", "\udcff/b.py")


@pytest.fixture
def odd(root: Path) -> Path:
    """Files whose names are no UTF-8, and ignore files in a folder of such a name."""
    try:
        (root / "\udcff").mkdir()
        (root / "\udcff" / ".gitignore").write_text("*.log\n")
        for name in NOT_UTF8:
            (root / name).write_text("def odd(): ...\n")
    except (OSError, UnicodeError):
        pytest.skip("This file system takes UTF-8 only")
    return root


def test_a_file_whose_name_is_not_utf8_is_indexed_like_others(odd: Path) -> None:
    assert files_with(odd, "odd") == NOT_UTF8
    assert files_with(odd, "first") == ("src/a.py", "src/b.py")
    (odd / NOT_UTF8[0]).unlink()
    assert files_with(odd, "odd") == NOT_UTF8[1:]
    (odd / NOT_UTF8[1]).write_text("odder")
    assert files_with(odd, "odd") == ()


def test_an_index_with_names_that_are_not_utf8_is_not_built_twice(
    odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.backends.files.listing._TICK_NS", -(10**12))
    assert len(files_with(odd, "odd")) == len(NOT_UTF8)

    def refuse(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(builder, "words_of", refuse)
    assert len(files_with(odd, "odd")) == len(NOT_UTF8)


def test_half_a_character_in_a_name_survives_the_index_file() -> None:
    stamp = FileStamp("\ud800\udfff.py", 1, 2)
    store = Store(None)
    store.update((), [KnownFile(stamp, False, "note")])
    assert store.noted("note") == [stamp.path]
    assert store.files() == {stamp.path: (*stamp[1:5], 0)}
    store.update([stamp.path])
    assert store.files() == {}
    store.close()


def test_every_question_answers_about_a_file_whose_name_is_not_utf8(odd: Path) -> None:
    access = SmartFileAccess.for_workspace(odd)
    try:
        name, shown = NOT_UTF8[0], visible(NOT_UTF8[0])
        assert name in {hit.path for hit in access.search_files("odd").hits}
        assert name in {entry.path for entry in access.get_tree().entries}
        assert name in {match.path for match in access.grep("odd").matches}
        assert name in {reference.path for reference in access.find_references("odd").references}
        assert access.search_files("odd").coverage == COMPLETE
        for path in (name, shown):
            assert [symbol.name for symbol in access.get_outline(path)] == ["odd"]
            assert access.read_symbol(path, "odd").body == "def odd(): ..."
            assert access.read_file(path) == "def odd(): ...\n"
    finally:
        access.close()


def test_a_new_process_finds_what_another_indexed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else what changed a moment ago is read again, for it may have changed since.
    monkeypatch.setattr("foldline.backends.files.listing._TICK_NS", -(10**12))
    assert files_with(root, "first") == ("src/a.py", "src/b.py")

    def refuse(*_: object) -> None:
        raise AssertionError("a file that did not change was read again")

    monkeypatch.setattr(builder, "words_of", refuse)
    assert files_with(root, "first") == ("src/a.py", "src/b.py")


@pytest.mark.parametrize("keep_times", [False, True])
def test_a_changed_file_is_seen_even_when_its_times_were_set_back(
    root: Path, keep_times: bool
) -> None:
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    target = root / "src" / "b.py"
    times = target.stat()
    target.write_text("third()\n")
    if keep_times:
        os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert index.files_with("first").paths == ("src/a.py",)
    assert index.files_with("third").paths == ("src/b.py",)
    index.close()


def test_a_file_that_was_refused_is_read_once_it_can_be(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its times tell nothing of a new group, or of a lock that another program held on Windows."""
    monkeypatch.setattr(builder, "is_racy", lambda *_: False)
    real, refused = read_resolved, [True]
    asked: list[str] = []

    def read(path: str, limit: int, *, name: str) -> bytes:
        asked.append(name)
        if refused and name == "src/b.py":
            raise UnreadablePathError(name, "cannot be read: Permission denied")
        return real(path, limit, name=name)

    monkeypatch.setattr(local, "read_resolved", read)
    files = LocalFileBackend(root)
    index = WorkspaceIndex(files, patience=None)
    assert index.texts_with("first").paths == ("notes.txt",)
    said = ("src/b.py is not readable and was not searched",)
    assert index.files_with("first")[::2] == (("src/a.py",), said)
    asked.clear()
    assert index.files_with("first")[::2] == (("src/a.py",), said)
    assert {*asked} == {"src/b.py"}
    refused.clear()
    assert index.files_with("first")[::2] == (("src/a.py", "src/b.py"), ())
    asked.clear()
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    assert asked == []

    # Named while it's there, and not searched.
    refused.append(True)
    (root / "src" / "b.py").write_text("first(0)\n")
    assert index.files_with("first")[::2] == (("src/a.py",), said)
    files.set_overlay("src/b.py", "first()")
    assert index.files_with("first")[::2] == (("src/a.py", "src/b.py"), ())
    files.remove_overlay("src/b.py")
    (root / ".gitignore").write_text("b.py\n")
    assert index.files_with("first")[::2] == (("src/a.py",), ())
    (root / ".gitignore").unlink()
    index.close()

    (root / "src" / "b.py").write_text("first(1)\n")
    assert files_with(root, "first") == ("src/a.py",)
    refused.clear()
    assert files_with(root, "first") == ("src/a.py", "src/b.py")


def test_deleted_renamed_and_new_files_are_seen(root: Path) -> None:
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    index.refresh()
    (root / "src" / "b.py").rename(root / "src" / "c.py")
    assert index.files_with("first").paths == ("src/a.py", "src/c.py")
    (root / "src" / "a.py").unlink()
    assert index.files_with("first").paths == ("src/c.py",)
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "d.py").write_text("first\n")
    assert index.files_with("first").paths == ("new/deep/d.py", "src/c.py")
    index.close()


def test_times_alone_tell_of_a_new_file(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    # Else a folder that changed a moment ago is always listed again.
    monkeypatch.setattr("foldline.backends.files.listing._TICK_NS", -(10**12))
    index.refresh()
    for file in (root / "src").iterdir():
        move_clock(tmp_path / "clock", file.stat().st_ctime_ns)
    (root / "src" / "c.py").write_text("first\n")
    assert index.files_with("first").paths == ("src/a.py", "src/b.py", "src/c.py")
    index.close()


def move_clock(scratch: Path, past: int) -> None:
    """Return when the file system gives times later than `past`."""
    scratch.touch()
    while scratch.stat().st_ctime_ns <= past:
        scratch.touch()


def test_an_ignore_file_counts_at_once(root: Path) -> None:
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    index.refresh()
    (root / "src" / ".gitignore").write_text("b.py\n")
    assert index.files_with("first").paths == ("src/a.py",)
    (root / "src" / ".gitignore").write_text("none\n")
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    index.close()


@pytest.mark.real
def test_a_git_checkout_is_never_answered_stale(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    git(root, "checkout", "-qb", "other")
    (root / "src" / "a.py").write_text("def second(): ...\n")
    (root / "src" / "b.py").unlink()
    git(root, "commit", "-qam", "two")
    access = SmartFileAccess.for_workspace(root)
    assert access.find_references("first").total == 0
    git(root, "checkout", "-q", "main")
    assert access.find_references("first").total == 2
    git(root, "checkout", "-q", "other")
    assert access.find_references("first").total == 0
    assert access.find_references("second").total == 1
    access.close()


def test_the_next_process_counts_what_an_earlier_one_indexed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "is_racy", lambda *_: False)
    with closing(WorkspaceIndex(LocalFileBackend(root))) as index:
        index.refresh()
    for name in ("c", "d"):
        (root / "src" / f"{name}.py").write_text("first()\n")
    for name in ("_DUE_SECONDS", "_LEAST_SECONDS", "_WORDS_SECONDS"):
        monkeypatch.setattr(reading, name, -1.0)
    with half_indexed(root) as access:
        assert access.find_references("first").coverage == "partial: indexing (3 of 4 files)"


def test_an_open_buffer_wins_over_what_is_indexed(root: Path) -> None:
    access = SmartFileAccess.for_workspace(root)
    access.file_backend.set_overlay("src/b.py", "second()\n")
    assert {reference.path for reference in access.find_references("first")} == {"src/a.py"}
    assert {reference.path for reference in access.find_references("second")} == {"src/b.py"}
    access.file_backend.remove_overlay("src/b.py")
    assert access.find_references("first").total == 2
    access.close()


def test_answers_during_the_build_read_what_is_missing_and_say_what_they_leave_out(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with half_indexed(root) as access:
        (root / "src" / "a.py").write_text("\ndef first(): ...\n")
        (root / "src" / "new.py").write_text("first()\n")
        for most, coverage in ((3, "complete"), (2, "partial: indexing (1 of 2 files)")):
            monkeypatch.setattr(reading, "_MOST_SCANNED", most)
            found = access.search_files("first")
            assert (found.coverage, found.total) == (coverage, most)
        uses = access.find_references("first")
        assert [(one.path, one.line) for one in uses] == [
            ("src/a.py", 2),
            ("src/b.py", 1),
            ("src/new.py", 1),
        ]
        assert uses.coverage == "complete"
        for name in ("_DUE_SECONDS", "_LEAST_SECONDS", "_WORDS_SECONDS"):
            monkeypatch.setattr(reading, name, -1.0)
        # No time is left to read.
        uses = access.find_references("first")
        assert (uses.coverage, uses.reason) == ("partial: indexing (1 of 2 files)", "")
    access = SmartFileAccess.for_workspace(root)
    assert access.find_references("first").total == 3
    access.close()


def test_what_is_indexed_while_a_question_reads_the_index_isnt_missed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    files_with = Store.files_with

    def progress(done: int, total: int) -> None:
        go_on.wait(30)

    def slow(store: Store, word: str, *, defined: bool = False) -> list[str]:
        found = files_with(store, word, defined=defined)
        go_on.set()
        index._builder.build.ends[CODE].result(30)
        return found

    monkeypatch.setattr(Store, "files_with", slow)
    index = WorkspaceIndex(LocalFileBackend(root), patience=0, progress=progress)
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    index.close()


def test_cancelling_keeps_what_was_read(root: Path) -> None:
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 1:
            index.cancel()

    index = WorkspaceIndex(LocalFileBackend(root), progress=progress)
    index.start()
    assert index.wait(30)
    assert len(index._freshness.opened().files()) == 1
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    index.close()
    # Whoever shows it sees the end of what was cancelled too.
    assert told[:2] == [(1, 2), (2, 2)]


def test_definitions_say_that_some_may_be_missing_while_the_index_is_built(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_DUE_SECONDS", "_LEAST_SECONDS", "_WORDS_SECONDS"):
        monkeypatch.setattr(reading, name, -1.0)
    (root / "src" / "b.py").write_text("class Second: ...\n")
    with half_indexed(root) as access:
        # No time is left to read, and nothing of what is read is written yet.
        with pytest.raises(
            SymbolNotFoundError, match="nothing read so far defines 'third'; indexing"
        ):
            access.definitions_of("third").one()
        said = access.definitions_of("Second.third").said
        assert "indexing (1 of 2 files): so far, nothing defines Second.third" in said
        # Files with the name are parsed where none is known to define it.
        access.file_backend.set_overlay("src/a.py", "def first(): ...\n")
        meant = access.definitions_of("first")
        assert meant.said == "indexing (1 of 2 files): other definitions may be missing"
        assert [one.path for one in meant.found] == ["src/a.py"]
        read = meant.shown(access.read_symbol("src/a.py", "first", seconds=0))
        assert (read.coverage, read.notes) == (f"partial: {meant.said}", ())
        access.file_backend.set_overlay("src/b.py", "def first(): ...\n")
        with pytest.raises(AmbiguousSymbolError, match=r"has 2 definitions so far \(indexing"):
            access.definitions_of("first").one()
    monkeypatch.undo()
    access = SmartFileAccess.for_workspace(root)
    assert access.definitions_of("first").said == ""
    with pytest.raises(SymbolNotFoundError, match="nothing here defines 'third'"):
        access.definitions_of("third").one()
    access.close()


def test_references_say_of_text_that_is_not_read_yet_that_it_is_missing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else what was written a moment ago is read again.
    monkeypatch.setattr(builder, "is_racy", lambda *_: False)
    access = SmartFileAccess.for_workspace(root)
    assert access.find_references("first").coverage == COMPLETE
    (root / "notes.txt").write_text("first, second\n")
    monkeypatch.setattr(query, "_WORDS_PATIENCE", -1.0)
    for name in ("_DUE_SECONDS", "_WORDS_SECONDS"):
        monkeypatch.setattr(reading, name, -1.0)
    read, real = threading.Event(), IndexBuilder._read

    def held(index: IndexBuilder, stamp: FileStamp) -> tuple[KnownFile, bytes]:
        if stamp.path == "notes.txt":
            read.wait()
        return real(index, stamp)

    monkeypatch.setattr(IndexBuilder, "_read", held)
    uses = access.find_references("first")
    read.set()
    assert (len(uses), uses.text) == (2, ())
    assert uses.coverage.startswith("partial: text: indexing")
    access.close()


def test_a_build_that_is_cancelled_before_it_knows_the_files_counts_none(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(*_: object) -> None:
        raise builder.CancelledError

    files = LocalFileBackend(root)
    monkeypatch.setattr(files, "list_all", cancelled)
    index = WorkspaceIndex(files, patience=None)
    assert index.files_with("first").coverage == "partial: indexing was cancelled"
    index.close()


def test_a_question_raises_what_made_its_build_fail_and_the_next_one_builds_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("no words")

    monkeypatch.setattr(builder, "words_of", failing)
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    with pytest.raises(RuntimeError, match="no words"):
        index.files_with("first")
    states = [index._builder.build.state]
    monkeypatch.undo()
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    assert index.wait(30)
    assert [*states, index._builder.build.state] == [State.FAILED, State.IDLE]
    index.close()


def test_what_a_file_had_that_was_given_up_counts_for_no_question_of_before(root: Path) -> None:
    since = time.monotonic()
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    index.refresh()
    store = index._freshness.opened()
    index._freshness.give_up(store, sqlite3.DatabaseError("malformed"))
    assert index.files_with("first", since=since).paths == ("src/a.py", "src/b.py")
    index.close()


def test_a_search_waits_for_an_index_that_is_likely_to_be_built_in_time(root: Path) -> None:
    index = WorkspaceIndex(LocalFileBackend(root), patience=10)
    index._builder.began = time.monotonic() - 1
    index._builder.progress = (100, 200)
    assert index._ends_in_time(time.monotonic() - 1)
    index._builder.progress = (100, 3_000)
    assert not index._ends_in_time(time.monotonic() - 1)
    index.close()


def test_a_search_waits_for_an_index_that_another_process_left_unfinished(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "_BATCH", 1)
    monkeypatch.setattr(reading, "_MOST_SCANNED", 0)
    monkeypatch.setattr(query, "_GLANCE_SECONDS", -1)
    monkeypatch.setattr(WorkspaceIndex, "_ends_in_time", lambda *_: False)

    def answer() -> str:
        index = WorkspaceIndex(LocalFileBackend(root), tmp_path / "index", patience=30)
        index.recall()
        coverage = index.look_up(["first"])[2]
        index.close()
        return coverage

    def cancel(done: int, total: int) -> None:
        index.cancel()

    assert answer().startswith("partial: indexing")
    (tmp_path / "index").unlink(missing_ok=True)
    index = WorkspaceIndex(LocalFileBackend(root), tmp_path / "index", progress=cancel)
    index.start()
    assert index.wait(30)
    index.close()
    assert answer() == COMPLETE


def test_references_that_are_not_read_yet_are_not_called_missing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_DUE_SECONDS", "_LEAST_SECONDS", "_WORDS_SECONDS"):
        monkeypatch.setattr(reading, name, -1.0)
    with half_indexed(root) as access:
        uses = access.find_references("first")
        assert (uses.total, uses.coverage) == (0, "partial: indexing (1 of 2 files)")
        assert "no code mentions" not in uses.reason
        assert access.index is not None
        # The list of files isn't there yet.
        access.index._builder.progress = (0, 0)
        assert access.find_references("first").coverage == "partial: indexing has just begun"
    monkeypatch.undo()
    access = SmartFileAccess.for_workspace(root)
    assert access.find_references("none").reason.startswith("no code mentions `none`")
    access.close()


def test_definitions_of_an_index_that_was_not_completed_are_known_in_order(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [f"src/d{number}.py" for number in range(10)]
    for path in paths:
        (root / path).write_text("def second(): ...\n")

    def progress(done: int, total: int) -> None:
        if done == len(paths):
            index.cancel()

    monkeypatch.setattr(builder, "_BATCH", 1)
    index = WorkspaceIndex(LocalFileBackend(root), progress=progress)
    index.start()
    assert index.wait(30)
    index.close()
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    known = {*index._freshness.opened().files()}
    assert index.last_defining("second") == [path for path in paths if path in known] != []
    index.close()


def corrupt(location: Path) -> None:
    location.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)


def truncate(location: Path) -> None:
    with location.open("r+b") as file:
        file.truncate(location.stat().st_size // 2)


def scramble(location: Path) -> None:
    size = location.stat().st_size
    with location.open("r+b") as file:
        file.seek(4096)  # The first page, which says what the file is, stays whole.
        file.write(b"\xff" * (size - 4096))


def other_version(location: Path) -> None:
    with sqlite3.connect(location) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()


def other_program(location: Path) -> None:
    location.unlink()
    with sqlite3.connect(location) as connection:
        connection.execute("CREATE TABLE files (other)")
    connection.close()


def empty(location: Path) -> None:
    location.write_bytes(b"")


@pytest.mark.parametrize(
    "damage", [corrupt, truncate, scramble, other_version, other_program, empty]
)
def test_a_damaged_or_foreign_index_is_made_anew(root: Path, damage: object) -> None:
    for n in range(40):
        (root / "src" / f"m{n}.py").write_text(
            "".join(f"word_{n}_{k} = first\n" for k in range(80))
        )
    before = files_with(root, "first")
    location = index_location(root)
    for suffix in ("-wal", "-shm"):
        location.with_name(location.name + suffix).unlink(missing_ok=True)
    assert callable(damage)
    damage(location)
    assert files_with(root, "first") == before
    assert files_with(root, "first") == before


def test_damage_while_the_index_is_open_is_no_wrong_answer(root: Path) -> None:
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    index.refresh()
    index._freshness.opened()._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    corrupt(index_location(root))
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    assert not index.trouble
    index.close()


@pytest.mark.parametrize("closings", [1, 2])
def test_a_question_is_answered_though_the_index_is_closed_meanwhile(
    root: Path, monkeypatch: pytest.MonkeyPatch, closings: int
) -> None:
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    index.refresh()
    files_with = Store.files_with
    left = iter(range(closings))

    def close_first(store: Store, word: str, *, defined: bool = False) -> list[str]:
        if next(left, None) is not None:
            closing = threading.Thread(target=index.close)
            closing.start()
            closing.join()
        return files_with(store, word, defined=defined)

    monkeypatch.setattr(Store, "files_with", close_first)
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    assert not index.trouble
    index.close()


LIVE = """
import sys
from pathlib import Path
from foldline.backends import LocalFileBackend, WorkspaceIndex
root = Path(sys.argv[1])
index = WorkspaceIndex(LocalFileBackend(root), patience=None)
for line in sys.stdin:
    (root / "src" / f"{line.strip()}.py").write_text("first()\\n")
    index.keep_outline(line.encode(), "an outline")
    print(*index.files_with("first").paths, flush=True)
index.close()
"""

LIVE_DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut to nothing": lambda path: os.truncate(path, 0),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "overwritten": lambda path: path.write_bytes(b"\xff" * path.stat().st_size),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"garbage" * 10_000),
    "removed": Path.unlink,
}


@pytest.mark.real
@pytest.mark.parametrize("damage", LIVE_DAMAGE)
def test_a_live_process_survives_whatever_happens_to_its_files(root: Path, damage: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LIVE, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        expected = ["src/a.py", "src/b.py"]
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(name: str) -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            expected.append(f"src/{name}.py")
            process.stdin.write(f"{name}\n")
            process.stdin.flush()
            assert process.stdout.readline().split() == sorted(expected)

        ask("c0")
        location = index_location(root)
        files = sorted(location.parent.glob(f"{location.name}*"))
        assert location in files
        for number, file in enumerate(files, 1):
            LIVE_DAMAGE[damage](file)
            ask(f"c{number}")
        ask("last")
        process.stdin.close()
        assert process.wait(60) == 0
    assert files_with(root, "first") == tuple(sorted(expected))


ENDING = """
import atexit, os, sys, threading
from pathlib import Path
from foldline.backends.index.store import Store
store = Store(Path(sys.argv[1]))
reads = threading.Event()
connection = store._connection
connection.create_function("reads", 1, lambda number: reads.set() or number)
numbers = "WITH RECURSIVE n(i) AS (SELECT reads(1) UNION ALL SELECT i + 1 FROM n)"
endless = f"{numbers} SELECT max(i) FROM n"
threading.Thread(target=connection.execute, args=[endless], daemon=True).start()
reads.wait()
atexit._run_exitfuncs()
os._exit(7)
"""


@pytest.mark.real
def test_a_process_ends_while_a_thread_reads_the_index(tmp_path: Path) -> None:
    """The connection isn't closed at exit, which waits for the statement or crashes."""
    command = [sys.executable, "-c", ENDING, str(tmp_path / "index")]
    assert subprocess.run(command, timeout=30, check=False).returncode == 7


def test_no_file_is_mapped_that_another_process_may_cut(root: Path) -> None:
    files_with(root, "first")
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    index.refresh()
    location = index_location(root)
    names = {path.name for path in location.parent.glob(f"{location.name}*")}
    assert names <= {location.name, f"{location.name}-journal"}
    maps = Path("/proc/self/maps")
    assert not maps.exists() or location.name not in maps.read_text()
    index.close()


def test_a_locked_index_is_answered_from_memory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files_with(root, "first")
    (root / "src" / "b.py").write_text("second()\n")
    monkeypatch.setattr("foldline.backends.index.database._BUSY_SECONDS", 0.05)
    blocker = sqlite3.connect(index_location(root), isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    assert index.files_with("second").paths == ("src/b.py",)
    assert "held in memory" in index.trouble
    index.close()
    blocker.close()


def test_a_folder_that_cannot_be_written_is_answered_from_memory(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    index = WorkspaceIndex(LocalFileBackend(root), tmp_path / "file" / "index.sqlite3")
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    assert "held in memory" in index.trouble
    index.close()


def test_a_full_disk_is_answered_from_memory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    update = Store.update
    monkeypatch.setattr(Store, "update", full)
    monkeypatch.setattr(
        Freshness,
        "give_up",
        _restoring(Freshness.give_up, update, monkeypatch),
    )
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    assert "disk is full" in index.trouble
    index.close()


def _restoring(give_up: object, update: object, monkeypatch: pytest.MonkeyPatch) -> object:
    def wrapped(self: Freshness, store: Store, error: sqlite3.Error) -> None:
        monkeypatch.setattr(Store, "update", update)
        assert callable(give_up)
        give_up(self, store, error)

    return wrapped


@pytest.mark.real
def test_several_processes_share_one_index(root: Path) -> None:
    for n in range(60):
        (root / "src" / f"m{n}.py").write_text(f"first(word_{n})\n" * 20)
    code = (
        "import sys; from foldline.backends import LocalFileBackend, WorkspaceIndex\n"
        "index = WorkspaceIndex(LocalFileBackend(sys.argv[1]), patience=None)\n"
        "print(len(index.files_with('first').paths)); index.close()"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate(timeout=120)[0].strip() for process in running] == ["62"] * 4


def test_a_file_over_the_limit_is_named(root: Path) -> None:
    (root / "src" / "big.py").write_bytes(b"first()\n" * 600_000)
    access = SmartFileAccess.for_workspace(root)
    found = access.find_references("first")
    assert found.total == 2
    assert "src/big.py is over the size limit" in found.reason
    access.close()


def test_the_index_is_outside_the_workspace(root: Path, private_folders: Path) -> None:
    before = sorted(root.rglob("*"))
    SmartFileAccess.for_workspace(root).find_references("first")
    assert sorted(root.rglob("*")) == before
    assert index_location(root).is_relative_to(private_folders)


@pytest.mark.parametrize("mode", [None, 0o755])
def test_no_other_user_reads_the_index(root: Path, mode: int | None) -> None:
    folder = index_location(root).parent
    if mode is not None:
        # As an earlier version made it.
        folder.mkdir(parents=True)
        folder.chmod(mode)
    before = os.umask(0)
    try:
        SmartFileAccess.for_workspace(root).find_references("first")
    finally:
        os.umask(before)
    assert index_location(root).exists()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_outlines_are_kept_by_content_for_other_processes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "src" / "long.py").write_text("def f():\n    '''Doc.'''\n" + "    x = 1\n" * 400)
    access = SmartFileAccess.for_workspace(root)
    first = access.get_outline("src/long.py")
    access.close()

    def refuse(*_: object) -> None:
        raise AssertionError("the outline was made again")

    monkeypatch.setattr("foldline.backends.outlines.parsing.outline_source", refuse)
    access = SmartFileAccess.for_workspace(root)
    assert access.get_outline("src/long.py") == first
    (root / "src" / "copy.py").write_text((root / "src" / "long.py").read_text())
    assert access.get_outline("src/copy.py").symbols == first.symbols
    access.close()


def test_a_watcher_keeps_the_index_up_to_date(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = SmartFileAccess.for_workspace(root)
    index = access.index
    assert index is not None
    index.refresh()
    updated = threading.Event()
    start = index.start

    def started() -> None:
        start()
        updated.set()

    monkeypatch.setattr(index, "start", started)
    access.watch()
    for attempt in range(100):
        (root / "src" / f"new{attempt}.py").write_text("fresh\n")
        if updated.wait(0.2):
            break
    assert updated.is_set()
    assert index.wait(30)
    access.close()


Row = tuple[str, str, int, int]


def rows(corpus: Corpus, postings: Mapping[str, list[Postings]]) -> set[Row]:
    """The term, the path, how often it has the term, and how often it defines it."""
    return {
        (term, corpus.paths[number], count, defined)
        for term, found in postings.items()
        for segment, slots, counts, names in found
        for slot, count, defined in zip(slots, counts, names, strict=True)
        if (number := corpus.numbers(segment, slots)[slot]) >= 0
    }


def test_many_small_changes_are_merged_and_lose_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.backends.files.listing._TICK_NS", -(10**12))
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    for number in range(30):
        (root / "src" / f"m{number % 10}.py").write_text(f"def f{number}x(): word\n")
        index.refresh()
    assert len(index.vocabulary(["f"])) <= 10
    corpus, postings, _ = index.look_up(["word", *(f"=f{number}x" for number in range(30))])
    found = rows(corpus, postings)
    vocabulary = "\n".join(index.vocabulary(["f"])).split("\n")
    index.close()
    assert {path for term, path, *_ in found if term == "word"} == {
        f"src/m{number}.py" for number in range(10)
    }
    # What the first twenty wrote was replaced.
    assert {term for term, *_ in found} == {"word", *(f"=f{n}x" for n in range(20, 30))}
    assert "f3x" not in vocabulary
    assert "f23x" in vocabulary


def test_a_term_that_no_file_has_any_more_is_unknown(root: Path) -> None:
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    assert {*index.look_up(["first", "other"])[1]} == {"first"}
    (root / "src" / "a.py").write_text("other\n")
    assert {*index.look_up(["first", "other"])[1]} == {"first", "other"}
    (root / "src" / "b.py").unlink()
    assert {*index.look_up(["first", "other"])[1]} == {"other"}
    index.close()


def test_files_without_a_word_are_merged_like_others(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.backends.files.listing._TICK_NS", -(10**12))
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    for number in range(30):
        (root / "src" / f"m{number}.py").write_text("")
        assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    index.close()


def test_a_search_reads_the_text_of_open_buffers(root: Path) -> None:
    access = SmartFileAccess.for_workspace(root)
    assert access.search_files("first").hits[0].path == "src/a.py"
    access.file_backend.set_overlay("src/b.py", "class Buffer: ...\n")
    access.file_backend.set_overlay("src/a.py", "pass\n")
    assert [hit.path for hit in access.search_files("Buffer")] == ["src/b.py"]
    assert access.search_files("first").total == 0
    access.close()


class Changes(RuleBasedStateMachine):
    """Whatever happens to the files, the index holds what a fresh one would."""

    names = st.sampled_from(["a.py", "b.py", "d/a.py", "d/e/a.py"])

    @initialize()
    def start(self) -> None:
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name) / "root"
        self.root.mkdir()
        self.index = WorkspaceIndex(
            LocalFileBackend(self.root), Path(self.folder.name) / "index.sqlite3"
        )

    @rule(name=names, word=st.sampled_from(["one", "two"]))
    def write(self, name: str, word: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(f"def f_{word}(): {word}\n")

    @rule(name=names)
    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    @rule(name=names, other=names)
    def rename(self, name: str, other: str) -> None:
        if (self.root / name).exists():
            (self.root / other).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).rename(self.root / other)

    @invariant()
    def is_never_stale(self) -> None:
        if not hasattr(self, "root"):
            return
        for word in ("one", "two"):
            expected = sorted(
                path.relative_to(self.root).as_posix()
                for path in self.root.rglob("*.py")
                if path.read_text().strip() == f"def f_{word}(): {word}"
            )
            assert list(self.index.files_with(word).paths) == expected
        terms = ["one", "two", "=f_one", "=f_two"]
        corpus, postings, coverage = self.index.look_up(terms)
        texts = {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in self.root.rglob("*.py")
        }
        assert coverage == COMPLETE
        assert rows(corpus, postings) == rows(*LiveIndex(texts).look_up(terms)[:2])
        assert sorted(corpus.paths) == sorted(texts)

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
            self.folder.cleanup()


TestChanges = Changes.TestCase
TestChanges.settings = settings.get_profile("costly")


def test_a_kept_outline_is_made_anew_by_other_parsers() -> None:
    names = {file.name for file in parser_files()}
    assert {"outlines.py", "python_parser.py", "table_parser.py"} <= names


def test_a_word_is_looked_for_in_a_segment_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = Segment.slots

    def slots(segment: Segment, part: str) -> set[int]:
        asked.append(part)
        return real(segment, part)

    monkeypatch.setattr(Segment, "slots", slots)
    index = WorkspaceIndex(LocalFileBackend(root), patience=None)
    index.refresh()
    for _ in range(3):
        assert index.files_with("first").paths == ("src/a.py", "src/b.py")
    before = asked.count("\nfirst\n")
    assert before == 2, "of code, and of texts"
    (root / "src" / "c.py").write_text("first\n")
    assert index.files_with("first").paths == ("src/a.py", "src/b.py", "src/c.py")
    assert asked.count("\nfirst\n") > before
    index.close()
