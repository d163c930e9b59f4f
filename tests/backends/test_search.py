"""Search: exact symbols, then parts of paths, then parts of names, and why."""

from pathlib import Path

import pytest

from foldline.backends import InvalidArgumentError, SearchHit, SmartFileAccess
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
    assert (first.line, first.why) == (1, ("defines Cart:1 0.89", "words Cart 0.11"))
    assert format_search(access.search_files("Basket")).splitlines() == [
        "Basket: 1 file",
        "cart.py:3 (defines Basket:3 0.85 · words Basket 0.15)",
    ]


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
    assert tuple(seen) == whole.hits
