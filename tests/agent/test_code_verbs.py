"""`foldline tree|outline|symbol|refs|lines|read|search|grep` in a folder with no set-up."""

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
        "Cart: 2 references in 1 file",
        "shop.py",
        "  1 definition: class Cart:",
        "  8 read in checkout: def checkout(cart: Cart) -> int:",
    ]


def test_refs_are_confirmed_by_a_language_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refs", "Cart.total", "--seconds", "60", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["backend"], found["confirmed"], found["possible"]) == ("ty+ast", 2, 0)


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
        assert main(["read", "shop.py", "--budget", "160", "--json", *cursor]) == 0
        page = json.loads(capsys.readouterr().out)
        text += page["text"] + "\n"
        if page["cursor"] is None:
            break
        cursor = ["--cursor", page["cursor"]]
    assert text == SHOP


def test_search_explains_the_rank(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "Cart"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Cart: 1 file",
        "shop.py:1 (class Cart, line 1)",
    ]


def test_grep_shows_lines_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grep", r"return \w+", "*.py", "-C", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        r"return \w+: 2 lines in 1 file",
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


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["symbol", "shop.py", "Cart.totl"], 1, "did you mean 'Cart.total'"),
        (["outline", "shp.py"], 2, "did you mean 'shop.py'"),
        (["read", "../elsewhere"], 2, "is outside the workspace"),
        (["read", "secret.log"], 2, "is ignored by the pattern '*.log' of .gitignore"),
        (["grep", "("], 2, "missing )"),
        (["tree", "--root", "nowhere"], 2, "no such file or folder"),
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


def test_a_range_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["lines", "shop.py", "first"])
    assert caught.value.code == 2
    assert "START-END" in capsys.readouterr().err
