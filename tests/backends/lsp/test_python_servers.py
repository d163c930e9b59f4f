"""References, definitions and more from real Python language servers."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.lsp import LSPBackend
from foldline.backends.lsp.servers import SERVERS
from foldline.backends.models import COMPLETE, References
from foldline.backends.text import format_references, format_symbol

pytestmark = pytest.mark.real

PATIENCE = 60.0

FILES = {
    "shop/__init__.py": "from shop.cart import Cart as Basket\n",
    "shop/cart.py": (
        "class Cart:\n"
        "    def total(self) -> int:\n"
        "        return 1\n"
        "\n"
        "\n"
        "def pay(cart: Cart) -> int:\n"
        "    return cart.total()\n"
    ),
    "shop/other.py": "class Report:\n    def total(self) -> int:\n        return 2\n",
    "main.py": (
        "from shop import Basket\n"
        "from shop.other import Report\n"
        "\n"
        "\n"
        "def run(anything):\n"
        "    note = '\N{GRINNING FACE}'; cart = Basket(); print(note, cart.total())\n"
        "    return anything.total() + Report().total()\n"
    ),
}


@pytest.fixture(params=["ty", pytest.param("basedpyright", marks=pytest.mark.slow)])
def access(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SmartFileAccess]:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    files = LocalFileBackend(tmp_path)
    server = [spec for spec in SERVERS if spec.name == request.param]
    backend = LSPBackend(files, seconds=PATIENCE, servers=server)
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), backend)
    yield access
    access.close()


def places(found: References, tier: str) -> list[tuple[str, int]]:
    return sorted((reference.path, reference.line) for reference in found if reference.tier == tier)


def test_a_method_is_told_from_its_namesakes_and_dynamic_calls_stay_possible(
    access: SmartFileAccess,
) -> None:
    found = access.find_references("Cart.total", seconds=PATIENCE)
    assert found.coverage == COMPLETE
    assert places(found, "confirmed") == [("main.py", 6), ("shop/cart.py", 2), ("shop/cart.py", 7)]
    assert places(found, "possible") == [("main.py", 7)]
    assert places(found, "another") == [("main.py", 7), ("shop/other.py", 2)]
    assert (found.confirmed, found.possible, found.total, found.files) == (3, 3, 6, 3)
    text = format_references(found)
    assert text.startswith("3 confirmed, 3 possible in 3 files\nconfirmed:")


def test_a_use_under_an_alias_is_found(access: SmartFileAccess) -> None:
    found = access.find_references("Cart", seconds=PATIENCE)
    assert ("shop/cart.py", 6) in places(found, "confirmed")
    assert ("shop/__init__.py", 1) in places(found, "confirmed")
    # What a server leaves out is found by the other name.
    assert {("main.py", 1), ("main.py", 6)} <= {(use.path, use.line) for use in found}


def test_the_scope_limits_what_is_shown_and_not_where_the_definition_is_looked_for(
    access: SmartFileAccess,
) -> None:
    found = access.find_references("Cart.total", "main.py", seconds=PATIENCE)
    assert places(found, "confirmed") == [("main.py", 6)]
    assert {reference.path for reference in found} == {"main.py"}


def test_columns_count_characters_whatever_the_server_counts(access: SmartFileAccess) -> None:
    found = access.find_references("Cart.total", "main.py", seconds=PATIENCE)
    [use] = [reference for reference in found if reference.tier == "confirmed"]
    assert use.context[use.column - 1 : use.column_end - 1] == "total"


def test_a_symbol_that_a_file_imports_is_shown_from_where_it_is_defined(
    access: SmartFileAccess,
) -> None:
    detail = access.read_symbol("main.py", "Report.total", seconds=PATIENCE)
    assert (detail.path, detail.line) == ("shop/other.py", 2)
    assert "(defined in shop/other.py, shown from there)" in format_symbol(detail)


def test_an_edit_a_new_file_and_a_deleted_one_are_in_the_next_answer(
    access: SmartFileAccess,
) -> None:
    before = access.find_references("Cart.total", seconds=PATIENCE)
    assert before.confirmed == 3
    root = access.file_backend.root
    (root / "new.py").write_text("from shop.cart import Cart\nCart().total()\n", encoding="utf-8")
    (root / "main.py").unlink()
    found = access.find_references("Cart.total", seconds=PATIENCE)
    assert places(found, "confirmed") == [("new.py", 2), ("shop/cart.py", 2), ("shop/cart.py", 7)]
    (root / "new.py").write_text("", encoding="utf-8")
    found = access.find_references("Cart.total", seconds=PATIENCE)
    assert places(found, "confirmed") == [("shop/cart.py", 2), ("shop/cart.py", 7)]


def test_an_open_buffer_wins_over_the_disk(access: SmartFileAccess) -> None:
    files = access.file_backend
    files.set_overlay("main.py", "\n\nfrom shop.cart import Cart\nCart().total()\n")
    found = access.find_references("Cart.total", seconds=PATIENCE)
    assert places(found, "confirmed") == [
        ("main.py", 4),
        ("shop/cart.py", 2),
        ("shop/cart.py", 7),
    ]
    files.remove_overlay("main.py")
    found = access.find_references("Cart.total", seconds=PATIENCE)
    assert ("main.py", 6) in places(found, "confirmed")


def test_places_can_be_asked_about(access: SmartFileAccess) -> None:
    definition = access.goto_definition("main.py", 6, "total", seconds=PATIENCE)
    assert [(location.path, location.line) for location in definition.locations] == [
        ("shop/cart.py", 2)
    ]
    hover = access.hover("shop/cart.py", 7, "total", seconds=PATIENCE)
    assert "int" in hover.text
    root = access.file_backend.root
    (root / "bad.py").write_text("def f() -> int:\n    return missing_name\n", encoding="utf-8")
    problems = access.diagnostics("bad.py", seconds=PATIENCE)
    assert [
        diagnostic.line
        for diagnostic in problems.diagnostics
        if "missing_name" in diagnostic.message
    ] == [2]


def test_a_setting_that_hides_files_is_named(access: SmartFileAccess) -> None:
    (access.file_backend.root / "pyproject.toml").write_text(
        "[tool.ty.src]\ninclude = ['shop']\n[tool.basedpyright]\ninclude = ['shop']\n"
    )
    found = access.find_references("Cart.total", seconds=PATIENCE)
    assert "may not see every file" in found.reason
    assert ("main.py", 6) in places(found, "possible") + places(found, "confirmed")


def test_the_status_shows_the_server_at_work(access: SmartFileAccess) -> None:
    assert access.server_status() == ()
    access.find_references("Cart.total", seconds=PATIENCE)
    [status] = access.server_status()
    assert (status.state, status.restarts, status.pending) == ("ready", 0, 0)
    assert status.pid is not None
    assert status.latency is not None


def test_a_restart_stops_the_server_and_the_next_question_starts_another(
    access: SmartFileAccess,
) -> None:
    access.find_references("Cart.total", seconds=PATIENCE)
    [before] = access.server_status()
    assert before.pid is not None
    assert access.restart_servers("no such server") == ()
    [stopped] = access.restart_servers(before.name)
    assert (stopped.name, stopped.pid) == (before.name, before.pid)
    assert not psutil.pid_exists(before.pid)
    assert access.server_status() == ()
    assert access.find_references("Cart.total", seconds=PATIENCE).confirmed == 3
    [after] = access.server_status()
    assert after.pid != before.pid
    assert (after.state, after.restarts) == ("ready", 1)
