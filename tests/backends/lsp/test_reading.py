"""What comes from servers is read with tolerance: streams, results, positions."""

import asyncio
import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import LocalFileBackend
from foldline.backends.base.units import OFFERED, from_units, to_units
from foldline.backends.errors import LSPProtocolError
from foldline.backends.files import ignore
from foldline.backends.files.ignore import IgnoreRules
from foldline.backends.lsp import results
from foldline.backends.lsp.locations import LocationCollector
from foldline.backends.lsp.protocol import read_message

words = st.text(st.sampled_from("ab \N{LATIN SMALL LETTER E WITH ACUTE}\N{GRINNING FACE}\t"))
KEYS = [
    "uri",
    "targetUri",
    "range",
    "start",
    "end",
    "line",
    "character",
    "name",
    "kind",
    "children",
    "location",
    "contents",
    "value",
    "message",
    "severity",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


def read_all(data: bytes) -> list[object]:
    async def read() -> list[object]:
        reader = asyncio.StreamReader(limit=1 << 20)
        reader.feed_data(data)
        reader.feed_eof()
        found: list[object] = []
        while (message := await read_message(reader)) is not None:
            found.append(message)
        return found

    return asyncio.run(read())


def framed(message: object, header: bytes = b"Content-Length") -> bytes:
    body = json.dumps(message).encode()
    return b"%s: %d\r\n\r\n%s" % (header, len(body), body)


@given(words, st.integers(0, 20), st.sampled_from(OFFERED))
def test_a_column_survives_the_way_there_and_back(line: str, column: int, encoding: str) -> None:
    column = min(column, len(line))
    assert from_units(line, to_units(line, column, encoding), encoding) == column


@given(words, st.integers(-5, 200), st.sampled_from(OFFERED))
def test_any_units_lead_into_the_line(line: str, units: int, encoding: str) -> None:
    assert 0 <= from_units(line, units, encoding) <= len(line)


def test_units_inside_a_character_are_its_start() -> None:
    assert from_units("\N{GRINNING FACE}b", 1, "utf-16") == 0
    assert from_units("\N{GRINNING FACE}b", 3, "utf-8") == 0
    assert from_units("\N{GRINNING FACE}b", 2, "utf-16") == 1


@given(st.lists(st.dictionaries(words, words, max_size=3), max_size=4))
def test_messages_come_out_as_they_went_in(messages: list[dict[str, str]]) -> None:
    assert read_all(b"".join(map(framed, messages))) == messages


def test_other_headers_their_case_and_greetings_are_no_trouble() -> None:
    data = (
        b"npm warn something\n"
        + framed({"a": 1}, b"content-length")
        + b"Content-Type: x\r\n"
        + framed({"b": 2})
    )
    assert read_all(data) == [{"a": 1}, {"b": 2}]


@given(st.binary(max_size=400))
def test_any_bytes_are_messages_or_an_error_that_says_so(data: bytes) -> None:
    found: list[object] = []
    with contextlib.suppress(LSPProtocolError):
        found = read_all(data)
    assert all(isinstance(message, dict) for message in found)


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: 5\r\n\r\n{}",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Len",
        b"x" * 2_000_000,
    ],
)
def test_what_is_no_message_is_an_error(data: bytes) -> None:
    with pytest.raises(LSPProtocolError):
        read_all(data)


@given(json_values)
def test_no_result_of_a_server_raises(value: object) -> None:
    for location in results.read_locations(value):
        assert location.line >= 0
        assert location.start >= 0
    for symbol in results.read_symbols(value, ["a line"]):
        assert 1 <= symbol.line <= symbol.line_end
    results.read_hover(value)
    results.read_diagnostics("a.py", value)
    results.read_call(value)
    results.read_lines_of(value)


def test_locations_are_read_in_every_form() -> None:
    span = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}}
    plain = {"uri": "file:///a", "range": span}
    link = {"targetUri": "file:///b", "targetRange": span, "targetSelectionRange": span}
    odd = {"uri": "file:///c", "range": {"start": {"line": True, "character": -1}}}
    found = results.read_locations([plain, link, odd, plain])
    assert [(item.uri, item.line, item.start, item.end) for item in found] == [
        ("file:///a", 1, 2, 5),
        ("file:///b", 1, 2, 5),
    ]
    assert results.read_locations(plain) == found[:1]
    assert results.read_locations(None) == []


def test_the_ignore_files_are_read_once_for_all_locations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "b.py", "c.log"):
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("*.log\n")
    read: list[Path] = []
    real = ignore.read_ignore_file
    files = LocalFileBackend(tmp_path)

    def reading(file: Path, root: Path | None) -> tuple[str, str] | None:
        if file == tmp_path / ".gitignore":
            read.append(file)
        return real(file, root)

    monkeypatch.setattr(LocalFileBackend, "rules", lambda _: IgnoreRules(tmp_path, reading))
    found = LocationCollector(files)
    uris = [(tmp_path / name).as_uri() for name in ("a.py", "b.py", "c.log")]
    assert [found.path_of(uri)[1] for uri in uris] == [False, False, True]
    assert len(read) == 1
