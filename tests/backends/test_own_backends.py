"""A user's own backend needs three methods, and serves everywhere: as the analysis and in front."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from foldline.backends import (
    ASTFileAnalysisBackend,
    AsyncSmartFileAccess,
    FileOutline,
    MemoryFileBackend,
    OutsideWorkspaceError,
    Reference,
    SmartFileAccess,
    SymbolDetail,
    SymbolInfo,
    SymbolNotFoundError,
)
from foldline.backends.formatting.navigation import call_lines, hover_lines
from foldline.backends.formatting.parts import plain
from foldline.backends.outlines.locations import Position
from foldline.backends.text import (
    format_outline,
    format_references,
    format_search,
    format_symbol,
)

CODE = """import shop

@shop.cached
class Cart:
    def total(self):
        return shop.price() + delivery

Cart().total()
"""
SYMBOLS = [
    SymbolInfo(
        "Cart",
        "class",
        3,
        6,
        "class Cart",
        [SymbolInfo("total", "method", 5, 6, "def total(self)")],  # type: ignore[arg-type]
        ["shop.cached"],  # type: ignore[arg-type] # As the specification writes both.
    )
]
LINES = CODE.split("\n")


class Own:
    """The specification's protocol, to the letter; `calls` notes what was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def get_outline(self, file_path: str) -> list[SymbolInfo]:
        self.calls.append(("outline", file_path))
        return SYMBOLS

    def read_symbol(self, file_path: str, symbol_name: str) -> SymbolDetail | None:
        self.calls.append(("symbol", file_path, symbol_name))
        if symbol_name != "Cart":
            return None
        return SymbolDetail(
            "Cart", "class", 3, 6, "class Cart", SYMBOLS[0].children, body="\n".join(LINES[2:6])
        )

    def find_references(self, symbol_name: str, scope: str | None) -> list[Reference]:
        self.calls.append(("references", symbol_name, str(scope)))
        return [
            Reference("cart.py", number, line)
            for number, line in enumerate(LINES, 1)
            if symbol_name.rpartition(".")[2] in line
        ]


class Failing:
    """A backend that is down."""

    def get_outline(self, file_path: str) -> list[SymbolInfo]:
        raise ConnectionError(file_path)

    def read_symbol(self, file_path: str, symbol_name: str) -> SymbolDetail | None:
        raise ConnectionError(file_path, symbol_name)

    def find_references(self, symbol_name: str, scope: str | None) -> Sequence[Reference]:
        raise ConnectionError("down")


class Closing(Own):
    """A backend that holds something."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def in_front(own: Own | Failing) -> SmartFileAccess:
    """The backend before ours."""
    files = MemoryFileBackend({"cart.py": CODE})
    return SmartFileAccess(files, ASTFileAnalysisBackend(files), own)


def alone(own: Own) -> SmartFileAccess:
    """The backend in place of ours."""
    return SmartFileAccess(MemoryFileBackend({"cart.py": CODE}), own)


@pytest.fixture(params=[in_front, alone])
def access(request: pytest.FixtureRequest) -> SmartFileAccess:
    made: SmartFileAccess = request.param(Own())
    return made


def test_a_list_of_symbols_is_an_outline(access: SmartFileAccess) -> None:
    outline = access.get_outline("cart.py")
    assert isinstance(outline, FileOutline)
    assert (outline.path, outline.language, outline.line_count) == ("cart.py", "python", 8)
    [cart] = outline
    assert (cart.name_line, cart.decorators, cart.children[0].name_line) == (4, ("shop.cached",), 5)
    assert format_outline(outline) == (
        "cart.py (python, 8 lines)\n3-6 @shop.cached class Cart\n  5-6 def total(self)"
    )
    assert "private names" not in format_outline(outline, 40)


def test_an_analysis_of_your_own_is_labelled_with_its_name_or_as_custom() -> None:
    class Named(Own):
        name = "ctags"

    for own, name in ((Own(), "custom"), (Named(), "ctags")):
        access = alone(own)
        answers = (
            access.get_outline("cart.py"),
            access.read_symbol("cart.py", "Cart"),
            access.find_references("Cart"),
        )
        assert [answer.backend for answer in answers] == [name] * 3


def test_a_symbol_is_complete_and_fits_a_budget(access: SmartFileAccess) -> None:
    whole = access.read_symbol("cart.py", "Cart")
    assert (whole.path, whole.body_line, whole.name_line) == ("cart.py", 3, 4)
    assert whole.char_count == len(whole.body)
    assert format_symbol(whole).splitlines()[0] == "cart.py:3-6 Cart"
    outline = access.read_symbol("cart.py", "Cart", budget=99)
    assert outline.cursor is not None
    assert outline.cursor.startswith("symbol@0.")
    assert len(format_symbol(outline)) <= 99
    part = access.read_symbol("cart.py", "Cart", budget=95, cursor="symbol@0")
    assert part.notes[0].startswith("lines 3 of 3-6")
    size = len(format_symbol(whole))
    assert access.read_symbol("cart.py", "Cart", budget=size, cursor="symbol@0") == whole


def test_references_fit_a_budget_and_have_no_gaps_in_their_lines(access: SmartFileAccess) -> None:
    found = access.find_references("total")
    assert [(reference.line, reference.context) for reference in found] == [
        (5, LINES[4]),
        (8, LINES[7]),
    ]
    assert format_references(found).splitlines()[-1] in {
        "  8: Cart().total()",
        "  8 call: Cart().total()",
    }
    page = access.find_references("total", budget=1)
    assert (len(page), page.total, page.cursor) == (1, 2, "refs@1")
    assert access.find_references("total", budget=500, cursor="refs@1").total == 2


def test_a_position_is_found_by_name_and_by_line(access: SmartFileAccess) -> None:
    assert access.find_position("cart.py", "Cart.total") == Position("cart.py", 5, 9, "total")
    assert access.find_position("cart.py") == Position("cart.py", 4, 7, "Cart")
    assert access.find_position("cart.py", line=3) == Position("cart.py", 4, 7, "Cart")
    assert access.find_position("cart.py", "shop.price") == Position("cart.py", 6, 21, "price")


def test_navigation_answers_by_name(access: SmartFileAccess) -> None:
    position = access.find_position("cart.py", "total")
    found = access.goto_definition(*position.at)
    assert [(reference.line, reference.column) for reference in found] == [(5, 9)]
    assert found.reason == "no language server was asked"
    assert access.find_implementations(*position.at).coverage.startswith("partial: by name")
    assert plain(hover_lines(access.hover(*position.at), position)).startswith("cart.py:5 total")
    assert plain(call_lines(access.call_hierarchy(*position.at), position))
    assert access.diagnostics("cart.py").reason == "no language server was asked"


def test_search_and_the_asynchronous_access_take_it(access: SmartFileAccess) -> None:
    assert "cart.py" in format_search(access.search_files("Cart"))
    outline = asyncio.run(AsyncSmartFileAccess(access).get_outline("cart.py"))
    assert outline == access.get_outline("cart.py")
    assert (access.server_status(), access.restart_servers()) == ((), ())
    access.close()


def test_what_it_finds_is_confirmed_and_the_rest_is_possible() -> None:
    own = Own()
    files = MemoryFileBackend({"cart.py": CODE, "other.py": "total = 1\n"})
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), own)
    found = access.find_references("total")
    assert [(reference.path, reference.line, reference.tier) for reference in found] == [
        ("cart.py", 5, "confirmed"),
        ("cart.py", 8, "confirmed"),
        ("other.py", 1, "possible"),
    ]
    assert (found.backend, found.confirmed, found.possible) == ("lsp+ast", 2, 1)
    assert access.find_references("total", "cart.py").scope == "cart.py"
    assert own.calls == [("references", "total", "None"), ("references", "total", "cart.py")]
    access.find_references("total", seconds=0)
    assert len(own.calls) == 2


def test_every_match_of_a_line_without_columns_is_confirmed() -> None:
    files = MemoryFileBackend({"cart.py": CODE.replace("Cart().total()", "Cart(); Cart()")})
    found = SmartFileAccess(files, ASTFileAnalysisBackend(files), Own()).find_references("Cart")
    assert [(reference.line, reference.tier) for reference in found] == [
        (4, "confirmed"),
        (8, "confirmed"),
        (8, "confirmed"),
    ]


def test_one_that_is_down_costs_nothing_but_its_answers() -> None:
    access = in_front(Failing())
    assert access.get_outline("cart.py").backend == "ast"
    assert access.read_symbol("cart.py", "Cart.total").backend == "ast"
    found = access.find_references("total")
    assert (found.total, found.backend, found.coverage) == (2, "ast", "partial: down")


def test_its_symbols_come_first_and_ours_fill_in() -> None:
    own = Own()
    access = in_front(own)
    assert access.read_symbol("cart.py", "Cart").backend == "lsp"
    assert access.read_symbol("cart.py", "Cart.total").backend == "ast"
    with pytest.raises(SymbolNotFoundError):
        alone(own).read_symbol("cart.py", "nothing")


def test_it_is_not_asked_about_files_outside_the_workspace() -> None:
    own = Own()
    for made in (in_front(own), alone(own)):
        with pytest.raises(OutsideWorkspaceError):
            made.get_outline("../secret.py")
        with pytest.raises(OutsideWorkspaceError):
            made.read_symbol("../secret.py", "Cart")
    assert own.calls == []


def test_it_is_closed_with_the_access() -> None:
    own = Closing()
    in_front(own).close()
    assert own.closed == 1


def test_its_classes_need_no_more_fields_than_the_specification_names() -> None:
    symbol = {
        "name": "Cart",
        "kind": "class",
        "line": 3,
        "line_end": 6,
        "signature": "class Cart",
        "children": [],
        "decorators": [],
        "docstring": None,
    }

    class Plain:
        def get_outline(self, file_path: str) -> Any:
            return [SimpleNamespace(**symbol)]

        def read_symbol(self, file_path: str, symbol_name: str) -> Any:
            return SimpleNamespace(**symbol, body="class Cart:", parent=None, char_count=11)

        def find_references(self, symbol_name: str, scope: str | None) -> Any:
            return [SimpleNamespace(path="cart.py", line=4, context="class Cart:")]

    access = SmartFileAccess(MemoryFileBackend({"cart.py": CODE}), Plain())
    assert format_outline(access.get_outline("cart.py")).endswith("3-6 class Cart")
    assert format_symbol(access.read_symbol("cart.py", "Cart")) == "cart.py:3-6 Cart\nclass Cart:"
    assert format_references(access.find_references("Cart")).endswith("4 definition: class Cart:")
