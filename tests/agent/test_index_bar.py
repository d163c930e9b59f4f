"""The bar that shows the building of an index in a terminal."""

import io
import sys
from pathlib import Path

import pytest

from foldline.agent import index_bar as bars
from foldline.agent.cli import main


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def standard_error_of(root: Path, monkeypatch: pytest.MonkeyPatch, error: io.StringIO) -> str:
    """What a first search in a folder prints on standard error."""
    for number in range(3):
        (root / f"m{number}.py").write_text(f"name_{number} = 1\n", encoding="utf-8")
    monkeypatch.setenv("TERM", "xterm")
    # Here and not in a fixture: pytest puts its own in place when the test begins.
    monkeypatch.setattr(sys, "stderr", error)
    assert main(["refs", "name_1", "--root", str(root), "--seconds", "0"]) == 0
    return error.getvalue()


def test_a_long_building_shows_in_a_terminal_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "SHOWN_AFTER_SECONDS", 0)
    shown = standard_error_of(tmp_path, monkeypatch, Terminal())
    assert "Indexing, this once" in shown
    assert "3/3" in shown
    # In the end the line is erased.
    assert shown.endswith("\x1b[2K")


def test_a_short_building_does_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars, "SHOWN_AFTER_SECONDS", 3600)
    assert standard_error_of(tmp_path, monkeypatch, Terminal()) == ""


def test_nothing_shows_where_standard_error_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "SHOWN_AFTER_SECONDS", 0)
    assert standard_error_of(tmp_path, monkeypatch, io.StringIO()) == ""
