"""A server that is up is asked first, for outlines and definitions too, and is never in the way."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.backends.lsp.faulty import LIMITS, MATCHES, PATIENCE, Faulty

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.base.waiting import Waiting, coroutine_of
from foldline.backends.errors import SymbolNotFoundError
from foldline.backends.lsp import LSPBackend
from foldline.backends.lsp.lifecycle import Pause
from foldline.backends.text import format_outline

from .programs import spec_of

pytestmark = pytest.mark.real

SHOP = "def pay():\n    return 1\n"
SYMBOLS = "textDocument/documentSymbol"
SHORT = replace(LIMITS, symbols=0.05)


def symbol(
    name: str, kind: int, line: int, line_end: int, *, name_line: int | None = None, **more: Any
) -> dict[str, Any]:
    """A symbol as servers send it; lines count from 1, and the last one belongs to it."""

    def lines(first: int, last: int) -> dict[str, Any]:
        start, end = {"line": first - 1, "character": 0}, {"line": last - 1, "character": 1}
        return {"start": start, "end": end}

    own = line if name_line is None else name_line
    ranges = {"range": lines(line, line_end), "selectionRange": lines(own, own)}
    return {"name": name, "kind": kind, **ranges, **more}


def started(folder: Path, way: str, answer: object = (), limits: Any = SHORT) -> Faulty:
    """A workspace whose server is up, and answers questions about symbols like that."""
    faulty = Faulty(folder, way, limits)
    (faulty.state / "symbols.json").write_text(json.dumps(answer))
    assert faulty.access.find_references("pay", seconds=PATIENCE).backend == "faulty+ast"
    return faulty


def check_trees_answer(faulty: Faulty) -> None:
    """Check that all three methods answer without the server."""
    outline = faulty.access.get_outline("shop.py")
    assert [(found.name, found.line, found.line_end) for found in outline] == [("pay", 1, 2)]
    assert outline.backend == "ast"
    detail = faulty.access.read_symbol("shop.py", "pay")
    assert (detail.body, detail.backend) == (SHOP.rstrip(), "ast")
    found = faulty.access.find_references("pay", seconds=PATIENCE)
    assert sorted((use.path, use.line) for use in found) == MATCHES


def test_a_server_that_is_up_answers_first(tmp_path: Path) -> None:
    faulty = started(tmp_path, "symbols", [symbol("pay", 12, 1, 2)], LIMITS)
    assert faulty.access.get_outline("shop.py").backend == "faulty+ast"
    assert faulty.access.read_symbol("shop.py", "pay").backend == "faulty+ast"
    assert faulty.notes("requests").count(SYMBOLS) == 1
    assert faulty.access.read_symbol("shop.py", "pay", seconds=0).backend == "ast"
    faulty.access.close()


def test_a_changed_text_is_asked_about_anew(tmp_path: Path) -> None:
    faulty = started(tmp_path, "symbols", [symbol("pay", 12, 1, 2)], LIMITS)
    assert faulty.access.get_outline("shop.py").backend == "faulty+ast"
    (faulty.root / "shop.py").write_text(f"\n{SHOP}")
    (faulty.state / "symbols.json").write_text(json.dumps([symbol("pay", 12, 2, 3)]))
    outline = faulty.access.get_outline("shop.py")
    assert (outline.symbols[0].line, outline.backend) == (2, "faulty+ast")
    assert faulty.notes("requests").count(SYMBOLS) == 2
    faulty.access.close()


def test_what_the_tree_lost_is_added_and_can_be_read(tmp_path: Path) -> None:
    answer = [symbol("pay", 12, 1, 2), symbol("Cart", 5, 4, 6)]
    faulty = started(tmp_path, "symbols", answer, LIMITS)
    code = f"{SHOP}\nmacro Cart(:\n    one\n    two\n"
    (faulty.root / "shop.py").write_text(code)
    with pytest.raises(SymbolNotFoundError):
        faulty.access.read_symbol("shop.py", "Cart", seconds=0)
    detail = faulty.access.read_symbol("shop.py", "Cart")
    assert (detail.body, detail.kind) == ("macro Cart(:\n    one\n    two", "class")
    assert detail.backend == "faulty+ast"
    faulty.access.close()


@pytest.mark.parametrize("way", ["symbols: dies", "symbols: garbage", "symbols: refuses"])
def test_a_server_that_fails_costs_nothing(way: str, tmp_path: Path) -> None:
    faulty = started(tmp_path, way, limits=LIMITS)
    check_trees_answer(faulty)
    check_trees_answer(faulty)
    faulty.access.close()
    assert not faulty.living()


def test_a_hung_server_is_waited_for_once_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.backends.lsp.lifecycle._FIRST_PAUSE", PATIENCE)
    faulty = started(tmp_path, "symbols: hangs")
    for name in ("shop.py", "main.py", "shop.py", "main.py"):
        assert faulty.access.get_outline(name).backend == "ast"
    check_trees_answer(faulty)
    assert faulty.notes("requests").count(SYMBOLS) == 1
    faulty.access.close()
    assert not faulty.living()


def test_a_late_answer_is_there_the_next_time(tmp_path: Path) -> None:
    faulty = started(tmp_path, "symbols: late", [symbol("pay", 12, 1, 2)])
    assert faulty.access.get_outline("shop.py").backend == "ast"
    (faulty.state / "go").touch()
    # The server answers in turn.
    faulty.access.find_references("shop", seconds=PATIENCE)
    assert faulty.access.get_outline("shop.py").backend == "faulty+ast"
    assert faulty.notes("requests").count(SYMBOLS) == 1
    faulty.access.close()


def test_waiting_holds_no_thread(tmp_path: Path) -> None:
    faulty = started(tmp_path, "symbols: hangs")
    for question in (
        coroutine_of(faulty.access.get_outline)("shop.py"),
        coroutine_of(faulty.access.read_symbol)("main.py", "shop"),
    ):
        waiting = question.send(None)
        assert isinstance(waiting, Waiting)
        assert waiting.seconds is not None
        assert waiting.seconds <= SHORT.symbols
        question.close()
    faulty.access.close()


LIES = {
    "outside the file": [symbol("pay", 12, 1, 900)],
    "below the file": [symbol("pay", 12, 900, 901)],
    "a name outside its range": [symbol("pay", 12, 1, 1, name_line=2)],
    "upside down": [symbol("pay", 12, 2, 1)],
    "a child outside its parent": [
        symbol("pay", 12, 1, 1, children=[symbol("x", 13, 2, 2)]),
    ],
    "of another text": [symbol("gone", 5, 1, 2), symbol("left", 12, 2, 2)],
    "not a list": {"name": "pay"},
    "of nonsense": ["pay", None, {}, {"name": 7}, {"name": "pay", "kind": "x", "range": []}],
    "negative": [symbol("pay", 12, -3, 2)],
    "empty": [],
    "null": None,
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_server_is_not_believed(lie: str, tmp_path: Path) -> None:
    faulty = started(tmp_path, "symbols", LIES[lie], LIMITS)
    check_trees_answer(faulty)
    assert SYMBOLS in faulty.notes("requests")
    faulty.access.close()


def test_noise_of_a_server_makes_no_outline_longer(tmp_path: Path) -> None:
    locals_ = [symbol(name, 13, 2, 2) for name in ("return", "a", "b")]
    inner = [symbol("inner", 12, 1, 2), *locals_]
    answer = [symbol("pay", 12, 1, 2, children=inner), symbol("1", 13, 2, 2)]
    faulty = started(tmp_path, "symbols", answer, LIMITS)
    outline = faulty.access.get_outline("shop.py")
    assert outline.backend == "faulty+ast"
    assert format_outline(outline) == "shop.py (python, 2 lines)\n1-2 def pay()"
    faulty.access.close()


def test_no_server_is_started_for_an_outline_or_a_definition(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "symbols")
    assert faulty.access.get_outline("shop.py").backend == "ast"
    assert faulty.access.read_symbol("shop.py", "pay").backend == "ast"
    assert faulty.access.server_status() == ()
    assert faulty.notes("pids") == []
    faulty.access.close()


def test_a_server_that_reads_the_project_is_not_asked(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "symbols: works", replace(LIMITS, quiet=PATIENCE))
    faulty.access.find_references("pay", seconds=0.2)
    assert faulty.access.get_outline("shop.py").backend == "ast"
    assert SYMBOLS not in faulty.notes("requests")
    faulty.access.close()


@pytest.mark.parametrize(("value", "backend"), [("server", "faulty+ast"), ("syntax", "ast")])
def test_a_project_chooses_who_is_asked(value: str, backend: str, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    setting = f'[tool.foldline.lsp]\noutlines = "{value}"\n'
    (tmp_path / "workspace/pyproject.toml").write_text(setting)
    faulty = started(tmp_path, "symbols", [symbol("pay", 12, 1, 2)], LIMITS)
    assert faulty.access.get_outline("shop.py").backend == backend
    assert faulty.access.read_symbol("shop.py", "pay").backend == backend
    assert faulty.backend.configuration_problems == ()
    faulty.access.close()


@pytest.mark.parametrize("value", ['"tree"', "7", "['server']", "{a = 1}"])
def test_any_other_choice_is_a_mistake(value: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.foldline.lsp]\noutlines = {value}\n")
    backend = LSPBackend(LocalFileBackend(tmp_path))
    [problem] = backend.configuration_problems
    assert "tool.foldline.lsp.outlines: expected one of server, syntax, got " in problem
    backend.close()


def test_each_late_answer_doubles_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("foldline.backends.lsp.lifecycle.time.monotonic", lambda: now)
    pause = Pause()
    lengths = []
    for _ in range(7):
        assert not pause.is_on
        pause.begin()
        start = now
        while pause.is_on:
            pause.begin()
            now += 0.5
        lengths.append(now - start)
    assert lengths == [1, 2, 4, 8, 16, 30, 30]
    pause.forget()
    pause.begin()
    now += 1
    assert not pause.is_on


CODE = '''"""Shops."""

import functools

LIMIT: int = 7


@functools.cache
def price(name: str) -> int:
    """Look it up."""
    total = len(name)
    return total


class Cart:
    """A cart."""

    size = 3

    @property
    def total(self) -> int:
        self.last = 1
        return self.size


def broken(:
    pass


def after(self):
    return 1
'''


@pytest.fixture
def ty(tmp_path: Path) -> Iterator[SmartFileAccess]:
    (tmp_path / "shop.py").write_text(CODE)
    (tmp_path / "pyproject.toml").write_text("")
    files = LocalFileBackend(tmp_path)
    limits = replace(LIMITS, grace=2.0)
    backend = LSPBackend(files, limits=limits, servers=[spec_of("ty")], jedi=False)
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), backend)
    yield access
    access.close()


def test_ty_and_the_tree_answer_together(ty: SmartFileAccess) -> None:
    alone = ty.get_outline("shop.py")
    assert alone.backend == "ast"
    assert ty.find_references("Cart", seconds=PATIENCE).backend == "ty+ast"
    outline = ty.get_outline("shop.py")
    assert outline.backend == "ty+ast"
    assert {found.name for found in alone} <= {found.name for found in outline}
    assert (outline.imports, outline.docstring) == (alone.imports, alone.docstring)
    price = next(found for found in outline if found.name == "price")
    assert (price.decorators, price.docstring) == (("functools.cache",), "Look it up.")
    assert (price.line, price.name_line, price.line_end) == (8, 9, 12)
    assert "last" not in format_outline(outline)
    detail = ty.read_symbol("shop.py", "Cart.total")
    assert (detail.backend, detail.decorators) == ("ty+ast", ("property",))
    assert detail.body.splitlines()[0] == "    @property"
    assert detail.body.splitlines()[-1] == "        return self.size"
