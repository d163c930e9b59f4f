"""Verbs about a symbol take a name or a place, resolved in one way."""

import contextlib
import json
from pathlib import Path

import pytest

from foldline.agent.cli import main

from .verbs import run

FILES = {
    "shop.py": '''LIMIT = 3

class Cart:
    """What a customer wants."""

    def total(self) -> int:
        return sum(self.prices)

def checkout(cart: Cart) -> int:
    return cart.total()
''',
    "depot.py": """class Order:
    def total(self) -> int:
        return 0
""",
    "notes.md": "# About the shop\n\nCarts.\n",
}
NOBODY = "no calls found by name; no language server was asked; whom it calls is not known"
SECONDS = ("--seconds", "0")


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    return root


def first_lines(*words: str) -> list[str]:
    status, out, _ = run(*words, *SECONDS)
    assert status == 0
    return out.splitlines()[:2]


@pytest.mark.parametrize(
    "subject", ["checkout", "shop.py:9", "shop.py:9:6", "./shop.py:9", "shop.py:9:5"]
)
@pytest.mark.parametrize(
    ("verb", "lines"),
    [
        ("definition", ["shop.py:9 checkout: 1 definition", "shop.py"]),
        ("hover", ["shop.py:9 checkout", "shop.py:9-10 def checkout(cart: Cart) -> int"]),
        ("calls", ["shop.py:9 checkout", f"({NOBODY})"]),
        ("refs", ["1 by name in 1 file", "shop.py"]),
        ("symbol", ["shop.py:9-10 checkout", "def checkout(cart: Cart) -> int:"]),
    ],
)
def test_each_verb_takes_a_name_or_a_place(
    verb: str, subject: str, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([verb, subject, *SECONDS])
    shown = capsys.readouterr().out.splitlines()
    if verb == "refs" and ":" in subject:
        assert shown.pop(0) == f"{subject} is checkout"
    assert shown[:2] == lines
    # By syntax trees alone no caller is found.
    assert status == (1 if verb == "calls" else 0)


def test_implementations_take_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    main(["implementations", "Cart", *SECONDS])
    assert capsys.readouterr().out.startswith("shop.py:3 Cart\n(none found by name in 1 .py file ")


def test_a_method_is_named_with_its_class_or_alone() -> None:
    assert first_lines("symbol", "Order.total")[0] == "depot.py:2-3 Order.total"
    assert first_lines("symbol", "Cart.total")[0] == "shop.py:6-7 Cart.total"


def test_a_name_with_several_definitions_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hover", "total", *SECONDS]) == 2
    assert capsys.readouterr().err == (
        "foldline hover: 'total' has 2 definitions:\n"
        "  depot.py:2 Order.total: def total(self) -> int\n"
        "  shop.py:6 Cart.total: def total(self) -> int\n"
        "name one by its place, such as depot.py:2\n"
    )
    assert main(["symbol", "total", "--json", "--budget", "150", *SECONDS]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "ambiguous"
    assert error["candidates"] == [
        "depot.py:2 Order.total: def total(self) -> int",
        "shop.py:6 Cart.total: def total(self) -> int",
    ]


def test_a_few_small_definitions_of_one_name_are_all_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["symbol", "total", *SECONDS]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if ":" in line[:9]] == [
        "depot.py:2-3 Order.total",
        "shop.py:6-7 Cart.total",
    ]


def test_an_inherited_property_is_shown_with_all_its_parts(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "box.py").write_text(
        "class Box:\n    @property\n    def lid(self): ...\n"
        "    @lid.setter\n    def lid(self, new): ...\n"
        "class Crate(Box): ...\n"
    )
    assert main(["symbol", "Crate.lid", *SECONDS]) == 0
    shown = capsys.readouterr().out
    assert "(Crate.lid is Box.lid, box.py 3)" in shown
    assert "def lid(self): ..." in shown
    assert "def lid(self, new): ..." in shown


def test_a_variable_and_a_heading_have_names_too() -> None:
    assert first_lines("definition", "LIMIT")[0] == "shop.py:1 LIMIT: 1 definition"
    assert first_lines("symbol", "notes.md:3")[0] == "notes.md:1-3 About the shop"


def test_a_line_within_a_definition_is_that_of_the_symbol_around_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert first_lines("symbol", "shop.py:7")[0] == "shop.py:6-7 Cart.total"
    assert main(["symbol", "shop.py:2", *SECONDS]) == 1
    assert "nothing here defines 'shop.py:2'; did you mean 'Cart'?" in capsys.readouterr().err


def test_a_column_is_that_of_an_identifier_whose_definition_is_shown() -> None:
    assert first_lines("symbol", "shop.py:9:20")[0] == "shop.py:3-7 Cart"


def test_symbols_of_several_files_are_shown_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symbol", "checkout", "Order", *SECONDS]) == 0
    shown = capsys.readouterr().out
    assert "shop.py:9-10 checkout\n" in shown
    assert "depot.py:1-3 Order\n" in shown
    assert main(["symbol", "shop.py", "checkout", "Cart.total", *SECONDS]) == 0
    assert "shop.py:6-7 Cart.total\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["hover", "chekout"], 1, "nothing here defines 'chekout'; did you mean 'checkout'?"),
        (["symbol", "Crat"], 1, "nothing here defines 'Crat'"),
        (["definition", "shp.py"], 2, "shp.py: no such file or folder; did you mean 'shop.py'?"),
        (["definition", "shp.py", "Cart"], 2, "did you mean 'shop.py'?"),
        (["calls", "shop.py:99"], 2, "shop.py has the lines 1 to 10"),
        (["symbol", "no such name"], 1, "nothing here defines 'no such name'"),
    ],
)
def test_what_is_not_there_is_told_with_near_names(
    words: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *SECONDS]) == status
    assert message in capsys.readouterr().err


def test_refs_of_an_unknown_name_suggest_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refs", "chekout", *SECONDS]) == 1
    assert "did you mean 'checkout'?)" in capsys.readouterr().out


DIGITS = "9" * 5_000


@pytest.mark.parametrize(
    "words",
    [
        *(
            [*verb.split(), "--cursor", f"{kind}@{digits}"]
            for verb, kind in [
                ("grep x", "grep"),
                ("search total", "search"),
                ("tree", "tree"),
                ("refs total", "references"),
                ("read shop.py", "text"),
            ]
            for digits in (DIGITS, "0" * 5_000)
        ),
        ["symbol", "shop.py", f"checkout[{DIGITS}]"],
        ["symbol", f"checkout[{DIGITS}]"],
        ["hover", f"checkout[{DIGITS}]"],
        ["definition", f"shop.py:{DIGITS}"],
        ["refs", f"shop.py:3:{DIGITS}"],
        ["lines", "shop.py", f"1-{DIGITS}"],
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_a_number_that_python_cannot_read_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.suppress(SystemExit):
        assert main(words) in (1, 2)
    assert "report it" not in capsys.readouterr().err
