"""Names of files cannot pretend to be other lines, or control a terminal."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import MissingPathError, SmartFileAccess, text
from foldline.backends.formatting.navigation import call_lines, location_lines
from foldline.backends.formatting.parts import plain
from foldline.backends.formatting.visible import for_terminal, restored, visible
from foldline.backends.outlines.locations import Call, Calls, Location, Locations, Position

FORGED = "new\n9 B \x1b]0;title\x07\u202eyp.\u2028.py"
SHOWN = "new\\n9 B \\u001b]0;title\\u0007\\u202eyp.\\u2028.py"
SOURCE = "class Cart:\n    total = 1\n\nCart()\n"


@pytest.fixture
def access(tmp_path: Path) -> SmartFileAccess:
    (tmp_path / FORGED).write_text(SOURCE)
    (tmp_path / "folder\x1b[2J\n").mkdir()
    (tmp_path / "folder\x1b[2J\n" / "a.py").write_text("x = 1\n")
    return SmartFileAccess.for_workspace(tmp_path)


def test_what_is_unsafe_is_escaped_and_the_rest_is_not() -> None:
    assert visible(FORGED) == SHOWN
    assert visible("not UTF-8: \udcff") == "not UTF-8: \\udcff"
    for name in ("a b.py", "naïve.py", "\N{GRINNING FACE}\u200d.md", "back\\slash", ""):
        assert visible(name) == name


@given(st.text())
def test_a_name_is_one_line_that_leads_back_to_it(name: str) -> None:
    shown = visible(name)
    assert len(shown.splitlines()) <= 1
    assert for_terminal(shown) == shown
    if "\\" not in name:
        assert restored(shown) == name


def test_content_for_a_terminal_keeps_lines_and_tabs() -> None:
    assert for_terminal("a\tb\n\x1b[31mred\x9b0m\r") == "a\tb\n\\u001b[31mred\\u009b0m\\u000d"


def texts(access: SmartFileAccess) -> dict[str, str]:
    """What each formatter says of the file with the forged name."""
    here = Location(FORGED, 1, 1, 5, "class Cart:")
    place = Position(FORGED, 1, 1, "Cart")
    return {
        "tree": text.format_tree(access.get_tree()),
        "outline": text.format_outline(access.get_outline(FORGED)),
        "symbol": text.format_symbol(access.read_symbol(FORGED, "Cart")),
        "references": text.format_references(access.find_references("Cart")),
        "lines": text.format_file_text(access.read_text(FORGED)),
        "search": text.format_search(access.search_files("Cart")),
        "grep": text.format_grep(access.grep("Cart")),
        "definitions": plain(location_lines(Locations((here,)), place, "definition")),
        "calls": plain(call_lines(Calls((Call(FORGED, FORGED, 1),), ()), place)),
    }


@pytest.mark.parametrize(
    "name",
    ["tree", "outline", "symbol", "references", "lines", "search", "grep", "definitions", "calls"],
)
def test_no_text_form_has_a_line_or_escape_code_from_a_name(
    access: SmartFileAccess, name: str
) -> None:
    said = texts(access)[name]
    assert SHOWN in said
    assert "\x1b" not in said
    assert not any(line.lstrip().startswith("9 B") for line in said.splitlines())


def test_an_error_shows_the_name_on_one_line_and_keeps_the_path(access: SmartFileAccess) -> None:
    with pytest.raises(MissingPathError) as caught:
        access.read_file("gone\n\x1b.py")
    assert str(caught.value).startswith("gone\\n\\u001b.py: no such file")
    assert caught.value.path == "gone\n\x1b.py"


def test_a_name_can_be_asked_for_as_it_is_shown(access: SmartFileAccess) -> None:
    assert access.read_file(SHOWN) == SOURCE
    assert access.read_file("folder\\u001b[2J\\n/a.py") == "x = 1\n"


def test_a_name_with_control_characters_keeps_to_the_budget(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"\x1b\x1b\x1b\x1b{number}.py").write_text("needle\n")
    access = SmartFileAccess.for_workspace(tmp_path)
    assert len(text.format_tree(access.get_tree(budget=500)).encode()) <= 500
    assert len(text.format_grep(access.grep("needle", budget=500)).encode()) <= 500
