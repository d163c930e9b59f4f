"""SmartFileAccess as its callers see it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from foldline.backends import (
    AmbiguousSymbolError,
    FileTooLargeError,
    IgnoredPathError,
    InvalidArgumentError,
    MissingPathError,
    OutsideWorkspaceError,
    SmartFileAccess,
    SymbolNotFoundError,
)
from foldline.backends.formatting.budget import size_of
from foldline.backends.text import (
    format_file_text,
    format_outline,
    format_references,
    format_symbol,
    format_tree,
)

SHOP = '''"""A shop."""

import json
from decimal import Decimal


class Cart:
    """What a customer wants to buy."""

    currency = "EUR"

    # Prices include taxes.
    @property
    def total(self) -> Decimal:
        """The sum of all prices."""
        return sum(self.prices, Decimal())

    def add(
        self,
        price: Decimal,  # before discounts
        *,
        count: int = 1,
    ) -> None:
        self.prices.extend([price] * count)


async def load(path: str) -> Cart:
    def convert(value: str) -> Decimal:
        return Decimal(value)

    return Cart()
'''

CALLER = """from shop import Cart

# Cart in a comment
print("Cart in a string", Cart().total)
"""


@pytest.fixture
def access(tmp_path: Path) -> SmartFileAccess:
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "caller.py").write_text(CALLER, encoding="utf-8")
    (tmp_path / "build.log").write_text("Cart", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("*.log\n", encoding="utf-8")
    return SmartFileAccess.for_workspace(tmp_path)


def test_the_tree_counts_what_it_shows_and_what_it_ignores(access: SmartFileAccess) -> None:
    assert format_tree(access.get_tree()) == (
        "./ 3 files, 667 B, 1 ignored\n"
        "app/ 1 file, 83 B\n"
        "  caller.py 83 B\n"
        ".gitignore 6 B\n"
        "shop.py 578 B"
    )


def test_an_outline_shows_signatures_decorators_and_first_docstring_lines(
    access: SmartFileAccess,
) -> None:
    assert format_outline(access.get_outline("shop.py")) == "\n".join(
        [
            "shop.py (python, 31 lines)  # A shop.",
            "imports json, decimal: Decimal",
            "7-24 class Cart  # What a customer wants to buy.",
            '  10 currency = "EUR"',
            "  13-16 @property def total(self) -> Decimal  # The sum of all prices.",
            "  18-24 def add(self, price: Decimal, *, count: int = 1) -> None",
            "27-31 async def load(path: str) -> Cart",
            "  28-29 def convert(value: str) -> Decimal",
        ]
    )


def test_a_symbol_comes_with_its_decorators_and_leading_comments(access: SmartFileAccess) -> None:
    detail = access.read_symbol("shop.py", "Cart.total")
    assert detail.body.startswith("    # Prices include taxes.\n    @property\n")
    assert (detail.body_line, detail.line, detail.name_line, detail.line_end) == (12, 13, 14, 16)
    assert detail.parent == "Cart"
    assert detail.char_count == len(detail.body)
    assert format_symbol(detail).startswith("shop.py:12-16 Cart.total\n")


def test_a_missing_symbol_names_the_near_ones(access: SmartFileAccess) -> None:
    with pytest.raises(SymbolNotFoundError) as caught:
        access.read_symbol("shop.py", "cart.Totals")
    assert "Cart.total" in caught.value.near


def test_an_ambiguous_symbol_lists_names_that_work(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class A:\n  def f(self): 1\nclass B:\n  def f(self): 2\n")
    access = SmartFileAccess.for_workspace(tmp_path)
    with pytest.raises(AmbiguousSymbolError) as caught:
        access.read_symbol("a.py", "f")
    assert caught.value.candidates == ("A.f", "B.f")
    assert [access.read_symbol("a.py", name).line for name in caught.value.candidates] == [2, 4]
    assert access.read_symbol("a.py", "f[2]").qualified_name == "B.f"


def test_references_are_code_and_neither_strings_nor_comments(access: SmartFileAccess) -> None:
    found = access.find_references("Cart")
    assert [(item.path, item.line, item.kind) for item in found] == [
        ("shop.py", 7, "definition"),
        ("shop.py", 27, "read"),
        ("shop.py", 31, "call"),
        ("app/caller.py", 1, "import"),
        ("app/caller.py", 4, "call"),
    ]
    assert format_references(found).startswith("5 by name in 2 files\nshop.py\n")


def test_an_open_buffer_wins_over_the_disk(access: SmartFileAccess) -> None:
    access.file_backend.set_overlay("shop.py", "class Basket: ...\n")
    assert [symbol.name for symbol in access.get_outline("shop.py")] == ["Basket"]
    assert access.read_file("shop.py") == "class Basket: ...\n"
    access.file_backend.remove_overlay("shop.py")
    assert [symbol.name for symbol in access.get_outline("shop.py")] == ["Cart", "load"]


def test_lines_count_from_one_and_include_both_ends(access: SmartFileAccess) -> None:
    assert access.read_lines("shop.py", 3, 4) == "import json\nfrom decimal import Decimal"


def test_what_may_not_be_read_says_why(access: SmartFileAccess, tmp_path: Path) -> None:
    with pytest.raises(OutsideWorkspaceError):
        access.read_file("../secret")
    with pytest.raises(OutsideWorkspaceError):
        access.read_file("/etc/passwd")
    with pytest.raises(IgnoredPathError, match=r"pattern '\*\.log' of \.gitignore"):
        access.read_file("build.log")
    with pytest.raises(MissingPathError, match=r"did you mean 'shop\.py'"):
        access.read_file("shp.py")
    assert access.read_file(str(tmp_path / "shop.py")) == SHOP


def test_a_page_of_text_goes_on_by_its_cursor(access: SmartFileAccess) -> None:
    page = access.read_text("shop.py", 3, 20, budget=300)
    assert (page.start, page.line_count) == (3, 31)
    assert page.cursor is not None
    rest = access.read_text("shop.py", 3, 20, cursor=page.cursor)
    assert rest.end == 20
    assert f"{page.text}\n{rest.text}" == access.read_lines("shop.py", 3, 20)


LINES = [f"    print({number})" for number in range(200)]
MOVED = "the text above has changed since the last page; this goes on where that ended"
CHANGED = "lines may be missing here or repeated; ask without a cursor to start again"


@pytest.mark.parametrize("name", ["", "run"])
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ([*LINES[:150], "    print()", *LINES[151:]], ""),
        (LINES[5:], MOVED),
        (["    print()", *LINES], MOVED),
        (["    print()", *LINES[1:]], MOVED),
        (LINES[5:150], CHANGED),
        (LINES[:3], CHANGED),
    ],
)
def test_a_page_after_a_change_skips_no_line_in_silence(
    access: SmartFileAccess, tmp_path: Path, name: str, changed: list[str], said: str
) -> None:
    def page(cursor: str | None) -> tuple[str, str, str | None]:
        if name:
            detail = access.read_symbol("long.py", name, budget=600, cursor=cursor)
            return detail.body, format_symbol(detail), detail.cursor
        text = access.read_text("long.py", budget=600, cursor=cursor)
        return text.text, format_file_text(text), text.cursor

    file = tmp_path / "long.py"
    file.write_text("\n".join(["def run():", *LINES]))
    first, _, cursor = page(None)
    shown = first.count("print")
    assert 5 < shown < 50
    file.write_text("\n".join(["def run():", *changed]))
    second, text, _ = page(cursor)
    assert (MOVED in text, CHANGED in text) == (said == MOVED, said == CHANGED)
    assert size_of(text) <= 600
    if said != CHANGED:
        assert second.startswith(LINES[shown])


def test_a_file_over_the_limit_that_has_changed_says_so_on_the_next_page(
    access: SmartFileAccess, tmp_path: Path
) -> None:
    (tmp_path / "big.txt").write_text("a line\n" * 700_000)
    cursor = access.read_text("big.txt", 9, 90, budget=300).cursor
    assert CHANGED not in access.read_text("big.txt", 9, 90, budget=300, cursor=cursor).note
    (tmp_path / "big.txt").write_text("a line\n" * 800_000)
    assert CHANGED in access.read_text("big.txt", 9, 90, budget=300, cursor=cursor).note


def test_some_lines_of_a_file_over_the_limit_are_a_page(
    access: SmartFileAccess, tmp_path: Path
) -> None:
    (tmp_path / "big.txt").write_text("a line\n" * 700_000)
    page = access.read_text("big.txt", 600_000, 600_001)
    assert (page.text, page.line_count) == ("a line\na line", 0)
    with pytest.raises(FileTooLargeError):
        access.read_text("big.txt")


@pytest.mark.parametrize(("start", "end"), [(0, 3), (5, 4)])
def test_a_range_that_cannot_be_is_refused(access: SmartFileAccess, start: int, end: int) -> None:
    with pytest.raises(InvalidArgumentError):
        access.read_text("shop.py", start, end)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda access: access.read_symbols("a.py", []), "names: is empty"),
        (lambda access: access.get_tree(depth=-1), "depth: must be 0 or more, not -1"),
        (lambda access: access.hover("a.py", 1, "f", seconds=-1), "seconds: must be 0 or more"),
        (lambda access: access.find_references("f", seconds=float("nan")), "seconds: must be 0"),
        (lambda access: access.read_symbol("a.py", "f", seconds=-1), "seconds: must be 0 or more"),
        (lambda access: access.read_lines("a.py", 2, 9), "start: a.py has 1 lines, none from 2 on"),
        (lambda access: access.grep(""), "pattern: is empty, which matches every line"),
    ],
)
def test_python_refuses_what_makes_no_sense_as_tools_do(
    tmp_path: Path, ask: Callable[[SmartFileAccess], object], said: str
) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    access = SmartFileAccess.for_workspace(tmp_path)
    with pytest.raises(InvalidArgumentError) as caught:
        ask(access)
    assert str(caught.value).startswith(said)


def test_what_is_no_file_of_a_workspace_is_not_to_be_listed_there() -> None:
    with pytest.raises(MissingPathError) as caught:
        SmartFileAccess.for_workspace("/nonexistent")
    assert str(caught.value) == "/nonexistent: no such file or folder"


def test_no_server_is_loaded_once_the_access_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(*_: object, **__: object) -> None:
        raise AssertionError("servers are loaded")

    monkeypatch.setattr("foldline.backends.lsp.LSPBackend", loaded)
    (tmp_path / "shop.py").write_text(SHOP)
    access = SmartFileAccess.for_workspace(tmp_path, language_servers=True)
    assert access.read_symbol("shop.py", "Cart.add").kind == "method"
    access.close()
    assert access.find_references("Cart").coverage == "complete"
    assert access.server_status() == ()
