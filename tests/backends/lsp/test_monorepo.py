"""Several projects in one workspace, each with a configuration, and a server, of its own."""

from pathlib import Path

import pytest

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.lsp import LSPBackend
from foldline.backends.lsp.pool import MAX_OTHER_PROJECTS
from foldline.backends.models import COMPLETE, References

from .programs import spec_from_npm, spec_of

pytestmark = pytest.mark.real

PATIENCE = 60.0
SETTINGS = """\
[tool.ty.environment]
extra-paths = ["../cart"]
[tool.basedpyright]
extraPaths = ["../cart"]
"""
PYTHON = {
    "cart/pyproject.toml": "",
    "cart/cart.py": "class Cart:\n    def total(self) -> int:\n        return 1\n",
    "shop/pyproject.toml": SETTINGS,
    "shop/main.py": "from cart import Cart\n\nCart().total()\n\n\ndef f(it):\n    it.total()\n",
}
SCRIPT = {
    "cart/tsconfig.json": "{}",
    "cart/cart.ts": "export class Cart {\n  total() { return 1; }\n}\n",
    "shop/tsconfig.json": "{}",
    "shop/main.ts": "import { Cart } from '../cart/cart';\n\nnew Cart().total();\n\n\n"
    "export function f(it: any) { it.total(); }\n",
}


def find(
    root: Path, server: str, files: dict[str, str], symbol: str = "Cart.total"
) -> tuple[References, int]:
    """The references to the symbol, and how many servers were asked."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    local = LocalFileBackend(root)
    spec = spec_from_npm(server) if ".ts" in "".join(files) else spec_of(server)
    backend = LSPBackend(local, trusted=True, seconds=PATIENCE, servers=[spec], jedi=False)
    access = SmartFileAccess(local, ASTFileAnalysisBackend(local), backend)
    try:
        return access.find_references(symbol, seconds=PATIENCE), len(access.server_status())
    finally:
        access.close()


@pytest.mark.parametrize(
    ("server", "files"),
    [
        ("ty", PYTHON),
        pytest.param("basedpyright", PYTHON, marks=pytest.mark.slow),
        pytest.param("typescript-language-server", SCRIPT, marks=pytest.mark.slow),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_uses_in_another_project_are_confirmed_by_its_own_server(
    server: str, files: dict[str, str], tmp_path: Path
) -> None:
    found, servers = find(tmp_path, server, files)
    confirmed = [
        (reference.path, reference.line) for reference in found if reference.tier == "confirmed"
    ]
    ending = "ts" if files is SCRIPT else "py"
    assert confirmed == [(f"cart/cart.{ending}", 2), (f"shop/main.{ending}", 3)]
    assert (found.possible, found.coverage, servers) == (1, COMPLETE, 2)


PACKAGE = {
    "home/__init__.py": "",
    "home/setup.py": "from home.core import Core\n",
    "home/core.py": "class Core: ...\n",
    "home/parts/light.py": "from home.core import Core\n\n\ndef f(core: Core) -> None: ...\n",
    "tests/test_core.py": "from home.core import Core\n\nCore()\n",
}


def test_a_module_of_a_package_that_is_called_as_a_root_marker_is_none(tmp_path: Path) -> None:
    found, servers = find(tmp_path, "ty", PACKAGE, "Core")
    assert (found.confirmed, found.possible, found.coverage, servers) == (6, 0, COMPLETE, 1)


def test_projects_beyond_the_limit_are_said_not_to_have_been_asked(tmp_path: Path) -> None:
    shops = range(MAX_OTHER_PROJECTS + 2)
    files = {
        f"shop{number}/{name.partition('/')[2]}": text
        for number in shops
        for name, text in PYTHON.items()
        if name.startswith("shop/")
    }
    carts = {name: text for name, text in PYTHON.items() if name.startswith("cart/")}
    found, servers = find(tmp_path, "ty", {**carts, **files})
    assert servers == 1 + MAX_OTHER_PROJECTS
    assert found.confirmed == 1 + MAX_OTHER_PROJECTS
    assert found.coverage == "partial: 2 more projects with that name were not asked"


def test_a_project_without_the_name_is_left_alone(tmp_path: Path) -> None:
    files = {**PYTHON, "shop/main.py": "from cart import Cart\n\nCart()\n"}
    assert find(tmp_path, "ty", files)[1] == 1
