"""What parsing keeps: nothing of the source, however often; and that its pieces make it whole."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import pytest

from foldline.backends import FileOutline, SmartFileAccess
from foldline.backends.base.languages import parser_for
from foldline.backends.index.database import today
from foldline.backends.outlines import outline_cache, syntax
from foldline.backends.outlines.syntax import ParseRefusedError, parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TIMES = 50


def held_by(read: Callable[[bytes], object], data: bytes) -> tuple[int, int]:
    """The references to `data` and the memoryviews that reading it often leaves behind.

    `data` has more than one byte: the interpreter shares bytes of one.
    """

    def counts() -> tuple[int, int]:
        gc.collect()
        views = sum(type(value) is memoryview for value in gc.get_objects())
        return sys.getrefcount(data), views

    read(data)
    before = counts()
    for _ in range(TIMES):
        read(data)
    after = counts()
    return after[0] - before[0], after[1] - before[1]


@pytest.mark.parametrize("size", [2, 40, 3_000, 100_000])
def test_no_parse_keeps_its_source(size: int) -> None:
    data = (b"name = 1\n" * (size // 9 + 1))[:size]
    assert held_by(lambda source: parse("python", source), data) == (0, 0)


def test_no_parse_that_is_stopped_keeps_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "_MOST_SECONDS", -1.0)

    def stopped(source: bytes) -> None:
        with pytest.raises(ParseRefusedError):
            parse("python", source)

    assert held_by(stopped, b"name = 1\n" * 10_000) == (0, 0)


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


def test_a_parse_that_was_stopped_is_tried_again_the_next_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processor time decides, so a busy machine stops none; another version may not, either."""
    (tmp_path / "a.py").write_text("name = 1\n" * 10_000)

    def outline() -> FileOutline:
        access = SmartFileAccess.for_workspace(tmp_path)
        try:
            return access.get_outline("a.py")
        finally:
            access.close()

    with monkeypatch.context() as busy:
        busy.setattr(syntax, "_MOST_SECONDS", -1.0)
        assert "its parser was stopped" in outline().reason
    assert "its parser was stopped" in outline().reason
    monkeypatch.setattr(outline_cache, "today", lambda: today() + 1)
    assert outline().reason == ""
