"""A budget binds for one long line too, and nothing of it is lost."""

import json
import re

import pytest
from cattrs import Converter
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.backends import (
    InvalidArgumentError,
)
from foldline.backends.files.source import split_lines
from foldline.backends.text import format_file_text, format_grep, format_symbol

from .outlines import access_to

LONG = "x" * 3_900_000

TEXTS = st.lists(
    st.one_of(
        st.text(st.sampled_from("ab é\N{EURO SIGN}\N{GRINNING FACE}\t\x1b\u2028"), max_size=30),
        st.integers(40, 150).map(lambda count: "é\N{GRINNING FACE}z" * count),
        st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    ),
    max_size=12,
).map("".join)
# A character of four bytes has to get through.
BUDGETS = st.one_of(st.integers(4, 60), st.integers(60, 3_000))


def size(data: object) -> int:
    return len(json.dumps(Converter().unstructure(data), ensure_ascii=False).encode())


@given(text=TEXTS, budget=BUDGETS)
@example(text="a" * 10_000, budget=200)
@example(text="\N{GRINNING FACE}" * 3, budget=4)
def test_pages_of_a_file_are_its_lines_and_none_is_over_the_budget(text: str, budget: int) -> None:
    access = access_to({"f.txt": text})
    whole, cursor, pages = "", None, 0
    while not pages or cursor is not None:
        page = access.read_text("f.txt", budget=budget, cursor=cursor)
        assert len(page.text.encode()) <= budget
        assert page.cut is bool(page.cursor and ":" in page.cursor)
        whole += page.text + ("" if page.cut or page.cursor is None else "\n")
        cursor, pages = page.cursor, pages + 1
        assert pages <= len(text) + 1
    assert whole == "\n".join(split_lines(text))


@given(lines=st.lists(st.text("ab é\N{GRINNING FACE}", max_size=200), max_size=8), budget=BUDGETS)
def test_pages_of_a_symbol_are_its_source(lines: list[str], budget: int) -> None:
    source = "\n".join(["def f():", *(f"    {line!r}" for line in lines), "    return 1"])
    access = access_to({"f.py": source})
    whole, cursor, pages = "", None, 0
    while not pages or cursor is not None:
        page = access.read_symbol("f.py", "f", budget=budget, cursor=cursor)
        assert len(page.body.encode()) <= budget
        whole += page.body + ("" if page.cut or page.cursor is None else "\n")
        cursor, pages = page.cursor, pages + 1
    assert whole == source


def test_a_long_line_of_a_file_is_cut_and_says_where() -> None:
    page = access_to({"f.js": f"a\n{LONG}\nb\n"}).read_text("f.js", 2, budget=2_000)
    assert size(page) < 2 * 2_000
    text = format_file_text(page)
    assert text.startswith("f.js:2 of 3 lines, columns 1-1881 of 3900000\nxxx")
    assert re.search(r"x\n… ask with cursor text@2:1882\.\w{9} for the rest of the line\Z", text)


def test_the_last_part_of_a_line_goes_on_with_the_lines_after_it() -> None:
    access = access_to({"f.js": f"{'y' * 3_000}\nb\n"})
    page = access.read_text("f.js", budget=2_000, cursor="text@1:2001")
    assert page.text == "y" * 1_000 + "\nb"
    assert page.columns == "columns 2001-3000 of 3000"


@pytest.mark.parametrize("cursor", ["text@1:", "text@x", "text@1:2:3", "text@" + "9" * 5_000])
def test_a_cursor_of_no_answer_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgumentError, match="leave it out") as caught:
        access_to({"f": "x"}).read_text("f", cursor=cursor)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "source",
    [
        f"def f(): return '{LONG}'",
        f"def f({', '.join(f'a{n}=0' for n in range(300_000))}): ...",
        "@d\n" * 100_000 + "def f(): ...",
        "class f:\n" + "".join(f"    def m{n}(self, x): ...\n" for n in range(20_000)),
    ],
    ids=["body", "signature", "decorators", "members"],
)
def test_text_and_data_of_a_symbol_stay_near_the_budget(source: str) -> None:
    access = access_to({"f.py": source})
    detail = access.read_symbol("f.py", "f", budget=2_000)
    assert len(format_symbol(detail).encode()) <= 2_000
    # Each member has a dozen fields.
    assert size(detail) < 20 * 2_000
    assert detail.cursor is not None
    rest = access.read_symbol("f.py", "f", budget=2_000, cursor=detail.cursor)
    assert len(format_symbol(rest).encode()) <= 2_000


def test_text_and_data_of_a_grep_stay_near_the_budget() -> None:
    files = {"f.js": f"{LONG}needle{LONG[:50_000]}\n{LONG[:40_000]}\n"}
    found = access_to(files).grep("needle", context=1, budget=2_000)
    assert size(found) < 2 * 2_000
    (match,) = found.matches
    assert match.column == len(LONG) + 1
    assert match.text[match.column - match.text_column :].startswith("needle")
    (line, after) = format_grep(found).splitlines()[2:4]
    assert line.startswith("  1: …xxx")
    assert "needle" in line
    assert after.endswith("x…")


def test_a_short_line_of_a_grep_is_whole() -> None:
    (match,) = access_to({"a": f"{'x' * 390} end\n"}).grep("end").matches
    assert (match.text, match.text_column) == (f"{'x' * 390} end", 1)
