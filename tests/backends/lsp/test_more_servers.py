"""What every server that can be had from PyPI or npm must do: one table, the same questions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.lsp import LSPBackend, ServerSpec
from foldline.backends.lsp.servers import Answer
from foldline.backends.models import COMPLETE, References

from .programs import spec_from_npm, spec_of

pytestmark = pytest.mark.real

PATIENCE = 60.0


@dataclass(frozen=True)
class Project:
    """Files with a method `total` that is used once in `main`, and has a namesake."""

    files: dict[str, str]
    cart: str
    main: str
    more: str
    using: str


PYTHON = Project(
    {
        "pyproject.toml": "",
        "cart.py": "class Cart:\n    def total(self) -> int:\n        return 1\n",
        "main.py": "from cart import Cart\n\n\ndef run(it):\n"
        "    print('\N{GRINNING FACE}', Cart().total())\n    it.total()\n",
        "other.py": "class Report:\n    def total(self) -> int:\n        return 2\n",
    },
    "cart.py",
    "main.py",
    "more.py",
    "from cart import Cart\nCart().total()\n",
)
SCRIPT = Project(
    {
        "tsconfig.json": "{}",
        "cart.ts": "export class Cart {\n  total(): number { return 1; }\n}\n",
        "main.ts": "import { Cart } from './cart';\n\n\nexport function run(it: any) {\n"
        "  console.log('\N{GRINNING FACE}', new Cart().total());\n  it.total();\n}\n",
        "other.ts": "export class Report {\n  total() { return 2; }\n}\n",
    },
    "cart.ts",
    "main.ts",
    "more.ts",
    "import { Cart } from './cart';\nnew Cart().total();\n",
)
FROM_PYPI = ("pyrefly", "pylsp", "jedi-language-server")
FROM_NPM = ("pyright", "typescript-language-server", "vtsls", "tsgo")


@dataclass(frozen=True)
class Case:
    """A server that is at work on a project."""

    spec: ServerSpec
    project: Project
    root: Path
    access: SmartFileAccess

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")

    def references(self) -> References:
        return self.access.find_references("Cart.total", seconds=PATIENCE)


@pytest.fixture(
    params=[
        FROM_PYPI[0],
        *(pytest.param(name, marks=pytest.mark.slow) for name in (*FROM_PYPI[1:], *FROM_NPM)),
    ]
)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    name = request.param
    spec = spec_from_npm(name) if name in FROM_NPM else spec_of(name)
    project = PYTHON if "python" in spec.languages else SCRIPT
    files = LocalFileBackend(tmp_path)
    backend = LSPBackend(files, trusted=True, seconds=PATIENCE, servers=[spec], jedi=False)
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), backend)
    found = Case(spec, project, tmp_path, access)
    for path, text in project.files.items():
        found.write(path, text)
    yield found
    access.close()


def confirmed(found: References) -> list[tuple[str, int]]:
    return sorted(
        (reference.path, reference.line) for reference in found if reference.tier == "confirmed"
    )


def test_the_definition_is_found_where_it_is_now(case: Case) -> None:
    cart, main = case.project.cart, case.project.main
    found = case.access.goto_definition(main, 5, "total", seconds=PATIENCE)
    assert [(location.path, location.line) for location in found.locations] == [(cart, 2)]
    assert found.backend == case.spec.name
    case.write(cart, "\n\n" + case.project.files[cart])
    found = case.access.goto_definition(main, 5, "total", seconds=PATIENCE)
    assert [(location.path, location.line) for location in found.locations] == [(cart, 4)]


def test_references_are_confirmed_or_left_to_others(case: Case) -> None:
    cart, main, more = case.project.cart, case.project.main, case.project.more
    found = case.references()
    if Answer.REFERENCES not in case.spec.answers:
        assert (found.confirmed, found.total) == (0, 4)
        assert "no language server" in found.coverage
        return
    assert confirmed(found) == [(cart, 2), (main, 5)]
    assert (found.coverage, found.possible) == (COMPLETE, 2)
    [use] = [reference for reference in found if (reference.path, reference.line) == (main, 5)]
    assert use.context[use.column - 1 : use.column_end - 1] == "total"
    case.write(more, case.project.using)
    assert confirmed(case.references()) == [(cart, 2), (main, 5), (more, 2)]
    (case.root / main).unlink()
    case.write(cart, "\n" + case.project.files[cart])
    assert confirmed(case.references()) == [(cart, 3), (more, 2)]
