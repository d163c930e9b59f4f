"""Offsets and LSP positions, in every encoding and at every edge."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, PositionEncodingKind, Range
from lsprotocol.types import TextDocumentContentChangePartial as Change

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.errors import ArgumentsError
from foldline.ide.snapshot import Snapshot
from foldline.ide.structuring import structure
from foldline.ide.workspace import Workspace
from foldline.server import documents
from foldline.server.convert import LineIndex, LineStarts
from foldline.server.documents import Document
from foldline.server.snapshots import LspSnapshot, locate

UTF8, UTF16, UTF32 = (
    PositionEncodingKind.Utf8,
    PositionEncodingKind.Utf16,
    PositionEncodingKind.Utf32,
)
ENCODINGS = st.sampled_from([UTF8, UTF16, UTF32])
TEXTS = st.text(st.sampled_from("aé€🦊\t\r\n\f\u2028") | st.characters(codec="utf-8"), max_size=40)


@pytest.mark.parametrize(
    ("encoding", "character"), [(UTF8, 6), (UTF16, 3), (UTF32, 2)], ids=["utf8", "utf16", "utf32"]
)
def test_columns_count_the_units_of_the_client(
    encoding: PositionEncodingKind, character: int
) -> None:
    index = LineIndex.of("x\né🦊b", encoding)
    assert index.position(4) == Position(1, character)
    assert index.offset(Position(1, character)) == 4


def test_lines_end_where_lsp_says() -> None:
    index = LineIndex.of("a\r\nb\rc\nd\fe\u2028f\x85g")
    assert [index.offset(Position(line, 0)) for line in range(5)] == [0, 3, 5, 7, 14]


def test_a_column_past_the_end_of_its_line_is_its_end_before_the_line_break() -> None:
    index = LineIndex.of("ab\r\ncd")
    assert index.offset(Position(0, 99)) == 2
    assert index.offset(Position(1, 99)) == 6


def test_a_line_past_the_end_is_the_end() -> None:
    assert LineIndex.of("ab\n").offset(Position(7, 3)) == 3


def test_a_column_inside_a_character_is_its_start() -> None:
    assert LineIndex.of("🦊x", UTF16).offset(Position(0, 1)) == 0


def test_an_offset_outside_the_text_is_its_nearer_end() -> None:
    index = LineIndex.of("ab")
    assert (index.position(-1), index.position(9)) == (Position(0, 0), Position(0, 2))


@given(TEXTS, ENCODINGS, st.data())
def test_every_offset_survives_the_way_there_and_back(
    text: str, encoding: PositionEncodingKind, data: st.DataObject
) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":
        return  # Between the two there is no position.
    index = LineIndex.of(text, encoding)
    assert index.offset(index.position(offset)) == offset


@given(TEXTS, TEXTS, ENCODINGS, st.data())
def test_an_incremental_change_is_what_it_says(
    text: str, new: str, encoding: PositionEncodingKind, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    index = LineIndex.of(text, encoding)
    place = index.range(start, end)
    start, end = index.offset(place.start), index.offset(place.end)
    document = Document("file:///x.py", source=text)
    document._position_codec.encoding = encoding
    document.apply_change(Change(range=place, text=new))
    assert document.source == text[:start] + new + text[end:]


BROKEN = st.text(st.sampled_from("ab\r\n"), max_size=12)


@given(BROKEN, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), BROKEN), max_size=6))
def test_the_starts_of_lines_follow_every_edit(
    text: str, edits: list[tuple[int, int, str]]
) -> None:
    starts = LineStarts(text)
    for low, high, new in edits:
        start, end = sorted((min(low, len(text)), min(high, len(text))))
        text = text[:start] + new + text[end:]
        starts.edit(start, end, text, len(new))
        assert tuple(starts) == LineIndex.of(text).starts


def test_an_edit_touches_few_blocks_of_lines_wherever_it_is() -> None:
    text = "line\n" * 50_000
    starts = LineStarts(text)
    blocks = list(starts._blocks)
    for at in (200_000, 50, 100_000, 249_990, 0):
        text = text[:at] + "#\n" + text[at:]
        starts.edit(at, at, text, 2)
    known = {id(block) for block in blocks}
    kept = [block for block in starts._blocks if id(block) in known]
    assert len(blocks) == 51
    assert len(kept) >= 51 - 5 * 2
    assert tuple(starts) == LineIndex.of(text).starts


def test_a_place_at_the_start_asks_for_no_lines() -> None:
    index = LineIndex.of("a\nb\n")
    assert index.range(0, 0) == Range(Position(0, 0), Position(0, 0))
    assert "starts" not in vars(index)


def test_a_key_in_a_large_document_looks_at_no_more_than_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []
    joined = documents._joined

    def counted(text: str) -> str:
        looked_at.append(len(text))
        return joined(text)

    monkeypatch.setattr(documents, "_joined", counted)
    document = Document("file:///x.py", source="x = 1\n" * 100_000)
    for column in range(50):
        place = Position(50_000, column)
        document.apply_change(Change(range=Range(place, place), text="a"))
    monkeypatch.setattr(LineIndex, "of", None)
    document.apply_change(Change(range=Range(Position(49_999, 0), Position(50_001, 0)), text=""))
    assert sum(looked_at) <= 50
    assert document.source.count("\n") == 99_998


def test_an_edit_below_a_form_feed_lands_on_its_line() -> None:
    document = Document("file:///x.py", source="one\n\ftwo\nthree\n")
    document.apply_change(Change(range=Range(Position(2, 0), Position(2, 5)), text="3"))
    assert document.source == "one\n\ftwo\n3\n"


@dataclass(frozen=True, slots=True)
class Arguments:
    path: str
    start: int = 1
    keys: tuple[str, ...] = ()
    line_limit: float | None = None


def test_structure_takes_what_fits() -> None:
    assert structure({"path": "a", "keys": ["x"], "line_limit": 2}, Arguments) == Arguments(
        "a", keys=("x",), line_limit=2.0
    )


@pytest.mark.parametrize(
    ("value", "fields", "message"),
    [
        ({}, ("path",), "path: is required"),
        ({"path": 3}, ("path",), "path: expected a text, got 3"),
        ({"path": "a", "start": True}, ("start",), "expected a whole number, got True"),
        ({"path": "a", "keys": "abc"}, ("keys",), "expected a list of texts, got 'abc'"),
        ({"path": "a", "keys": ["x", 1]}, ("keys[1]",), "expected a text, got 1"),
        ({"path": "a", "pth": "b"}, ("pth",), "unknown argument; did you mean 'path'?"),
        ({"path": "a", "line-limit": 2}, ("line-limit",), "; did you mean 'line_limit'?"),
        ([], (), "expected an object, got []"),
    ],
)
def test_structure_names_what_does_not_fit(
    value: object, fields: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ArgumentsError) as caught:
        structure(value, Arguments)
    assert message in str(caught.value)
    assert tuple(field.partition("[")[0] for field in caught.value.problems if field) == tuple(
        field.partition("[")[0] for field in fields
    )


@pytest.mark.parametrize(
    ("encoding", "column"), [(UTF8, 7), (UTF16, 5), (UTF32, 4)], ids=["utf8", "utf16", "utf32"]
)
def test_places_in_any_file_are_counted_as_the_client_counts(
    encoding: PositionEncodingKind, column: int, tmp_path: Path
) -> None:
    text = "import foldline.prompts\n'🦊' # here\n"
    files = [tmp_path / name for name in ("asked.py", "other.py")]
    for file in files:
        file.write_text(text, encoding="utf-8")
    places = [SourceSpan(str(file), text.index("#"), len(text) - 1) for file in files]

    def query(snapshot: Snapshot) -> None:
        shown = LspSnapshot.wrap(snapshot, encoding)
        for place, location in zip(places, shown.locations(places), strict=True):
            assert location.range.start == Position(1, column)
            assert shown.offset(location.range.start) == place.start
            found = locate(snapshot, place, encoding)
            assert found is not None
            assert (found.range.start.character, found.range.end.character) == (column, column + 6)

    Workspace.at(tmp_path).with_snapshot(files[0].as_uri(), query)
