"""Search: exact symbols, then parts of paths, then parts of names, and why."""

from pathlib import Path

import pytest

from foldline.backends import InvalidArgumentError, SearchHit, SmartFileAccess
from foldline.backends.outlines.symbols import flatten
from foldline.backends.text import format_search

from .outlines import access_to

FILES = {
    "cart.py": "LIMIT = 3\n\nclass Basket: ...\n",
    "shop/models.py": "class Cart:\n    def add(self): ...\n\nclass CartLine: ...\n",
    "shop/cart/views.py": "def show(): ...\n",
    "shop/js/cart-view.ts": "export class View { renderCart() {} }\n",
    "docs/shopping_cart_guide.txt": "cart\n",
    "tests/test_cart.py": "def test_cart(): ...\n",
    "other.py": "cart = 1\n# Cart\n",
}


@pytest.fixture(params=["memory", "disk"])
def access(request: pytest.FixtureRequest, tmp_path: Path) -> SmartFileAccess:
    """The same answers from outlines alone and from the index."""
    if request.param == "memory":
        return access_to(FILES)
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return SmartFileAccess.for_workspace(tmp_path)


def test_an_exact_symbol_beats_a_path_part_beats_a_part(access: SmartFileAccess) -> None:
    paths = [hit.path for hit in access.search_files("Cart")]
    assert paths[0] == "shop/models.py"
    assert paths.index("cart.py") < paths.index("shop/js/cart-view.ts")
    assert paths.index("shop/cart/views.py") < paths.index("docs/shopping_cart_guide.txt")


def test_each_hit_says_why_and_where(access: SmartFileAccess) -> None:
    first = access.search_files("Cart").hits[0]
    assert (first.line, first.why) == (1, ("defines Cart",))
    assert format_search(access.search_files("Basket")) == "cart.py: Basket 3"
    assert format_search(access.search_files("show Cart")).splitlines()[:2] == [
        "shop/cart/views.py: show 1",
        "shop/models.py: Cart 1-2, CartLine 4",
    ]


def test_a_part_of_an_identifier_is_not_said_to_be_the_identifier(access: SmartFileAccess) -> None:
    why = {hit.path: hit.why for hit in access.search_files("cart view")}
    assert why["shop/js/cart-view.ts"] == ("words View", "parts of renderCart")
    assert why["shop/models.py"] == ("words Cart",)
    assert why["shop/cart/views.py"] == ("path",)


NAMES = {
    "net/compress.py": "class HttpCompressionMiddleware:\n    def run(self): ...\n",
    "net/settings.py": "USED = [HttpCompressionMiddleware]\n",
    "net/http.py": "class HttpClient: ...\nhttp = 1\n",
    "net/zip.py": "compression = middleware = 1\n",
    "app/cart.py": "class Cart: ...\n",
    "app/page.py": "def renderCart(): ...\n",
    "app/use.py": "def buy():\n    return Cart()\n",
}


def test_an_identifier_that_exists_is_found_whole_and_never_by_its_parts() -> None:
    found = access_to(NAMES).search_files("HttpCompressionMiddleware", budget=2500)
    assert format_search(found).splitlines() == [
        "net/compress.py: HttpCompressionMiddleware 1-2, HttpCompressionMiddleware.run 2",
        "net/settings.py: USED 1",
    ]
    assert [hit.path for hit in access_to(NAMES).search_files("Cart")] == [
        "app/cart.py",
        "app/use.py",
    ]


def test_the_definition_that_is_named_comes_before_what_uses_it() -> None:
    members = "".join(f"    def cart_{n}(self): return Cart(Cart, cart)\n" for n in range(4))
    files = {"a.py": f"class CartMaker:\n{members}\n\nclass Cart:\n    x = 1\n"}
    assert access_to(files).search_files("Cart").hits[0].symbols[0].name == "Cart"


def test_what_only_looks_like_a_definition_is_not_said_to_be_one() -> None:
    files = {
        "hmr.ts": "export function reload() {\n  queueJob(() => {\n    run()\n  })\n}\n",
        "scheduler.ts": "export function queueJob(job: Job): void {\n  jobs.push(job)\n}\n",
    }
    found = access_to(files).search_files("queueJob", budget=2500)
    assert format_search(found).splitlines() == [
        "scheduler.ts: queueJob 1-3",
        "hmr.ts: reload 1-5",
    ]
    assert [hit.why for hit in found] == [("defines queueJob",), ("words queueJob",)]


def test_a_name_that_nothing_has_is_said_with_names_near_to_it() -> None:
    found = access_to(NAMES).search_files("HttpCompresionMiddleware", budget=2500)
    assert found.hits[0].path == "net/compress.py"
    assert found.reason == "nothing has HttpCompresionMiddleware; near: HttpCompressionMiddleware"
    found = access_to(NAMES).search_files("runMilkQuux", budget=2500)
    assert found.reason == "nothing has runMilkQuux; by its parts"


def test_a_page_has_five_files_without_scores_or_totals_and_one_closing_line() -> None:
    files = {f"part{n:02}.py": f"def word_{n}(): ...\n" for n in range(20)}
    first = access_to(files).search_files("word", budget=2500)
    *lines, last = format_search(first).splitlines()
    assert lines[0] == "part00.py: word_0 1"
    assert (len(lines), last) == (5, "… cursor search@5")
    assert len(access_to(files).search_files("word", budget=5000)) == 10
    rest = access_to(files).search_files("word", budget=2500, cursor="search@16")
    assert (len(rest), rest.cursor) == (4, None)


def test_a_page_ends_where_the_score_falls_but_never_before_an_exact_definition() -> None:
    files = {
        "best.py": "def apple_pear(): ...\napple = pear = 1\n",
        "tests/pear.py": "def pear(): ...\n",
    }
    files |= {f"faint{n}.py": f"call(pear)\n{'filler ' * 400}" for n in range(5)}
    found = access_to(files).search_files("apple pear", budget=2500)
    assert [hit.path for hit in found] == ["best.py", "tests/pear.py"]
    assert found.cursor == "search@2"
    more = access_to(files).search_files("apple pear", budget=2500, cursor=found.cursor)
    assert (len(more), more.cursor) == (5, None)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Cart.add", "shop/models.py"),
        ("cart_line", "shop/models.py"),
        ("rendercart", "shop/js/cart-view.ts"),
        ("LIMIT", "cart.py"),
        ("where is the Basket", "cart.py"),
        ("guide", "docs/shopping_cart_guide.txt"),
        ("shop views", "shop/cart/views.py"),
    ],
)
def test_words_find_what_they_mean(access: SmartFileAccess, query: str, path: str) -> None:
    assert access.search_files(query).hits[0].path == path


def test_nothing_found_says_what_was_looked_for(access: SmartFileAccess) -> None:
    results = access.search_files("nonsense")
    assert (results.total, results.reason) == (0, "no path and no symbol has any of: nonsense")


def test_a_query_without_words_is_refused(access: SmartFileAccess) -> None:
    with pytest.raises(InvalidArgumentError):
        access.search_files(" ,; ")


def test_pages_cover_every_hit_once(access: SmartFileAccess) -> None:
    whole = access.search_files("cart")
    seen: list[SearchHit] = []
    cursor = None
    while True:
        page = access.search_files("cart", budget=200, cursor=cursor)
        assert len(format_search(page).encode()) <= 200 or len(page) == 1
        seen += page
        cursor = page.cursor
        if cursor is None:
            break
    assert [hit.path for hit in seen] == [hit.path for hit in whole]


def test_a_search_says_what_it_did_not_read_where_no_code_has_a_word(tmp_path: Path) -> None:
    files = {
        "shop/cart.py": "class Cart: ...\n",
        "docs/a.md": "The retention of a Cart.\n",
        "docs/b.md": "retention\n",
        "setup.kdl": "retention Cart\n",
        "poetry.lock": "retention\n",
        "hidden.log": "retention\n",
        ".gitignore": "*.log\n",
        "big.py": "retention = 1\n" + "# word\n" * 700_000,
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    access = SmartFileAccess.for_workspace(tmp_path)
    unread = (
        "text isn't ranked: 'retention' is in 2 .md, 1 .kdl; "
        "big.py is over the size limit and was not searched"
    )
    found = access.search_files("retention")
    assert found.reason == (
        f"no path and no symbol has any of: retention; {unread}; not looked at: 1 ignored: "
        "hidden.log by '*.log' of .gitignore (the line '!/hidden.log' in .ignore shows it), "
        "1 of no known language (1 .kdl)"
    )
    found = access.search_files("Cart retention", budget=2500)
    assert format_search(found).splitlines() == [
        "shop/cart.py: Cart 1",
        f"({unread})",
    ]
    assert access.search_files("Cart").reason == ""
    access.close()


def test_names_of_deleted_files_are_not_near(tmp_path: Path) -> None:
    for name in ("compute_totals", "compute_totalx", "compute_totaly"):
        (tmp_path / f"{name}.py").write_text(f"def {name}(): ...\n")
    (tmp_path / "other.py").write_text("def other(): ...\n")
    access = SmartFileAccess.for_workspace(tmp_path)
    query = "compute_totalz"
    names = "compute_totaly, compute_totalx, compute_totals"
    assert access.search_files(query).reason == f"nothing has {query}; near: {names}"
    (tmp_path / "compute_totaly.py").unlink()
    (tmp_path / "compute_totalx.py").write_text("def renamed(): ...\n")
    assert access.search_files(query).reason == f"nothing has {query}; near: compute_totals"
    (tmp_path / "compute_totalx.py").unlink()
    (tmp_path / "compute_totals.py").unlink()
    assert access.search_files(query).reason == f"no path and no symbol has any of: {query}"
    access.close()


def test_a_page_that_is_cut_by_its_budget_still_says_where(access: SmartFileAccess) -> None:
    """Only where fewer than three definitions fit, paths say more."""
    whole = format_search(access.search_files("cart", budget=2500)).splitlines()
    assert len(whole) == 6
    room = len("\n".join(whole[:3]))
    page = access.search_files("cart", budget=room + 40)
    assert (page.brief, format_search(page).splitlines()[:3]) == (False, whole[:3])
    assert page.cursor is not None
    page = access.search_files("cart", budget=room)
    assert page.brief


def test_a_long_question_shows_two_files_however_faint_the_second_is() -> None:
    files = {
        "tax/rounding.py": "def round_half_even(amount):\n    return amount\n" * 3,
        "other.py": "def amount_of(x):\n    return x\n",
        "far.py": "amount = 1\n",
    }
    question = (
        "Rounding of tax is wrong\n\n`round_half_even` in tax/rounding.py returns the amount."
    )
    found = access_to(files).search_files(question, budget=2500)
    assert found.hits[0].path == "tax/rounding.py"
    assert len(found) == 2
    assert found.cursor is not None


@pytest.mark.parametrize(
    ("query", "source", "line"),
    [
        (
            "tax rate",
            "def tax_rate():\n    return tax * rate\n\ndef far():\n"
            + "    pad()\n" * 9
            + "    tax\n",
            "a.py: tax_rate 1-2 (words tax, rate)",
        ),
        ("tax rate total", "x = tax, rate, grandTotal\n", "a.py: x 1 (words tax, rate)"),
        ("tax total", "x = tax, grandTotal\n", "a.py: x 1 (words tax; parts of grandTotal)"),
        (
            "red green blue grey",
            "x = red, green, blue, grey\n",
            "a.py: x 1 (words red, green, blue)",
        ),
        (
            "red green blue grey",
            "red = 1\ngreen = 1\nblue = 1\ngrey = 1\n",
            "a.py: green 2, blue 3, grey 4 (defines red, green, blue)",
        ),
        ("red green blue", "x = aRed, aGreen, aBlue\n", "a.py: x 1 (parts of aRed, aGreen)"),
        ("red", "x = aVeryLongRed, zRed\n", "a.py: x 1 (parts of zRed)"),
    ],
)
def test_a_line_has_few_definitions_and_words(query: str, source: str, line: str) -> None:
    found = access_to({"a.py": source}).search_files(query, budget=2500)
    (hit,) = found
    assert f"{format_search(found)} ({'; '.join(hit.why)})" == line


def test_a_file_is_shown_with_its_reason_where_no_definition_is_read_next() -> None:
    found = access_to({"a.py": "_ = tax\n"}).search_files("tax", budget=2500)
    assert format_search(found) == "a.py (words tax)"


def test_the_first_file_shows_three_definitions_and_the_third_one() -> None:
    source = "def tax_{0}(): tax\n\ndef to_tax_{0}(): tax\n\ndef by_tax_{0}(): tax\n"
    files = {f"{name}.py": source.format(name) for name in "abcd"}
    found = access_to(files).search_files("tax", budget=2500)
    assert [len(hit.symbols) for hit in found] == [3, 2, 1, 1]


def test_what_is_inside_a_function_is_told_as_that_function() -> None:
    inner = "    def apply_rebate(cart):\n        return rebate(cart)\n"
    short = f"def checkout(cart):\n{inner}    return apply_rebate(cart)\n"
    long = short + "    cart.more()\n" * 100
    for source, name in ((short, "checkout 1-4"), (long, "checkout.apply_rebate 2-3")):
        found = access_to({"a.py": source}).search_files("apply rebate", budget=2500)
        assert format_search(found).startswith(f"a.py: {name}")


def test_a_short_class_that_the_question_names_is_shown() -> None:
    methods = "".join(f"    def add_rebate_{n}(self): rebate(rebate, add)\n" for n in range(3))
    files = {"a.py": f"class Loader:\n{methods}\nclass Rebate:\n    x = 1\n"}
    (hit,) = access_to(files).search_files("add rebate", budget=2500)
    assert "Rebate" in [symbol.name for symbol in hit.symbols]


def test_the_file_that_defines_a_name_comes_before_one_that_only_seems_to() -> None:
    files = {
        "cart.py": '"""\nclass Cart:\n    pass\n"""\n\ndef other():\n    Cart(Cart, Cart)\n',
        "shop/z.py": "class Cart: ...\n",
    }
    found = access_to(files).search_files("Cart", budget=2500)
    assert [hit.path for hit in found] == ["shop/z.py", "cart.py"]


def test_one_hit_with_long_names_leaves_the_definitions_of_others() -> None:
    long = "".join(f"function widget_{'x' * 70}{number}() {{}}\n" for number in range(4))
    files = {"widget.js": long, **{f"f{n}.js": f"function widget{n}() {{}}\n" for n in range(3)}}
    found = access_to(files).search_files("widget", budget=250)
    assert not found.brief
    assert "f0.js: widget0 1" in format_search(found)


def test_a_name_that_a_broken_parse_made_ends_at_its_line() -> None:
    text = "BEGIN\nEXPORT\n// A context.\ntemplate <typename T> class context {\n  T a;\n};\n"
    names = [one.symbol.name for one in flatten(access_to({"a.hpp": text}).get_outline("a.hpp"))]
    assert names[0] == "EXPORT"


TESTED = {
    "cart.py": "def total(): ...\n\ndef test_mode(): return total()\n",
    "tests/test_cart.py": "def total_of_all(): return total()\n\n"
    + "".join(f"def test_total_{n}():\n    assert total() == {n}\n\n" for n in range(6))
    + "def test_other():\n    assert other()\n",
    "cart.test.ts": (
        "describe('total', () => {\n  it('has a total', () => {\n    total()\n  })\n"
        "  it('is empty', () => {\n    other()\n  })\n})\n"
    ),
}


def test_asked_for_tests_a_file_lists_those_that_have_what_is_asked_and_nothing_else() -> None:
    lines = format_search(access_to(TESTED).search_files("tests of total", budget=2500)).split("\n")
    tests = ", ".join(f"test_total_{n} {3 * n + 3}-{3 * n + 4}" for n in range(6))
    assert f"tests/test_cart.py: {tests}" in lines
    assert "cart.test.ts: total.has a total 2-4" in lines


def test_a_module_of_tests_isnt_what_a_question_about_tests_names() -> None:
    tests = "mod tests {\n    #[test]\n    fn test_far() { far() }\n}\n"
    source = "fn grand_total() { total(total) }\n\n" + tests
    found = access_to({"a.rs": source}).search_files("tests total", budget=2500)
    assert found.hits[0].symbols[0].name == "grand_total"


def test_a_long_class_is_named_by_the_member_that_holds_the_words() -> None:
    methods = "".join(f"    def step{n}(self):\n        return {n}\n" for n in range(60))
    loop = "    def add(self):\n        warn('a loop of records')\n"
    text = f"class Log:\n    # the endless loop of records\n    depth = 0\n{methods}{loop}"
    names = [
        one.name for one in access_to({"a.py": text}).search_files("endless loop").hits[0].symbols
    ]
    assert "Log.add" in names
    assert "Log" not in names
    asked = access_to({"a.py": text}).search_files("Log loop").hits[0].symbols
    assert asked[0].name == "Log"
