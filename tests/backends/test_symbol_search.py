"""The definitions that a question is about, and the contexts that are packed of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import InvalidArgumentError, SmartFileAccess
from foldline.backends.base.waiting import run
from foldline.backends.formatting.budget import size_of
from foldline.backends.models import SymbolResults
from foldline.ide.operations.code_scoped_context import OPERATION, Arguments

LONG = "\n".join(f"        total += prices[{number}]" for number in range(60))
FILES = {
    "shop/cart.py": f'''
class Cart:
    """What a customer takes."""

    def discount(self, price: int) -> int:
        """Take the voucher off a price."""
        return round_down(price - self.voucher)

    def everything(self, prices: list[int]) -> int:
        total = 0
{LONG}
        return total
''',
    "shop/rounding.py": '''
def round_down(amount: float) -> int:
    return int(amount)


def unrelated() -> None:
    """Nothing is said."""
''',
    "shop/checkout.py": """
from shop.cart import Cart


def pay(cart: Cart) -> int:
    return cart.discount(3)
""",
}


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> SmartFileAccess:
    root = tmp_path_factory.mktemp("shop")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return SmartFileAccess.for_workspace(root)


def names(found: SymbolResults) -> list[str]:
    return [hit.name for hit in found]


def test_the_definition_whose_words_match_comes_first(access: SmartFileAccess) -> None:
    found = access.search_symbols("The voucher is not taken off the price")
    assert names(found)[0] == "Cart.discount"
    best = found.hits[0]
    assert (best.path, best.line, best.line_end) == ("shop/cart.py", 5, 7)
    assert (best.score, best.signature) == (100, "def discount(self, price: int) -> int")
    assert found.files[0] == "shop/cart.py"


def test_the_neighbours_of_a_definition_are_named_with_their_relation(
    access: SmartFileAccess,
) -> None:
    found = access.search_symbols("voucher is not taken off in the shop today")
    assert names(found)[0] == "Cart.discount"
    near = {one.name: one.relation for one in found.near}
    assert near == {"round_down": "used by Cart.discount", "pay": "uses Cart.discount"}


def test_definitions_count_once_and_a_long_class_by_its_members(access: SmartFileAccess) -> None:
    found = names(access.search_symbols("What a customer of the cart takes"))
    assert {*found} >= {"Cart.discount", "Cart.everything"}
    assert "Cart" not in found
    assert len({*found}) == len(found)


def test_only_the_files_that_are_asked_for_are_looked_into(access: SmartFileAccess) -> None:
    files = ["shop/rounding.py", "shop/gone.py"]
    found = access.search_symbols("voucher price amount", files=files)
    assert {hit.path for hit in found} == {"shop/rounding.py"}
    assert access.search_symbols("voucher", files=[]).hits == ()


def test_a_question_without_an_answer_says_why(access: SmartFileAccess) -> None:
    found = access.search_symbols("zebra")
    assert (found.hits, found.total) == ((), 0)
    assert found.reason == "no path and no symbol has any of: zebra"
    with pytest.raises(InvalidArgumentError, match="no word"):
        access.search_symbols("?")


def test_a_context_has_bodies_neighbours_and_outlines(access: SmartFileAccess) -> None:
    question = "voucher is not taken off in the shop today"
    arguments = Arguments(query=question, budget=4_000)
    text = OPERATION.text(run(OPERATION.run(access, arguments)), arguments)
    assert text.startswith("shop/cart.py:5-7 Cart.discount\n    def discount")
    near = text.partition("near them:\n")[2].partition("\n\n")[0].split("\n")
    assert "shop/checkout.py:5-6 def pay(cart: Cart) -> int  # pay uses Cart.discount" in near
    assert "shop/cart.py (python" in text


@given(
    st.lists(
        st.sampled_from(["voucher", "price", "cart", "total", "round_down", "pay", "everything"]),
        min_size=1,
        max_size=6,
    ),
    st.integers(100, 4_000),
)
def test_the_budget_of_a_context_is_never_exceeded(
    access: SmartFileAccess, words: list[str], budget: int
) -> None:
    arguments = Arguments(query=" ".join(words), budget=budget)
    text = OPERATION.text(run(OPERATION.run(access, arguments)), arguments)
    assert size_of(text) <= budget
