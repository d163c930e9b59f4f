"""The verbs that read code, in a folder with no set-up."""

import json
from pathlib import Path

import pytest

from foldline.agent.cli import main

SHOP = '''class Cart:
    """What a customer wants."""

    def total(self) -> int:
        return sum(self.prices)


def checkout(cart: Cart) -> int:
    return cart.total()
'''


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "shop.py").write_text(SHOP, encoding="utf-8")
    (root / "secret.log").write_text("token\n", encoding="utf-8")
    (root / ".gitignore").write_text("*.log\n", encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    return root


def test_tree_counts_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree"]) == 0
    assert capsys.readouterr().out.startswith("./ 2 files, ")


def test_outline_lists_definitions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["outline", "shop.py"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "shop.py (python, 9 lines)",
        "1-5 class Cart  # What a customer wants.",
        "  4-5 def total(self) -> int",
        "8-9 def checkout(cart: Cart) -> int",
    ]


def test_symbol_shows_one_definition(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symbol", "shop.py", "Cart.total"]) == 0
    assert capsys.readouterr().out == (
        "shop.py:4-5 Cart.total\n"
        "    def total(self) -> int:\n"
        "        return sum(self.prices)\n"
    )  # fmt: skip


def test_refs_name_kind_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refs", "Cart", "--seconds", "0"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 by name in 1 file",
        "shop.py",
        "  1 definition: class Cart:",
        "  8 read: def checkout(cart: Cart) -> int:",
    ]


@pytest.mark.real
def test_refs_are_confirmed_by_a_language_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refs", "Cart.total", "--seconds", "60", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["backend"], found["confirmed"], found["possible"]) == ("ty+ast", 2, 0)


@pytest.mark.real
def test_a_symbol_that_is_imported_is_shown_from_where_it_is_defined(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "main.py").write_text("from shop import Cart as Basket\n", encoding="utf-8")
    assert main(["symbol", "main.py", "Basket.total", "--seconds", "60"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "shop.py:4-5 Cart.total",
        "(defined in shop.py, shown from there)",
    ]
    assert main(["symbol", "main.py", "Basket", "--seconds", "0"]) == 1
    assert "has no symbol 'Basket'" in capsys.readouterr().err


@pytest.mark.real
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["definition", "shop.py:9", "total"], ["shop.py", "  4: def total(self) -> int:"]),
        (["definition", "shop.py:9:18"], ["shop.py", "  4: def total(self) -> int:"]),
        (["hover", "shop.py", "checkout"], ["def checkout(cart: Cart) -> int"]),
        (["implementations", "shop.py", "Cart"], ["basket.py", "  2: class Basket(Cart): ..."]),
        (["calls", "shop.py", "Cart.total"], ["called by:", "  checkout shop.py:8, on line 9"]),
        # Each of its overloads has those callers, and the last one a body.
        (
            ["calls", "basket.py", "pay"],
            [
                "basket.py:5 pay",
                "called by:",
                "  use basket.py:9, on line 9",
                "calls:",
                "  checkout shop.py:8, on line 8",
            ],
        ),
    ],
)
def test_a_language_server_is_asked_about_a_symbol(
    arguments: list[str], shown: list[str], workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "from shop import *\nclass Basket(Cart): ...\nfrom typing import overload\n"
        "@overload\ndef pay(a: int) -> int: ...\n@overload\ndef pay(a: Cart) -> int: ...\n"
        "def pay(a): return checkout(a)\ndef use(): return pay(1)\n"
    )
    (workspace / "basket.py").write_text(text, encoding="utf-8")
    assert main([*arguments, "--seconds", "60", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["backend"], answer["coverage"]) == ("ty", "complete")
    assert main([*arguments, "--seconds", "60"]) == 0
    assert capsys.readouterr().out.splitlines()[1 : len(shown) + 1] == shown


def test_without_a_server_a_symbol_is_known_by_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["calls", "shop.py", "Cart.total", "--seconds", "0"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "shop.py:4 total",
        "called by:",
        "  checkout shop.py:8, on line 9",
        "(no language server was asked; whom it calls is not known)",
        "(partial: by name alone, from syntax trees)",
    ]
    assert main(["implementations", "shop.py", "checkout", "--seconds", "0"]) == 1
    assert "none found by name in 1 .py file that has 'checkout' in code" in capsys.readouterr().out


@pytest.mark.real
def test_diagnostics_are_clean_or_not_or_not_known(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "clean.py").write_text("x = 1\n", encoding="utf-8")
    assert main(["diagnostics", "clean.py", "--seconds", "60"]) == 0
    assert capsys.readouterr().out.startswith("clean.py: no problem is known\n")
    assert main(["diagnostics", "shop.py", "--seconds", "60"]) == 1
    assert "  5:20 error: " in capsys.readouterr().out
    assert main(["diagnostics", "clean.py", "--seconds", "0"]) == 2
    assert "no language server answered" in capsys.readouterr().out


def test_lines_and_read_say_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lines", "shop.py", "8-9"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("shop.py:8-9 of 9 lines\ndef checkout(")
    assert main(["read", "shop.py", "--budget", "200"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("shop.py:1-")
    assert "ask with cursor text@" in page


def test_a_cursor_goes_on_where_the_page_ended(capsys: pytest.CaptureFixture[str]) -> None:
    cursor: list[str] = []
    text = ""
    while True:
        assert main(["read", "shop.py", "--budget", "185", "--json", *cursor]) == 0
        page = json.loads(capsys.readouterr().out)
        text += page["text"] + "\n"
        if page["cursor"] is None:
            break
        cursor = ["--cursor", page["cursor"]]
    assert text == SHOP


def test_a_person_at_a_terminal_sees_the_numbers_of_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["lines", "shop.py", "1-2"]) == 0
    shown = capsys.readouterr().out.splitlines()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert main(["lines", "shop.py", "1-2"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert [head, *(line[3:] for line in lines)] == shown
    assert [line[:3] for line in lines] == ["1  ", "2  "]


def test_search_names_the_definitions_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "Cart"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "shop.py: Cart 1-5, checkout 8-9, Cart.total 4-5",
    ]


def test_grep_shows_lines_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grep", r"return \w+", "*.py", "-C", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 lines in 1 file",
        "shop.py",
        "  4-     def total(self) -> int:",
        "  5:         return sum(self.prices)",
        "  6- ",
        "  8- def checkout(cart: Cart) -> int:",
        "  9:     return cart.total()",
    ]


@pytest.mark.parametrize(
    "arguments", [["refs", "Nothing", "--seconds", "0"], ["grep", "nothing"], ["search", "nothing"]]
)
def test_finding_nothing_is_status_one_and_says_why(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    assert "(no " in capsys.readouterr().out


@pytest.mark.real
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["symbol", "shop.py", "Cart.totl"], 1, "did you mean 'Cart.total'"),
        (["definition", "shop.py", "chekout"], 1, "did you mean 'checkout'"),
        (["hover", "shop.py:9", "totl"], 2, "did you mean 'total'"),
        (["calls", "shop.py:10"], 2, "has the lines 1 to 9"),
        (["diagnostics", "shp.py"], 2, "did you mean 'shop.py'"),
        (["outline", "shp.py"], 2, "did you mean 'shop.py'"),
        (["read", "../elsewhere"], 2, "is outside the workspace"),
        (["read", "secret.log"], 2, "is ignored by the pattern '*.log' of .gitignore"),
        (["grep", "(zz"], 2, "missing )"),
        (["tree", "--root", "nowhere"], 2, "foldline tree: nowhere: no such file or folder\n"),
        (["read", "zzzz"], 2, "; list what exists with `foldline tree`\n"),
        (["read", "secret.log"], 2, "; ask again with --no-ignore\n"),
    ],
)
def test_a_question_that_cannot_be_answered_says_what_to_do(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    assert message in capsys.readouterr().err


def test_no_ignore_reads_what_is_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "secret.log", "--no-ignore"]) == 0
    assert "token" in capsys.readouterr().out
    assert main(["grep", "token", "--no-ignore"]) == 0


def test_json_is_the_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["outline", "shop.py", "--json"]) == 0
    outline = json.loads(capsys.readouterr().out)
    assert [symbol["name"] for symbol in outline["symbols"]] == ["Cart", "checkout"]
    assert (outline["backend"], outline["coverage"]) == ("ast", "complete")


def test_what_else_is_asked_of_a_name_is_a_verb_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["refs", "Cart.total", "--relation", "calls"]) == 2
    assert "takes no '--relation'" in capsys.readouterr().err


def test_a_range_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lines", "shop.py", "first"]) == 2
    assert "START-END" in capsys.readouterr().err


def test_a_context_is_packed_for_files_or_a_question(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["context", "--paths", "shop.py"]) == 0
    assert capsys.readouterr().out.startswith("shop.py:1-9 of 9 lines\n")
    assert main(["context", "How", "is the total computed?"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("shop.py:")
    assert "Cart.total\n" in shown
    assert main(["context", "How is the total computed?", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [one["qualified_name"] for one in data["symbols"]] == ["Cart.total"]
    assert main(["context", "zebra"]) == 1
    assert main(["context"]) == 2
    assert "query: give a question, or `paths` of files" in capsys.readouterr().err


def test_lines_takes_two_numbers_for_a_range(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lines", "shop.py", "4", "5"]) == 0
    spaced = capsys.readouterr().out
    assert spaced.startswith("shop.py:4-5 of 9 lines\n")
    assert main(["lines", "shop.py", "4-5"]) == 0
    assert capsys.readouterr().out == spaced
    assert main(["lines", "shop.py", "4-5", "8"]) == 2
    assert "4-5 is a range: leave out 8" in capsys.readouterr().err


def test_a_context_names_no_tool_where_a_file_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["context", "--paths", "nope.go"])
    assert capsys.readouterr().out == "(nope.go: no such file or folder)\n"
