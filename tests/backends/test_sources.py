"""Encodings and line ends: no file is a crash, and what was replaced is said."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import BinaryFileError, LocalFileBackend, MemoryFileBackend
from foldline.backends.files.source import count_lines, decode, from_text, split_lines
from foldline.backends.outlines.outlines import outline_source

LATIN = b"# -*- coding: latin-1 -*-\nx = '\xe9'\n"
WINDOWS = b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'"


@pytest.mark.parametrize(
    ("raw", "text", "encoding"),
    [
        (b"x = '\xc3\xa9'\n", "x = 'é'\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n", "utf-8"),
        (LATIN, "# -*- coding: latin-1 -*-\nx = 'é'\n", "iso8859-1"),
        (WINDOWS, "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'€'", "cp1252"),
        ("x = 'é'\n".encode("utf-16"), "x = 'é'\n", "utf-16-le"),
        (b"\xfe\xff" + "x".encode("utf-16-be"), "x", "utf-16-be"),
        ("x".encode("utf-32"), "x", "utf-32-le"),
        (b"", "", "utf-8"),
    ],
)  # fmt: skip
def test_text_is_decoded_by_mark_declaration_or_as_utf8(
    raw: bytes, text: str, encoding: str
) -> None:
    source = decode("a.py", raw)
    assert (source.text, source.encoding, source.note) == (text, encoding, "")


def test_a_declaration_counts_in_python_files_only() -> None:
    raw = b"# coding: latin-1\n\xe9"
    assert decode("a.py", raw).text.endswith("é")
    assert "\N{REPLACEMENT CHARACTER}" in decode("a.txt", raw).text


def test_a_declaration_below_the_second_line_does_not_count() -> None:
    assert decode("a.py", b"\n\n# coding: latin-1\n\xc3\xa9").text.endswith("é")


@pytest.mark.parametrize("codec", ["nonsense", "rot13", "hex", "undefined"])
def test_an_unknown_codec_is_said_and_read_as_utf8(codec: str) -> None:
    source = decode("a.py", f"# coding: {codec}\nx = 'é'\n".encode())
    assert "read as UTF-8" in source.note or "shown as" in source.note
    assert source.text.startswith("# coding")


def test_undecodable_bytes_are_replaced_and_said() -> None:
    source = decode("a.py", b"x = '\xff'\n")
    assert source.text == "x = '\N{REPLACEMENT CHARACTER}'\n"
    assert "not utf-8" in source.note


def test_the_note_reaches_the_outline_and_the_symbol(tmp_path: Path) -> None:
    from foldline.backends import SmartFileAccess

    (tmp_path / "a.py").write_bytes(b"def f():\n    return '\xff'\n")
    access = SmartFileAccess.for_workspace(tmp_path)
    assert "not utf-8" in access.get_outline("a.py").reason
    assert "not utf-8" in access.read_symbol("a.py", "f").notes[0]


def test_a_byte_order_mark_keeps_a_file_with_nul_bytes_text() -> None:
    files = MemoryFileBackend({"a.txt": "é\n".encode("utf-16"), "b.txt": b"a\0b"})
    assert files.read_file("a.txt") == "é\n"
    with pytest.raises(BinaryFileError):
        files.read_file("b.txt")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_line_end_gives_the_same_lines_and_outline(newline: str) -> None:
    text = newline.join(["class A:", "    def f(self):", "        pass", "", "def g(): pass", ""])
    source = from_text("a.py", text)
    assert source.text == text
    assert source.lines[4] == "def g(): pass"
    outline = outline_source("python", source.parse_data)
    assert [(symbol.name, symbol.line, symbol.line_end) for symbol in outline.symbols] == [
        ("A", 1, 3),
        ("g", 5, 5),
    ]


def test_what_python_alone_calls_a_line_end_is_none() -> None:
    assert split_lines("a\x0bb\x0cc\x85d\u2028e\n") == ["a\x0bb\x0cc\x85d\u2028e"]


@given(st.text(alphabet="ab\n\r", max_size=40))
def test_lines_are_counted_as_they_are_split(text: str) -> None:
    source = from_text("a", text)
    assert len(source.lines) == count_lines(source.parse_data)


@given(st.binary(max_size=60))
def test_no_bytes_are_a_crash(raw: bytes) -> None:
    for path in ("a.py", "a.txt"):
        source = decode(path, raw)
        assert isinstance(source.text, str)
        outline_source("python", source.parse_data)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_utf8_survives_as_it_is(text: str) -> None:
    raw = text.encode()
    if not raw.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) and b"coding" not in raw:
        assert decode("a.py", raw).text == text


def test_lone_surrogates_of_an_editor_are_no_crash(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    files = LocalFileBackend(tmp_path)
    files.set_overlay("a.py", "x = '\ud800'\n")
    assert files.read_file("a.py") == "x = '?'\n"
