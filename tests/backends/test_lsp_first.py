"""A backend with the three specified methods is asked first, and done without where it fails."""

from collections.abc import Callable
from typing import Any

import pytest

from foldline.backends import (
    ASTFileAnalysisBackend,
    MemoryFileBackend,
    Reference,
    SmartFileAccess,
    SymbolDetail,
    SymbolInfo,
    SymbolNotFoundError,
)
from foldline.backends.errors import LSPDiedError, LSPError, LSPTimeoutError

CODE = "class Cart:\n    def total(self):\n        return 1\n\n\nCart().total()\n"
SYMBOL = SymbolInfo("FromSpy", "class", 1, 3, "class FromSpy")
DETAIL = SymbolDetail("Cart", "class", 1, 3, "class Cart", body="the spy's")
USE = Reference("cart.py", 6, "Cart().total()")

Answer = Callable[[], Any]


class Spy:
    """The specification's protocol; notes the questions, and answers each as it is told."""

    name = "spy"

    def __init__(self, outline: Answer, symbol: Answer, references: Answer) -> None:
        self.calls: list[tuple[object, ...]] = []
        self._answers = (outline, symbol, references)

    def get_outline(self, file_path: str) -> Any:
        self.calls.append(("outline", file_path))
        return self._answers[0]()

    def read_symbol(self, file_path: str, symbol_name: str) -> Any:
        self.calls.append(("symbol", file_path, symbol_name))
        return self._answers[1]()

    def find_references(self, symbol_name: str, scope: str | None) -> Any:
        self.calls.append(("references", symbol_name, scope))
        return self._answers[2]()


def raising(error: Exception) -> Answer:
    def fail() -> Any:
        raise error

    return fail


def access_with(spy: Spy | None) -> SmartFileAccess:
    files = MemoryFileBackend({"cart.py": CODE})
    return SmartFileAccess(files, ASTFileAnalysisBackend(files), spy)


def check_trees_answer(access: SmartFileAccess) -> None:
    outline = access.get_outline("cart.py")
    assert ([found.name for found in outline], outline.backend) == (["Cart"], "ast")
    detail = access.read_symbol("cart.py", "Cart")
    assert (detail.body, detail.backend) == (CODE.split("\n\n", maxsplit=1)[0], "ast")
    found = access.find_references("Cart")
    assert ([use.line for use in found], found.backend) == ([1, 6], "ast")


def test_each_method_asks_it_first_and_takes_its_answer() -> None:
    spy = Spy(lambda: [SYMBOL], lambda: DETAIL, lambda: [USE])
    access = access_with(spy)
    outline = access.get_outline("cart.py")
    assert ([found.name for found in outline], outline.backend) == (["FromSpy"], "spy")
    detail = access.read_symbol("cart.py", "Cart")
    assert (detail.body, detail.backend) == ("the spy's", "spy")
    found = access.find_references("Cart")
    assert [(use.line, use.tier) for use in found] == [(6, "confirmed"), (1, "possible")]
    assert found.backend == "spy+ast"
    assert spy.calls == [
        ("outline", "cart.py"),
        ("symbol", "cart.py", "Cart"),
        ("references", "Cart", None),
    ]


def test_without_one_the_trees_answer() -> None:
    check_trees_answer(access_with(None))


@pytest.mark.parametrize(
    "error",
    [
        LSPError("no"),
        LSPTimeoutError("late"),
        LSPDiedError("dead"),
        TimeoutError("late"),
        NotImplementedError(),
        RuntimeError("broken"),
    ],
)
def test_whatever_it_raises_the_trees_answer(error: Exception) -> None:
    spy = Spy(raising(error), raising(error), raising(error))
    check_trees_answer(access_with(spy))
    assert [call[0] for call in spy.calls] == ["outline", "symbol", "references"]


@pytest.mark.parametrize("line", [-1, 0, 7, 10**9])
def test_lines_outside_the_file_are_not_believed(line: int) -> None:
    wrong = SymbolInfo("Cart", "class", line, line + 1, "class Cart")
    detail = SymbolDetail("Cart", "class", line, line + 1, "class Cart", body="wrong")
    use = Reference("cart.py", line, "Cart")
    spy = Spy(lambda: [SYMBOL, wrong], lambda: detail, lambda: [use])
    access = access_with(spy)
    check_trees_answer(access)
    assert "spy: names lines" in access.find_references("Cart").coverage
    assert len(spy.calls) == 4


@pytest.mark.parametrize("garbage", [7, [7], None, ["Cart"]])
def test_garbage_is_not_believed(garbage: object) -> None:
    check_trees_answer(access_with(Spy(lambda: garbage, lambda: garbage, lambda: garbage)))


def test_of_its_references_the_wrong_ones_are_left_out() -> None:
    elsewhere = Reference("gone.py", 1, "Cart"), Reference("../secret.py", 1, "Cart")
    spy = Spy(lambda: [SYMBOL], lambda: DETAIL, lambda: [USE, *elsewhere])
    found = access_with(spy).find_references("Cart")
    assert {use.path for use in found} == {"cart.py"}
    assert "2 more on lines that are in no file of the workspace" in found.reason


def test_a_symbol_that_neither_knows_is_not_found() -> None:
    spy = Spy(lambda: [SYMBOL], lambda: None, list)
    with pytest.raises(SymbolNotFoundError):
        access_with(spy).read_symbol("cart.py", "nothing")
    assert spy.calls[0] == ("symbol", "cart.py", "nothing")
