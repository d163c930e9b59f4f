"""What parsing keeps: nothing of the source, however often; and that its pieces make it whole."""

from __future__ import annotations

import gc
import sys

import pytest

from foldline.backends import syntax
from foldline.backends.languages import parser_for
from foldline.backends.syntax import ParseRefusedError, parse

TIMES = 50


def _memoryviews() -> int:
    gc.collect()
    return sum(type(each) is memoryview for each in gc.get_objects())


@pytest.mark.parametrize("size", [1, 40, 3_000, 100_000])
def test_no_parse_keeps_its_source(size: int) -> None:
    data = (b"name = 1\n" * (size // 9 + 1))[:size]
    parse("python", data)
    references, views = sys.getrefcount(data), _memoryviews()
    for _ in range(TIMES):
        parse("python", data)
    gc.collect()
    assert sys.getrefcount(data) == references
    assert _memoryviews() == views


def test_no_parse_that_is_stopped_keeps_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "_MOST_SECONDS", -1.0)
    data = b"name = 1\n" * 10_000

    def stopped() -> None:
        with pytest.raises(ParseRefusedError):
            parse("python", data)

    stopped()
    references, views = sys.getrefcount(data), _memoryviews()
    for _ in range(TIMES):
        stopped()
    gc.collect()
    assert sys.getrefcount(data) == references
    assert _memoryviews() == views


@pytest.mark.parametrize("letter", ["a", "é", "你", "😀"])
@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("letters", [1, 20, 70, 1_000, 30_000])
def test_a_source_in_pieces_is_parsed_as_a_whole(letter: str, shift: int, letters: int) -> None:
    text = "#" * shift + f"\ndef f():\n    return '{letter * letters}'\n# {letter}"
    data = text.encode()
    whole = parser_for("python").parse(data).root_node
    found = parse("python", data).root_node
    assert (str(found), found.end_byte, found.end_point) == (
        str(whole),
        whole.end_byte,
        whole.end_point,
    )
    assert [child.end_byte for child in found.children] == [
        child.end_byte for child in whole.children
    ]
