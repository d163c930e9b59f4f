"""References from real servers of other languages: TypeScript's from npm, C's from Debian."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.lsp import LSPBackend, ServerSpec
from foldline.backends.models import COMPLETE, References

from .programs import spec_from_npm, spec_of

pytestmark = pytest.mark.real

PATIENCE = 60.0
SCRIPTS = {
    "src/cart.ts": (
        "export class Cart {\n  total(): number {\n    return 1;\n  }\n}\n"
        "export function pay(cart: Cart): number {\n  return cart.total();\n}\n"
    ),
    "src/main.ts": (
        "import { Cart as Basket, pay } from './cart';\n"
        "const note = '\N{GRINNING FACE}'; pay(new Basket()); console.log(note);\n"
        "export function run(anything: any) {\n  return anything.total();\n}\n"
    ),
    "src/other.ts": "export class Report {\n  total() {\n    return 2;\n  }\n}\n",
}
SOURCES = {
    "cart.h": "struct cart { int total; };\nint pay(struct cart *cart);\n",
    "cart.c": '#include "cart.h"\n\nint pay(struct cart *cart) {\n  return cart->total;\n}\n',
    "main.c": (
        '#include "cart.h"\n\nint main(void) {\n  struct cart mine = {1};\n'
        "  return pay(&mine);\n}\n"
    ),
    "other.c": "static int pay(int total) {\n  return total;\n}\nint f(void) { return pay(1); }\n",
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def open_access(root: Path, spec: ServerSpec) -> SmartFileAccess:
    files = LocalFileBackend(root)
    backend = LSPBackend(files, trusted=True, seconds=PATIENCE, servers=[spec])
    return SmartFileAccess(files, ASTFileAnalysisBackend(files), backend)


def places(found: References, tier: str) -> list[tuple[str, int]]:
    return sorted((reference.path, reference.line) for reference in found if reference.tier == tier)


@pytest.fixture(scope="module")
def typescript() -> ServerSpec:
    """The server of the version in package.json."""
    return spec_from_npm("typescript-language-server")


@pytest.fixture(
    params=[True, pytest.param(False, marks=pytest.mark.slow)],
    ids=["with tsconfig.json", "without tsconfig.json"],
)
def scripts(
    request: pytest.FixtureRequest, tmp_path: Path, typescript: ServerSpec
) -> Iterator[SmartFileAccess]:
    write(tmp_path, SCRIPTS)
    if request.param:
        (tmp_path / "tsconfig.json").write_text("{}")
    access = open_access(tmp_path, typescript)
    yield access
    access.close()


def test_typescript_methods_are_told_from_their_namesakes(scripts: SmartFileAccess) -> None:
    found = scripts.find_references("Cart.total", seconds=PATIENCE)
    assert found.coverage == COMPLETE
    assert places(found, "confirmed") == [("src/cart.ts", 2), ("src/cart.ts", 7)]
    assert places(found, "possible") == [("src/main.ts", 4)]
    assert places(found, "another") == [("src/other.ts", 2)]
    # Columns count characters, not UTF-16.
    found = scripts.find_references("pay", seconds=PATIENCE)
    assert places(found, "confirmed") == [
        ("src/cart.ts", 6),
        ("src/main.ts", 1),
        ("src/main.ts", 2),
    ]
    for reference in found:
        assert reference.context[reference.column - 1 : reference.column_end - 1] == "pay"


def test_a_typescript_edit_is_in_the_next_answer(scripts: SmartFileAccess) -> None:
    assert scripts.find_references("pay", seconds=PATIENCE).confirmed == 3
    root = scripts.file_backend.root
    (root / "src/more.ts").write_text("import { pay } from './cart';\npay(null!);\n")
    (root / "src/main.ts").unlink()
    found = scripts.find_references("pay", seconds=PATIENCE)
    assert places(found, "confirmed") == [
        ("src/cart.ts", 6),
        ("src/more.ts", 1),
        ("src/more.ts", 2),
    ]


@pytest.fixture
def sources(tmp_path: Path, program: Callable[..., str]) -> Iterator[SmartFileAccess]:
    program("clangd")
    write(tmp_path, SOURCES)
    access = open_access(tmp_path, spec_of("clangd"))
    yield access
    access.close()


def test_c_functions_are_told_from_static_namesakes(sources: SmartFileAccess) -> None:
    found = sources.find_references("pay", "cart.c", seconds=PATIENCE)
    assert found.coverage == COMPLETE
    assert places(found, "confirmed") == [("cart.c", 3)]
    definition = sources.goto_definition("main.c", 5, "pay", seconds=PATIENCE)
    assert definition.backend == "clangd"
    assert {location.path for location in definition.locations} <= {"cart.c", "cart.h"}
    everywhere = sources.find_references("pay", seconds=PATIENCE)
    assert ("main.c", 5) in places(everywhere, "confirmed")
    assert not (sources.file_backend.root / ".cache").exists()
