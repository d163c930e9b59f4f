"""What outlines leave out to fit a budget, and what they show for a question."""

import random
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends.formatting.budget import LARGEST_BUDGET, OUTLINE_BUDGET, OUTLINE_DETAILS
from foldline.backends.formatting.outline_text import brief_signature
from foldline.backends.models import FileOutline
from foldline.backends.outlines.symbols import flatten, is_local
from foldline.backends.text import format_outline

from .corpora import django, standard_library
from .outlines import access_to

ROOT = Path(__file__).parents[2]
SHOP = '''
"""A shop."""
import os

def pay(amount: int = 3, *, currency: str = "EUR") -> bool:
    """Take money."""

class Cart:
    """What a customer wants."""

    limit = 3

    def total(self, rate: float = 1.0) -> int:
        """The sum of all prices."""
        return sum(self.prices) * rate

    def _rows(self, page: int) -> list[str]:
        """The rows of one page."""
        return self.rows[page]

    def _page(self, size: int) -> list[str]:
        return self.split(size)

class Empty(Exception):
    """Nothing to pay for."""
'''


@cache
def outline_of(path: str, source: str, query: str | None = None) -> FileOutline:
    return access_to({path: source}).get_outline(path, query=query)


@cache
def real_files() -> tuple[Path, ...]:
    """Files of this project, of the standard library, and of Django if it's there."""
    own = [
        path for folder in ("backends", "server", "tests") for path in (ROOT / folder).rglob("*.py")
    ]
    found = own + list(standard_library().glob("*.py"))
    found += [*(django() / "django/db").rglob("*.py")]
    found += list((ROOT / "editors/vscode/src").rglob("*.ts"))
    found += [ROOT / "README.md", ROOT / "pyproject.toml"]
    return tuple(sorted(found))


def size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def text_at(budget: int, source: str = SHOP, query: str | None = None) -> str:
    return format_outline(outline_of("shop.py", source, query), budget)


@given(st.integers(0, 1 << 30), st.integers(1, 12_000), st.sampled_from(["", "a budget of lines"]))
def test_an_outline_of_a_real_file_never_exceeds_its_budget(
    seed: int, budget: int, query: str
) -> None:
    path = random.Random(seed).choice(real_files())
    outline = outline_of(path.name, path.read_text("utf-8", "replace"), query)
    text = format_outline(outline, budget)
    assert size(text) <= budget
    if budget >= 400 and text != format_outline(outline):
        assert re.search(r"left out: |match less: |words of the question", text.split("\n")[-1])


NAMES = st.from_regex(r"_{0,2}[a-z]{1,12}", fullmatch=True)


@given(
    st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=30)), max_size=60),
    st.integers(1, 9_000),
    st.booleans(),
)
def test_an_outline_of_a_made_file_never_exceeds_its_budget(
    classes: list[tuple[str, list[str]]], budget: int, asked: bool
) -> None:
    source = "".join(
        f"class {name}(Base):\n    '''Docs of it.'''\n"
        + "".join(f"    def {member}(self, x: int = 3): return {member}\n" for member in members)
        for name, members in classes
    )
    query = "docs of " + " ".join(name for name, _ in classes[:3]) if asked else None
    outline = outline_of("made.py", source, query)
    text = format_outline(outline, budget)
    assert size(text) <= budget
    if not asked and budget >= OUTLINE_BUDGET and "inside" not in text and "members" not in text:
        for located in flatten(outline.symbols):
            assert re.search(rf"(?<!\w){located.symbol.name}(?!\w)", text)


def test_every_name_of_a_real_file_is_in_its_outline_at_the_default_budget() -> None:
    lost = []
    for path in real_files():
        outline = outline_of(path.name, path.read_text("utf-8", "replace"))
        text = format_outline(outline, OUTLINE_BUDGET)
        words = set(re.findall(r"\w+", text))
        names = [
            one.symbol.name
            for one in flatten(outline.symbols)
            if one.symbol.kind != "variable" and not is_local(one)
        ]
        if path.suffix == ".py" and not words.issuperset(names):
            lost.append(path.name)
    # Of a thousand; their largest classes are counted.
    assert len(lost) <= len(real_files()) * 0.01, lost


def test_docstrings_go_first_then_annotations_and_private_signatures_then_members() -> None:
    whole = format_outline(outline_of("shop.py", SHOP))
    assert '"EUR") -> bool  # Take money.' in whole
    forms: list[str] = []
    for budget in range(size(whole), 100, -1):
        text = text_at(budget)
        rows = "\n".join(text.split("\n")[1:-1])
        if not forms or forms[-1] != rows:
            forms.append(rows)
    assert '5-6 def pay(amount: int = 3, *, currency: str = "EUR") -> bool' in forms[1]
    assert "#" not in forms[1]
    assert "5-6 def pay(amount, *, currency)\n" in forms[2]
    assert "  13-15 def total(self, rate)\n  _rows 17, _page 21\n" in forms[3]
    assert "  limit 11, total 13, _rows 17, _page 21" in forms[4]
    assert "pay 5\n8-22 class Cart\n  limit 11, total 13, _rows 17, _page 21\nEmpty 24" in forms[5]


def test_an_outline_says_what_is_left_out_and_which_budget_shows_all() -> None:
    enough = size(format_outline(outline_of("shop.py", SHOP)))
    text = text_at(enough - 1)
    assert text.endswith(f"(left out: docstrings; budget {enough} shows all)"), text
    assert text_at(enough) == format_outline(outline_of("shop.py", SHOP))
    large = SHOP + "".join(f"\ndef function_{n}(argument: int): ...\n" for n in range(90))
    text = text_at(OUTLINE_BUDGET, large)
    enough = int(re.findall(r"budget (\d+) shows all", text)[0])
    assert text_at(enough, large) == format_outline(outline_of("shop.py", large))
    assert text_at(enough - 1, large) != format_outline(outline_of("shop.py", large))


def test_details_have_less_room_than_names() -> None:
    source = "".join(f"def function_{n}(argument: int): ...\n" for n in range(200))
    text = text_at(OUTLINE_BUDGET, source)
    assert OUTLINE_DETAILS < size(text) <= OUTLINE_BUDGET
    assert "function_0 1, function_1 2, " in text
    assert "function_199 200\n" in text


def test_members_of_the_largest_class_are_counted_last() -> None:
    source = "class Large:\n" + "".join(f"    def member_{n}(self): ...\n" for n in range(600))
    source += "class Small:\n    def kept(self): ...\n"
    text = text_at(1_500, source)
    assert "1-601 Large: 600 inside\n" in text
    assert "  kept\n" in text
    assert "the members of 1 definitions: read one to list them" in text


def test_a_question_is_answered_with_what_matches_it() -> None:
    text = text_at(OUTLINE_BUDGET, query="the sum of prices is wrong at a rate")
    assert text.split("\n")[1:] == [
        "8-22 class Cart",
        "  13-15 def total(self, rate)",
        "(5 more match less: ask without a query)",
    ]
    outline = outline_of("shop.py", SHOP, "the sum of prices is wrong at a rate")
    assert outline.matches[0] == "Cart.total"


def test_a_body_matches_too() -> None:
    outline = outline_of("shop.py", SHOP, "split")
    assert outline.matches == ("Cart._page",)


def test_a_name_in_the_question_comes_first() -> None:
    outline = outline_of("shop.py", SHOP, "Cart._page fails with a rate and a total of prices")
    assert outline.matches[0] == "Cart._page"


@pytest.mark.parametrize("query", ["zebra", "???", "…"])
def test_a_question_about_something_else_gets_the_whole_outline(query: str) -> None:
    text = text_at(OUTLINE_BUDGET, query=query)
    assert "def pay(" in text
    assert text.endswith("(nothing here has words of the question)")


def test_a_large_budget_is_for_details_too() -> None:
    source = "".join(f"def function_{n}(argument: int): ...\n" for n in range(300))
    assert text_at(LARGEST_BUDGET, source) == format_outline(outline_of("shop.py", source))


@pytest.mark.parametrize(
    ("name", "signature", "brief"),
    [
        (
            "f",
            "def f(self, a: dict[str, int] = {}, *args: int, **kw) -> None",
            "def f(self, a, *args, **kw)",
        ),
        (
            "f",
            "export const f = ({a, b = {}}: Props, c?: string): X",
            "export const f({a, b = {}}, c)",
        ),
        ("pipe", "pipe<A, B>(op1: Op<A, B>): B", "pipe(op1)"),
        ("T.run", "func (t *T) run(w io.Writer) error", "func (t *T) run(w io.Writer)"),
        ("LIMIT", "LIMIT: Final = 3", "LIMIT"),
        ("A", "class A(B, metaclass=C)", "class A(B, metaclass)"),
        ("x", "something else", "something else"),
        ("f", "def f(a: int", "def f(a)"),
    ],
)
def test_a_brief_signature_has_no_types_and_defaults(name: str, signature: str, brief: str) -> None:
    assert brief_signature(name, signature) == brief
