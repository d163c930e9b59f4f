"""Pages: nothing is lost, nothing is over the budget, and every page says how to go on."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.agent.mcp.pages import page
from foldline.backends.errors import InvalidArgumentError

CURSOR = re.compile(r"ask with cursor (\S+) for more")
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\r\n é𝄞"), max_size=400
)


def read_all(text: str, budget: int) -> list[str]:
    pages: list[str] = []
    cursor: str | None = None
    while True:
        shown, *notes = page(text, "file", budget, cursor)
        pages.append(shown)
        found = CURSOR.search(notes[0]) if notes else None
        if found is None:
            return pages
        cursor = found[1]


@given(text=TEXTS, budget=st.integers(1, 120))
def test_the_pages_of_a_text_are_the_text(text: str, budget: int) -> None:
    pages = read_all(text, budget)
    assert "".join(pages) == text
    assert all(len(each.encode()) <= budget or len(each) == 1 for each in pages)


def test_a_text_within_the_budget_is_one_page_without_a_note() -> None:
    assert page("a\nb\n", "file", 4, None) == ("a\nb\n",)


def test_a_page_ends_with_a_line_and_says_which_lines_it_shows() -> None:
    text = "one\ntwo\nthree\nfour\n"
    assert page(text, "lines", 9, None, first_line=11) == (
        "one\ntwo\n",
        "(lines 11-12 of 11-14; ask with cursor lines@8 for more)",
    )
    assert page(text, "lines", 14, "lines@8", first_line=11) == (
        "three\nfour\n",
        "(lines 13-14 of 11-14: the end)",
    )


def test_a_line_longer_than_the_budget_is_cut_between_characters() -> None:
    assert read_all("é" * 5, 3) == ["é"] * 5
    assert read_all("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


@pytest.mark.parametrize("cursor", ["lines@2", "file@-1", "file@", "file@9", "garbage", "file@²"])
def test_a_cursor_from_elsewhere_says_to_start_anew(cursor: str) -> None:
    with pytest.raises(InvalidArgumentError, match="leave it out to start anew"):
        page("123456789", "file", 4, cursor)
