"""Artefacts: what goes in comes out, and whatever else they hold is refused with a reason."""

import hashlib
import io
import os
import sqlite3
import struct
import tracemalloc
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import LocalFileBackend, WorkspaceIndex
from foldline.backends.errors import ArtefactError, PathError
from foldline.backends.index import artefact, builder, sharing
from foldline.backends.index.artefact import check_artefact, read_artefact, write_artefact
from foldline.backends.index.database import SCHEMA_VERSION
from foldline.backends.index.segments import Building, Part, Segment
from foldline.backends.index.sharing import (
    export_index,
    import_index,
    index_status,
    prune_index,
)
from foldline.backends.index.store import Store
from foldline.backends.index.words import Words, content_key, words_of

TEXTS = {
    "a.py": "def first(): word\n",
    "b.py": "first(word)\n",
    "d/c.py": "größe = first\n",
    "e/__init__.py": "",
    "notes.txt": "first and others\n",
}


def written(*parts: Part) -> bytes:
    out = io.BytesIO()
    write_artefact(out, parts)
    return out.getvalue()


def part_of(texts: Mapping[str, bytes], *, is_text: bool = False) -> Part:
    building = Building()
    for path, data in texts.items():
        building.add(words_of(path, data))
    return Part(is_text, [content_key(*one) for one in texts.items()], building.segment())


FILES = st.dictionaries(
    st.integers(0, 20).map("f{}.py".format),
    st.text("ab_ =\n\0é$" + "def class", max_size=60).map(str.encode),
    min_size=1,
    max_size=8,
)


@given(st.lists(st.tuples(FILES, st.booleans()), max_size=3))
def test_what_is_written_is_what_is_read(groups: list[tuple[dict[str, bytes], bool]]) -> None:
    parts = []
    for number, (files, is_text) in enumerate(groups):
        # A content is there once.
        texts = {path: data + f"{number} {path}".encode() for path, data in files.items()}
        parts.append(part_of(texts, is_text=is_text))
    data = written(*parts)
    assert [*read_artefact(io.BytesIO(data))] == parts
    found = check_artefact(io.BytesIO(data))
    assert found == (
        hashlib.sha256(data[:-32]).hexdigest(),
        sum(len(part.keys) for part in parts),
        len(data),
    )


@pytest.mark.parametrize("limit", ["_MOST_FRAME", "_MOST_IN_FRAME"])
def test_a_part_over_the_limit_is_cut(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    texts = {f"f{n}.py": f"def a{n}(): word_{n}\n".encode() for n in range(9)}
    monkeypatch.setattr(artefact, limit, 200 if limit == "_MOST_FRAME" else 4)
    parts = [*read_artefact(io.BytesIO(written(part_of(texts))))]
    assert len(parts) > 1
    assert [key for part in parts for key in part.keys] == part_of(texts).keys
    names = [name for part in parts for name in part.words.names(range(9))]
    assert sorted(names) == sorted(f"a{n}".encode() for n in range(9))


# What isn't one


def framed(*frames: tuple[int, bytes], count: int, header: bytes = b"") -> bytes:
    """An artefact with a right checksum, whatever else it has."""
    data = header or artefact._MAGIC + artefact._HEADER.pack(1, SCHEMA_VERSION)
    for kind, raw in frames:
        packed = zlib.compress(raw, 9)
        data += artefact._FRAME.pack(kind, len(packed), len(raw)) + packed
    data += artefact._FRAME.pack(0, 0, count)
    return data + hashlib.sha256(data).digest()


GOOD = part_of({"a.py": b"def first(): word\n", "b.py": b"first(word)\n"})


def with_words(**values: Any) -> bytes:
    """A part whose words are others."""
    part = GOOD._replace(words=GOOD.words._replace(**values))
    return framed((1, artefact._packed(part)), count=2)


def with_keys(*keys: bytes) -> bytes:
    return framed((1, artefact._packed(GOOD._replace(keys=[*keys]))), count=len(keys))


RAW = artefact._packed(GOOD)
WORDS: Segment = GOOD.words
ENDS, PLACES = [*WORDS.ends], [*WORDS.places]
# A gigabyte of zeros, in parts that are within the limits, and in one that isn't.
ZEROS = zlib.compress(bytes(32 << 20), 9)


def bomb() -> bytes:
    head = artefact._MAGIC + artefact._HEADER.pack(1, SCHEMA_VERSION)
    frame = artefact._FRAME.pack(1, len(ZEROS), 32 << 20) + ZEROS
    return head + frame * 32


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "isn't an index"),
    "a database": (lambda: b"SQLite format 3\0" * 100, "isn't an index"),
    "a pickle": (lambda: b"cos\nsystem\n(S'true'\ntR." * 20, "isn't an index"),
    "sent as text": (lambda: written(GOOD).replace(b"\r\n", b"\n"), "isn't an index"),
    "of another version": (
        lambda: framed(count=0, header=artefact._MAGIC + artefact._HEADER.pack(1, 999)),
        "version 1.999",
    ),
    "cut": (lambda: written(GOOD)[:-1], "checksum"),
    "cut in a part": (lambda: written(GOOD)[:60], "ends too early"),
    "changed": (lambda: written(GOOD)[:-40] + b"\xff" + written(GOOD)[-39:], ""),
    "a wrong checksum": (lambda: written(GOOD)[:-32] + bytes(32), "checksum"),
    "longer": (lambda: written(GOOD) + b"\0", "follows its end"),
    "a gigabyte of zeros": (bomb, "expands to far more"),
    "a length of four gigabytes": (
        lambda: framed(count=0)[:20] + struct.pack("<BII", 1, 2**32 - 1, 2**32 - 1),
        "more than",
    ),
    "shorter than it says": (lambda: framed((1, RAW[:-4]), count=2), "hasn't the length"),
    "longer than it says": (lambda: framed((1, RAW + bytes(4)), count=2), "hasn't the length"),
    "no part at all": (lambda: framed((1, b"x"), count=0), "too short"),
    "of an unknown kind": (lambda: framed((7, RAW), count=2), "unknown kind"),
    "empty": (
        lambda: framed((1, artefact._SIZES.pack(0, 0, 2, 0, 0) + b"\n\n"), count=0),
        "length",
    ),
    "a content twice": (lambda: with_keys(*[GOOD.keys[0]] * 2), "twice"),
    "a content in two parts": (lambda: framed((1, RAW), (1, RAW), count=4), "twice"),
    "a part is missing": (lambda: framed((1, RAW), count=3), "missing"),
    "not UTF-8": (lambda: with_words(keys=WORDS.keys.replace(b"word", b"wor\xff")), "UTF-8"),
    "not words": (lambda: with_words(keys=WORDS.keys.replace(b"word", b"w rd")), "aren't words"),
    "escapes": (lambda: with_words(keys=WORDS.keys.replace(b"word", b"w\x1brd")), "aren't words"),
    "words without an end": (lambda: with_words(keys=WORDS.keys[:-1]), "no ends"),
    "empty words": (lambda: with_words(keys=WORDS.keys.replace(b"word", b"")), "no ends"),
    "a name without letters": (
        lambda: with_words(keys=WORDS.keys.replace(b"=first", b"=")),
        "aren't words",
    ),
    "more words": (lambda: with_words(keys=WORDS.keys + b"more\n"), "as many"),
    "words behind names": (
        lambda: with_words(
            keys=WORDS.keys + b"more\n",
            ends=array("I", [*ENDS, ENDS[-1] + 1]),
            places=array("I", [*PLACES, 1]),
        ),
        "as many",
    ),
    "fewer ends than words": (
        lambda: with_words(ends=array("I", [*ENDS[:-2], ENDS[-1]])),
        "as many",
    ),
    "other words": (lambda: with_words(words=WORDS.words + 1), "as many"),
    "names before words": (lambda: with_words(words=0), "as many"),
    "places that go back": (
        lambda: with_words(ends=array("I", [ENDS[-1], *ENDS[1:]])),
        "beyond their end",
    ),
    "places beyond the end": (
        lambda: with_words(ends=array("I", [*ENDS[:-1], ENDS[-1] + 1])),
        "beyond their end",
    ),
    "a slot beyond the last": (
        lambda: with_words(places=array("I", [2 << 8, *PLACES[1:]])),
        "doesn't have",
    ),
}


@pytest.fixture(autouse=True)
def old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that nobody changed this moment."""
    monkeypatch.setattr(builder, "is_racy", lambda *_: False)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[WorkspaceIndex]:
    with closing(workspace(tmp_path / "first")) as found:
        yield found


def workspace(root: Path) -> WorkspaceIndex:
    for path, text in TEXTS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return WorkspaceIndex(LocalFileBackend(root), patience=None)


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_no_foldline_wrote_is_refused_and_the_index_kept(
    index: WorkspaceIndex, tmp_path: Path, kind: str
) -> None:
    make, reason = HOSTILE[kind]
    file = tmp_path / "hostile.flindex"
    file.write_bytes(make())
    index.refresh()
    before = index.upkeep(lambda store: "\n".join(store._connection.iterdump()))
    with pytest.raises(ArtefactError, match=f"hostile.flindex: .*{reason}"):
        import_index(index, file)
    assert index.upkeep(lambda store: "\n".join(store._connection.iterdump())) == before
    assert index.files_with("first").paths == ("a.py", "b.py", "d/c.py")


@given(st.data())
def test_a_damaged_artefact_is_never_taken_for_whole(data: st.DataObject) -> None:
    whole = bytearray(written(GOOD))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] ^= data.draw(st.integers(1, 255))
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole) - 1)) :]
    if bytes(whole) != written(GOOD):
        with pytest.raises(ArtefactError):
            check_artefact(io.BytesIO(bytes(whole)))


@given(st.data())
def test_a_part_with_any_numbers_is_refused_or_answers_within_its_bounds(
    data: st.DataObject,
) -> None:
    raw = bytearray(RAW)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at] = data.draw(st.integers(0, 255))
    try:
        (part,) = read_artefact(io.BytesIO(framed((1, bytes(raw)), count=2)))
    except ArtefactError:
        return
    words = part.words.split()
    for number, word in enumerate(words):
        assert all(place >> 8 < 2 for place in part.words.places_of(number))
        assert part.words.slots(f"\n{word.decode()}\n") <= {0, 1}
    assert len(words) == len(part.words.ends)


def test_a_bomb_takes_no_memory() -> None:
    data = bomb()
    tracemalloc.start()
    try:
        with pytest.raises(ArtefactError):
            check_artefact(io.BytesIO(data))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_limits_hold_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [part_of({f"f{n}.py": f"word{n}".encode()}) for n in range(70)]
    for name, most, reason in (
        ("_MOST_CONTENTS", 60, "more than 60 contents"),
        ("_MOST_EXPANDED", 400, "expands to more"),
        ("MOST_BYTES", 300, "too large"),
        ("_FREE_FRAMES", 50, "too many parts"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(artefact, name, most)
            with pytest.raises(ArtefactError, match=reason):
                check_artefact(io.BytesIO(written(*many)))


# From one machine to another


@pytest.fixture
def exported(index: WorkspaceIndex, tmp_path: Path) -> Path:
    file = tmp_path / "folder" / "app.flindex"
    file.parent.mkdir()
    contents = export_index(index, file)
    assert (contents.contents, contents.bytes) == (5, file.stat().st_size)
    return file


@pytest.fixture
def elsewhere(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WorkspaceIndex]:
    """The index of a copy of the files on another machine."""
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    with closing(workspace(tmp_path / "second")) as found:
        yield found


def test_no_file_is_split_whose_words_were_imported(
    exported: Path, elsewhere: WorkspaceIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    split: list[str] = []

    def counted(path: str, data: bytes) -> Words:
        split.append(path)
        return words_of(path, data)

    monkeypatch.setattr(builder, "words_of", counted)
    root = elsewhere._files.root
    (root / "b.py").write_text("another()\n")
    found = import_index(elsewhere, exported)
    assert (found.added, found.artefact.contents) == (5, 5)
    assert elsewhere.files_with("first").paths == ("a.py", "d/c.py")
    assert elsewhere.files_with("größe").paths == ("d/c.py",)
    assert elsewhere.files_with("another").paths == ("b.py",)
    assert elsewhere.texts_with("others").paths == ("notes.txt",)
    assert split == ["b.py"]
    assert import_index(elsewhere, exported.parent).added == 0


def test_an_artefact_names_no_path_and_no_text(exported: Path, tmp_path: Path) -> None:
    every = b"".join(
        [*part.keys, part.words.keys][number]
        for part in read_artefact(io.BytesIO(exported.read_bytes()))
        for number in range(len(part.keys) + 1)
    )
    for text in (str(tmp_path), "__init__", "notes", "first(word)"):
        assert text.encode() not in every


def test_what_was_imported_is_named_and_can_be_forgotten(
    exported: Path, elsewhere: WorkspaceIndex
) -> None:
    (elsewhere._files.root / "own.py").write_text("own = first\n")
    elsewhere.refresh()
    (elsewhere._files.root / "b.py").write_text("later()\n")
    # Of a lie, words that files don't have, nothing is left.
    lie = part_of({"b.py": b"lie()\n"})._replace(keys=[content_key("b.py", b"later()\n")])
    exported.write_bytes(written(lie))
    assert import_index(elsewhere, exported).added == 1
    assert elsewhere.files_with("later").paths == ()
    (one,) = cast("list[dict[str, object]]", index_status(elsewhere)["artefacts"])
    assert (one["source"], one["contents"]) == (str(exported.resolve()), 1)
    assert prune_index(elsewhere, imported=True)["imported"] == 1
    assert index_status(elsewhere)["artefacts"] == []
    assert elsewhere.files_with("later").paths == ("b.py",)
    assert elsewhere.files_with("first").paths == ("a.py", "d/c.py", "own.py")


def test_an_import_that_breaks_off_is_made_again(
    exported: Path, elsewhere: WorkspaceIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        error = sqlite3.OperationalError("database is locked")
        patch.setattr(Store, "take", Mock(side_effect=[1, error]))
        with pytest.raises(ArtefactError, match="locked"):
            import_index(elsewhere, exported)
    assert import_index(elsewhere, exported).added == 5


def test_a_file_that_is_too_large_is_not_copied(
    exported: Path, elsewhere: WorkspaceIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "MOST_BYTES", 300)
    with pytest.raises(ArtefactError, match=r"app\.flindex: it has more than 300 bytes"):
        import_index(elsewhere, exported)


def test_the_newest_artefact_of_a_folder_is_import_index(
    exported: Path, elsewhere: WorkspaceIndex
) -> None:
    (exported.parent / "old.flindex").write_bytes(b"")
    os.utime(exported.parent / "old.flindex", (0, 0))
    assert import_index(elsewhere, exported.parent).source == str(exported.resolve())
    exported.unlink()
    (exported.parent / "old.flindex").unlink()
    with pytest.raises(ArtefactError, match=r"the folder has no \*.flindex file"):
        import_index(elsewhere, exported.parent)
    with pytest.raises(PathError, match="no such file"):
        import_index(elsewhere, exported.with_name("gone.flindex"))


def test_a_pipe_is_no_artefact(elsewhere: WorkspaceIndex, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PathError):
        import_index(elsewhere, tmp_path / "pipe")
    with pytest.raises(ArtefactError, match="isn't a regular file"):
        export_index(elsewhere, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_an_index_that_is_held_in_memory_takes_nothing(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    location = tmp_path / "file" / "index.sqlite3"
    index = WorkspaceIndex(LocalFileBackend(tmp_path / "first"), location)
    with closing(index), pytest.raises(ArtefactError, match="held in memory"):
        import_index(index, exported)


def test_an_export_that_fails_leaves_the_file_as_it_was(
    index: WorkspaceIndex, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = exported.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("foldline.backends.index.sharing.write_artefact", full)
    with pytest.raises(ArtefactError, match="can't be written: No space left"):
        export_index(index, exported)
    assert exported.read_bytes() == before
    assert [*exported.parent.iterdir()] == [exported]
