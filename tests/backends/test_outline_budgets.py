"""What outlines leave out to fit a budget, and what they show for a question."""

import random
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends.formatting.budget import (
    LARGEST_BUDGET,
    OUTLINE_BUDGET,
    OUTLINE_DETAILS,
)
from foldline.backends.formatting.outline_text import brief_signature, class_parts
from foldline.backends.models import FileOutline
from foldline.backends.outlines.symbols import flatten, is_local
from foldline.backends.ranking import with_matches
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
    folders = ("backends", "server", "plugins", "tests")
    own = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    found = own + list(standard_library().glob("*.py"))
    found += [*(django() / "django/db").rglob("*.py")]
    found += list((ROOT / "editors/vscode/src").rglob("*.ts"))
    found += [ROOT / "README.md", ROOT / "pyproject.toml"]
    return tuple(sorted(found))


def size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def text_at(budget: int, source: str = SHOP, query: str | None = None) -> str:
    return format_outline(outline_of("shop.py", source, query), budget)


@given(
    st.integers(0, 1 << 30),
    st.one_of(st.just(OUTLINE_BUDGET), st.integers(1, 12_000)),
    st.sampled_from(["", "a budget of lines", "its own names"]),
)
def test_an_outline_of_a_real_file_keeps_its_budget_and_with_a_query_its_names(
    seed: int, budget: int, query: str
) -> None:
    chosen = random.Random(seed)
    path = chosen.choice(real_files())
    source = path.read_text("utf-8", "replace")
    plain = outline_of(path.name, source)
    every = list(flatten(plain.symbols))
    if query == "its own names" and every:
        query = " ".join(one.symbol.name for one in chosen.choices(every, k=3))
    asked = with_matches(plain, source.splitlines(), query) if query else plain
    text = format_outline(asked, budget)
    assert size(text) <= budget
    last = text.split("\n")[-1]
    if budget >= 400 and not query and text != format_outline(plain):
        assert re.search(r"left out: |brief; ", last)
    said = text if budget != OUTLINE_BUDGET else format_outline(plain, budget)
    hidden = re.search(r"\(left out: [^;\n]*names|… cut", said)
    if budget >= 400 and query and not hidden and not class_parts(asked):
        words = set(re.findall(r"\w+", text))
        for one in every:
            if plain.line_count <= 150 or not is_local(one):
                assert words.issuperset(re.findall(r"\w+", one.symbol.name[:99])), one.symbol.name


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
    if not asked and budget >= OUTLINE_BUDGET and "some names" not in text:
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


def test_docstrings_go_first_then_annotations_then_signatures_of_private_names_first() -> None:
    whole = format_outline(outline_of("shop.py", SHOP))
    assert '"EUR") -> bool  # Take money.' in whole
    texts = [text_at(budget) for budget in range(size(whole), 100, -1)]
    first_without = [
        next(number for number, text in enumerate(texts) if lost not in text)
        for lost in (
            "# The rows of one page.",
            "# Take money.",
            "_page(self, size: int)",
            "pay(amount: int = 3",
            "21-22 def _page",
            "13-15 def total",
            "5-6 def pay",
            "imports os",
            "limit",
        )
    ]
    assert first_without == sorted(first_without)


def test_an_outline_says_what_is_left_out_and_which_budget_shows_all() -> None:
    whole = format_outline(outline_of("shop.py", SHOP))
    enough = size(whole)
    text = text_at(size(whole) - 1)
    assert text.endswith(f"(left out: some docstrings; budget {enough} shows all)"), text
    assert text_at(size(whole)) == whole
    large = SHOP + "".join(f"\ndef function_{n}(argument: int): ...\n" for n in range(90))
    text = text_at(OUTLINE_BUDGET, large)
    enough = int(re.findall(r"budget (\d+) shows all", text)[0])
    assert text_at(enough, large) == format_outline(outline_of("shop.py", large))
    assert text_at(enough - 1, large) != format_outline(outline_of("shop.py", large))


@given(st.integers(0, 1 << 30), st.integers(400, 12_000))
def test_a_budget_that_is_asked_for_is_filled(seed: int, budget: int) -> None:
    path = random.Random(seed).choice(real_files())
    outline = outline_of(path.name, path.read_text("utf-8", "replace"))
    text = format_outline(outline, budget)
    # What is left over is little, or too little for a line.
    longest = max(size(line) for line in format_outline(outline).splitlines())
    assert "\n(left out: " not in text or budget - size(text) <= max(0.2 * budget, longest)


def test_details_have_less_room_than_names_by_default_and_as_much_as_is_asked_for() -> None:
    source = "".join(f"def function_{n}(argument: int): ...\n" for n in range(200))
    text = text_at(OUTLINE_BUDGET, source)
    assert OUTLINE_DETAILS < size(text) <= OUTLINE_BUDGET
    assert "function_0 1, function_1 2, " in text
    assert "function_199 200\n" in text
    asked = text_at(int(OUTLINE_BUDGET), source)
    assert "1 def function_0(argument)\n" in asked
    assert "function_199 200\n" in asked
    assert "(left out: some signatures; budget " in asked


def test_of_the_largest_class_members_are_counted() -> None:
    source = "class Large:\n" + "".join(f"    def member_{n}(self): ...\n" for n in range(600))
    source += "class Small:\n    def kept(self): ...\n"
    text = text_at(1_500, source)
    assert "\nLarge (member_0, member_1, " in text
    assert " more), Small (kept)\n" in text
    assert "(left out: some names, lines, signatures; budget " in text
    assert size(text) > 1_400


def test_the_name_of_a_class_as_a_question_is_answered_with_the_class() -> None:
    large = SHOP + "".join(f"\ndef function_{n}(argument: int): ...\n" for n in range(90))
    assert text_at(OUTLINE_BUDGET, large, "Cart").split("\n")[1:] == [
        "imports os",
        "8-22 class Cart  # What a customer wants.",
        "  11 limit = 3",
        "  13-15 def total(self, rate: float = 1.0) -> int  # The sum of all prices.",
        "  17-19 def _rows(self, page: int) -> list[str]  # The rows of one page.",
        "  21-22 def _page(self, size: int) -> list[str]",
        "(92 more in file)",
    ]


def test_methods_of_several_classes_are_told_apart_where_their_name_is_asked_for() -> None:
    source = "".join(f"class {c}:\n    def run(self): ...\n    def stop(self): ...\n" for c in "AB")
    assert text_at(OUTLINE_BUDGET, source, "run").split("\n")[1:] == [
        "1-3 class A",
        "  2 def run(self)",
        "4-6 class B",
        "  5 def run(self)",
        "(2 more in file)",
    ]


def test_a_question_is_answered_with_what_matches_it() -> None:
    text = text_at(OUTLINE_BUDGET, query="the sum of prices is wrong at a rate")
    assert text.split("\n")[1:] == [
        "8-22 class Cart",
        "  13-15 def total(rate)",
        "  limit _rows _page",
        "pay Empty",
    ]
    outline = outline_of("shop.py", SHOP, "the sum of prices is wrong at a rate")
    assert outline.matches[0] == "Cart.total"


def test_the_best_eight_have_signatures_but_for_those_far_behind_the_best() -> None:
    source = "".join(f"def {name}_rate(price, total): return {name}\n" for name in "abcdefghijkl")
    text = text_at(OUTLINE_BUDGET, source, "rate")
    assert [line.partition(" ")[0] for line in text.split("\n")[1:9]] == list("12345678")
    assert text.endswith("\ni_rate j_rate k_rate l_rate")
    source = "def rate(price): ...\ndef other(price, total):\n    return price * rate(total)\n"
    assert text_at(OUTLINE_BUDGET, source, "rate").split("\n")[1:] == [
        "1 def rate(price)",
        "other",
    ]


def test_names_of_a_file_too_large_for_them_come_after_what_matches() -> None:
    source = "".join(f"def function_{n}(argument: int): ...\n" for n in range(600))
    text = text_at(OUTLINE_BUDGET, source, "function_599 fails")
    assert text.split("\n")[1] == "600 def function_599(argument)"
    enough = int(re.findall(r"\(left out: some names; budget (\d+) shows all\)", text)[0])
    assert "left out" in text_at(enough - 1, source, "function_599 fails")
    assert "left out" not in text_at(enough, source, "function_599 fails")


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
            "def f(a, *args, **kw)",
        ),
        (
            "f",
            "export const f = ({a, b = {}}: Props, c?: string): X",
            "export const f({a, b = {}}, c)",
        ),
        ("pipe", "pipe<A, B>(op1: Op<A, B>): B", "pipe(op1)"),
        ("T.run", "func (t *T) run(w io.Writer) error", "func (t *T) run(w io.Writer)"),
        ("LIMIT", "LIMIT: Final = 3", "LIMIT"),
        ("A", "class A(B, metaclass=C)", "class A(B, metaclass=C)"),
        ("x", "something else", "something else"),
        ("f", "def f(a: int", "def f(a)"),
    ],
)
def test_a_brief_signature_has_no_types_and_defaults(name: str, signature: str, brief: str) -> None:
    assert brief_signature(name, signature) == brief


def test_an_outline_that_hides_nothing_is_not_called_brief() -> None:
    for count in range(1, 80):
        functions = (f"def function_{n}(one, two): ...\n\n\n" for n in range(count))
        outline = access_to({"a.py": "".join(functions)}).get_outline("a.py")
        shown, whole = format_outline(outline, OUTLINE_BUDGET), format_outline(outline, None)
        assert "(brief; " not in shown or shown.partition("\n(brief; ")[0] != whole
