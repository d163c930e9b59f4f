"""The ranking of files for a question: fields, anchors, what counts less, and the answer's size."""

from __future__ import annotations

import math
import string
import tracemalloc
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.backends import SmartFileAccess
from foldline.backends.base.languages import is_text
from foldline.backends.index.terms import stem, terms_of
from foldline.backends.index.words import definitions
from foldline.backends.ranking import question as questions
from foldline.backends.ranking import weights
from foldline.backends.ranking.imports import imported
from foldline.backends.ranking.learned import FEATURES, learned_weights
from foldline.backends.ranking.paths import PathFacts, is_minor
from foldline.backends.ranking.question import read_question
from foldline.backends.text import format_search, format_tree

from .outlines import access_to

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": (
        "from .money import Amount\n\n\nclass Cart:\n"
        "    def add_line(self, price): ...\n\n    def total(self): ...\n"
    ),
    "shop/money.py": "class Amount:\n    def rounded(self): ...\n",
    "shop/orders/__init__.py": "class OrderQueue:\n    def flush(self): ...\n",
    "shop/orders/mail.py": "def send_mail(order):\n    return order.total()\n",
    "shop/web/views.py": "def show(request): ...\n",
    "tests/test_cart.py": "def test_total():\n    cart = Cart()\n    cart.total\n    Cart.total\n",
    "docs/cart.py": "# the cart and its total, the cart, the cart\n",
    "web/src/basket.ts": (
        "import { post } from './net/client';\n"
        "export class Basket {\n  async checkout(a: string) {\n    post(a);\n  }\n}\n"
    ),
    "web/src/net/client.ts": "export function post(body: string) {}\n",
}


def ranked(question: str, files: dict[str, str] = FILES) -> list[str]:
    return [hit.path for hit in access_to(files).search_files(question)]


LONG = "\nWe saw this after the upgrade, and it happens each time that a customer pays."


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("The total is wrong", "shop/cart.py"),
        (f"Mails are sent twice{LONG}", "shop/orders/mail.py"),
        (f"Something is slow{LONG}\nCalling `flush` takes seconds.", "shop/orders/__init__.py"),
        (f"It fails{LONG}\nIn shop.web.views it is None.", "shop/web/views.py"),
        (f'It fails{LONG}\n  File "/srv/x/shop/money.py", line 2, in charge', "shop/money.py"),
        (f"It fails{LONG}\nSee shop\\web\\views.py", "shop/web/views.py"),
        (f"It fails{LONG}\nSee shop/orders/__init__.py", "shop/orders/__init__.py"),
        ("checkouts in baskets", "web/src/basket.ts"),
        ("views.py", "shop/web/views.py"),
        ("shop/money.py", "shop/money.py"),
        ("test cart total", "tests/test_cart.py"),
    ],
)
def test_a_question_finds_the_file_that_it_is_about(question: str, path: str) -> None:
    assert ranked(question)[0] == path


def test_tests_and_documentation_come_after_the_code() -> None:
    found = ranked("cart total")
    assert found.index("shop/cart.py") < found.index("tests/test_cart.py")
    assert found.index("shop/cart.py") < found.index("docs/cart.py")


def test_the_first_line_of_a_report_counts_more() -> None:
    files = {"a.py": "apple\n", "b.py": "banana\n"}
    assert ranked("The apple\n\nThe banana", files) == ["a.py", "b.py"]
    assert ranked("The banana\n\nThe apple", files) == ["b.py", "a.py"]


def test_a_symbol_that_many_files_define_is_no_anchor() -> None:
    files = {f"m{n}.py": "def run_it(): ...\n" for n in range(9)} | {
        "z.py": "def lone_one(): ...\n"
    }
    report = f"It stops{LONG}\nIn run_it and lone_one."
    hits = access_to(files).search_files(report).hits
    assert hits[0].path == "z.py"
    assert 2 * hits[1].score < hits[0].score


def test_what_the_best_files_import_goes_behind_the_head_and_never_into_it() -> None:
    files = {f"m{n:02}.py": "word word\n" for n in range(30)}
    files["top.py"] = "import far.away\n" + "word other\n" * 3 + "def word_other(): ...\n"
    files["far/away.py"] = f"word\n{'filler ' * 500}"
    found = ranked("word other", files)
    assert found[0] == "top.py"
    assert found.index("far/away.py") == 10
    files["top.py"] = files["top.py"].replace("import far.away\n", "")
    assert ranked("word other", files).index("far/away.py") == 31


def test_a_word_that_nothing_has_finds_names_that_hold_it() -> None:
    assert ranked("askets", {"a.py": "class Baskets: ...\n", "b.py": "x = 1\n"}) == ["a.py"]
    assert ranked("guid", {"docs/guide.txt": "", "b.py": "x = 1\n"}) == ["docs/guide.txt"]


def test_ten_paths_fit_three_hundred_bytes_and_the_question_is_not_repeated() -> None:
    source = "def first_word(): ...\n"
    files = {f"package/{'long_' * 20}/part{n}.py": source for n in range(40)}
    found = access_to(files).search_files(
        "word\n" + "another line of the report\n" * 300, budget=300
    )
    text = format_search(found)
    assert found.brief
    assert len(text.encode()) <= 300
    first, *paths, last = text.splitlines()
    assert first == f"below package/{'long_' * 20}/:"
    assert [f"package/{'long_' * 20}/{path}" for path in paths] == [hit.path for hit in found]
    assert len(paths) >= 10
    assert last == f"… cursor {found.cursor}"
    assert not access_to(files).search_files("word", budget=2500).brief


@given(st.text(max_size=300), st.integers(120, 900))
@example("`x`", 300)
@example("Y", 300)  # Without its last letter, as `queries` has it, nothing is left of it.
@example("a/b.c.d", 300)
@example("..././", 200)
@example("__init__ \x00 \ud800 é́", 200)
def test_any_question_is_answered_within_its_budget(question: str, budget: int) -> None:
    if read_question(question, 1.0) is None:
        return
    found = access_to(FILES).search_files(question, budget=budget)
    assert len(format_search(found).encode("utf-8", "replace")) <= budget or len(found) <= 1


def test_a_tree_for_a_question_opens_what_leads_to_the_best_files() -> None:
    files = FILES | {f"other/part{n}/m{k}.py": "" for n in range(9) for k in range(9)}
    text = format_tree(access_to(files).get_tree(query="flush the order queue", budget=400))
    assert "  __init__.py 43 B #1\n  mail.py 47 B #2\n" in text
    assert "other/" not in text
    assert text.endswith("(the best 2 of 91 files; without a query, the tree has all)")
    assert len(text.encode()) <= 400
    below = access_to(files).get_tree("web", query="post")
    assert "client.ts 38 B #1" in format_tree(below)


def test_the_learned_weights_are_those_of_the_features() -> None:
    assert learned_weights().keys() == {*FEATURES}
    assert all(math.isfinite(weight) for weight in learned_weights().values())


def test_learned_weights_change_the_order_of_a_report_and_not_of_keywords(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {f"m{n:02}.py": "word\n" * (n + 1) for n in range(60)}
    report, keywords = f"The word{LONG}", "word"
    monkeypatch.setattr(weights, "HAND_SET", replace(weights.HAND_SET, learned=False))
    by_hand = ranked(report, files), ranked(keywords, files)
    monkeypatch.undo()
    negative = {"score": -1.0}
    monkeypatch.setattr("foldline.backends.ranking.learned.learned_weights", lambda: negative)
    found = ranked(report, files)
    assert found[:50] == by_hand[0][:50][::-1]
    assert found[50:] == by_hand[0][50:]
    assert ranked(keywords, files) == by_hand[1]


@given(st.text(max_size=40))
def test_terms_are_never_empty_nor_of_two_lines(word: str) -> None:
    for term in terms_of(word):
        assert term
        assert "\n" not in term or "\n" in word
        assert not term.startswith("=") or word.startswith("=")


def test_a_name_is_found_as_a_whole_and_in_parts() -> None:
    assert terms_of("HTTPServer") == ("httpserver", "http", "server")
    assert terms_of("user_logins") == ("userlogin", "user", "login")
    assert terms_of("größe_x") == ("grössex",)
    assert terms_of("12345") == ()
    assert stem("stopped") == stem("stopping") == stem("stops") == "stop"


DEFINITIONS = {
    "a.py": (
        "LIMIT: int = 1\nasync def load(): ...\nclass Cart(Base):\n    def add(self): ...\n"
        "x == 1\n",
        ["LIMIT", "load", "Cart", "add"],
    ),
    "a.ts": (
        "export default class Foo<T> {\n  async render(a: string): Promise<void> {\n"
        "    if (a) {\n    return call(a, () => {\n  get value() {\n"
        "export const fooBar = (a) => {}\n  const inner = 3\ninterface Shape {}\n"
        "describe('x', () => {\n  it('works', () => {\n",
        ["Foo", "render", "value", "fooBar", "Shape"],
    ),
    "a.go": (
        "func (r *Router) Handle(path string) error {\ntype Server struct {\nvar ErrX = 1\n"
        "\tif err := f(x); err != nil {\n",
        ["Handle", "Server", "ErrX"],
    ),
    "a.rs": (
        "pub(crate) async fn spawn<F>(f: F) {\nmacro_rules! join {\npub struct S {\n"
        "    let x = foo(bar, |a| {\n    pub const LIMIT: u8 = 1;\n",
        ["spawn", "join", "S", "LIMIT"],
    ),
    "A.java": (
        "public final class Cart {\n    private static int total(List<Line> lines) {\n"
        "        for (Line line : lines) {\n",
        ["Cart", "total"],
    ),
    "a.rb": ("module Shop\n  class Cart\n    def self.total(lines)\n", ["Shop", "Cart", "total"]),
}


@pytest.mark.parametrize("path", DEFINITIONS)
def test_definitions_are_seen_without_a_parse(path: str) -> None:
    source, names = DEFINITIONS[path]
    assert [name.decode() for name in definitions(path, source.encode())] == names


@pytest.mark.parametrize(
    ("path", "source", "places"),
    [
        ("a/b.py", "from ..x import y\nfrom . import z\nimport p.q as r, s\n",
         {("x",), ("x", "y"), ("a",), ("a", "z"), ("p", "q"), ("s",)}),
        ("a/b.py", "from x import (\n    y,\n    z,\n)\n", {("x",), ("x", "y"), ("x", "z")}),
        ("a/b.ts", "import {x} from '../c/d.js'\nconst e = require('./e')\nimport 'react'\n",
         {("c", "d"), ("a", "e")}),
        ("src/lib.rs", "mod net;\nuse crate::a::b;\n", {("net",), ("a", "b")}),
    ],
)  # fmt: skip
def test_imports_are_read_from_their_statements(
    path: str, source: str, places: set[tuple[str, ...]]
) -> None:
    assert {*imported(path, source.encode())} == places


@pytest.mark.parametrize(
    ("place", "whole", "found"),
    [
        (("shop", "web", "views"), True, ["shop/web/views.py"]),
        (("srv", "x", "shop", "web", "views"), True, ["shop/web/views.py"]),
        (("shop", "web", "views", "show"), False, ["shop/web/views.py"]),
        (("shop", "web", "views", "show"), True, []),
        (("shop", "orders", "__init__"), True, ["shop/orders/__init__.py"]),
        (("shop", "orders", "OrderQueue"), False, ["shop/orders/__init__.py"]),
        (("views",), True, ["shop/web/views.py"]),
        (("views", "show"), False, []),
    ],
)
def test_a_place_names_the_files_whose_paths_end_with_it(
    place: tuple[str, ...], whole: bool, found: list[str]
) -> None:
    paths = tuple(FILES)
    assert [paths[number] for number in PathFacts(paths).find(place, whole=whole)] == found


def test_what_is_known_of_paths_does_not_grow_with_how_deep_they_are() -> None:
    def kept(depth: int) -> int:
        folder = "".join(f"level{level}/" for level in range(depth))
        paths = tuple(f"{folder}name{number}.py" for number in range(1000))
        tracemalloc.start()
        facts = PathFacts(paths)
        assert facts.with_part("level0") == {*range(1000)}
        assert facts.with_part("name7") == {7}
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return size

    kept(1)
    assert kept(100) < 1.5 * kept(1)


def test_minor_files_are_tests_documentation_vendored_and_generated_ones() -> None:
    minor = ["tests/a.py", "pkg/test_a.py", "docs/x.py", "a/_vendor/b.py", "a.min.js", "x_pb2.py"]
    major = ["django/test/client.py", "db/migrations/a.py", "latest/contest.py", "src/distance.ts"]
    assert [is_minor(path) for path in minor] == [True] * len(minor)
    assert [is_minor(path) for path in major] == [False] * len(major)


@pytest.mark.parametrize("run", ["x", "-", ".", "x.", "x/", "x\\", "x/x\\", "`", 'File "'])
def test_a_question_of_one_long_run_is_read(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In time that grows with its square, it would take days."""
    monkeypatch.setattr(questions, "_MOST_TEXT", 1 << 20)
    text = run * (1_000_000 // len(run))
    question = read_question(f"Broken: {text}!", 1.0)
    assert question is not None
    assert "Broken" in question.words.values()


def test_of_a_question_of_places_and_names_the_first_are_looked_for() -> None:
    """For each place, its parts are looked for among paths; for each name, among symbols."""
    deep = ".".join(f"part{n}" for n in range(1_500))
    many = " ".join(f"some_{n}.place_{n} a{n}/b{n}.py" for n in range(900))
    question = read_question(f"shop.web.views {deep} {many}", 1.0)
    assert question is not None
    assert ("shop", "web", "views") in question.dotted
    assert len(question.dotted) == 400
    assert max(map(len, question.dotted)) <= 64
    assert len(question.names) == 800


def test_nothing_is_kept_of_long_questions() -> None:
    access = access_to(FILES)
    access.get_tree(query="cart")
    tracemalloc.start()
    try:
        for letter in string.ascii_lowercase:
            long = letter * 20_000
            access.get_tree(query=long)
            assert not is_text(f"folder/{long}.py")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000


def test_little_is_kept_of_long_questions_to_an_index(tmp_path: Path) -> None:
    (tmp_path / "cart.py").write_text("def cart(): ...\n")
    with closing(SmartFileAccess.for_workspace(tmp_path, patience=None)) as access:
        access.get_tree(query="cart")
        tracemalloc.start()
        try:
            for letter in string.ascii_lowercase:
                access.get_tree(query=letter * 20_000)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    # The index keeps the words that were asked for last.
    assert kept < 26 * 40_000


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see /srv/app/shop/cart.py:12", {("srv", "app", "shop", "cart")}),
        ("see C:\\shop\\cart.py, line 3", {("shop", "cart")}),
        ("in shop/cart.py/total it is", {("shop", "cart")}),
        ("in shop/orders or a\\nb", {("shop", "orders")}),
        ("https://host/docs/cart.html#total", {("host", "docs", "cart")}),
        ("cart.py-money.py", {("cart",)}),
        ("./cart.py and ../money.py", {("cart",), ("money",)}),
        ("0.5.1 of shop.cart", {("shop",)}),
    ],
)
def test_paths_are_seen_in_a_question(text: str, paths: set[tuple[str, ...]]) -> None:
    question = read_question(text, 1.0)
    assert question is not None
    assert question.paths == paths
