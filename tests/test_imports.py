"""Threads may import at once: no module waits for one that waits for it.

Python locks `a.b` before it imports `a`. If `a` itself imports `a.b`, a thread that starts with `a`
and one that starts with `a.b` wait for each other; Python notices, and gives one of them a module
that is half loaded. So no package imports its own modules when it is loaded: `foldline.lazy` does
when a name is used.
"""

from __future__ import annotations

import ast
import json
import random
import runpy
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foldline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent
_MAKER = runpy.run_path(str(ROOT / "prompts" / "make_stubs.py"))
exported = _MAKER["exported"]

# Where threads start: with a package, and with a module of it.
STARTS = (
    "foldline.backends",
    "foldline.backends.errors",
    "foldline.backends.index",
    "foldline.backends.index.segments",
    "foldline.backends.index.words",
    "foldline.backends.lsp",
    "foldline.backends.lsp.results",
    "foldline.backends.lsp.servers",
    "foldline.ide.analysis.values",
    "foldline.ide.checks",
    "foldline.ide.checks.diagnostic",
    "foldline.ide.checks.texts",
    "foldline.ide.config",
    "foldline.ide.features.keys",
    "foldline.ide.folder",
    "foldline.ide.token_counter",
    "foldline.prompts",
)
THREADS = """
import importlib, json, sys, threading

def load(names):
    start.wait()
    try:
        for name in names:
            try:
                importlib.import_module(name)
            except KeyError as error:
                # Python takes a loaded module out of sys.modules and puts it back: a thread that
                # looks for the package of its own module may look between the two.
                if not name.startswith(error.args[0] + "."):
                    raise
                importlib.import_module(name)
    except BaseException as error:
        print(f"{names[0]}: {type(error).__name__}: {error}")

orders = json.loads(sys.argv[1])
start = threading.Barrier(len(orders))
threads = [threading.Thread(target=load, args=[names]) for names in orders]
sys.setswitchinterval(1e-6)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.fixture(scope="module")
def imports() -> Imports:
    """The project's imports."""
    found = {}
    for root in ("prompts", "backends", "server", "plugins"):
        for file in (ROOT / root / "foldline").rglob("*.py"):
            *parents, name = file.relative_to(ROOT / root).with_suffix("").parts
            # Workers' modules are programs of the user's interpreter.
            if not name.startswith("_foldline"):
                parts = parents if name == "__init__" else [*parents, name]
                found[".".join(parts)] = file.read_text(encoding="utf-8")
    return Imports(found)


@pytest.mark.real
@pytest.mark.parametrize("seed", range(3))
def test_threads_import_at_once(seed: int) -> None:
    shuffled = random.Random(seed)
    orders = [
        [start, *shuffled.sample(STARTS, len(STARTS))] for start in shuffled.sample(STARTS, 8)
    ]
    result = subprocess.run(
        [sys.executable, "-c", THREADS, json.dumps(orders)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert result.stdout == ""


def test_no_import_is_part_of_a_cycle(imports: Imports) -> None:
    assert imports.eager == []
    assert imports.cycle() == []


KINDS = ("foldline.ide.sources.markdown", "foldline.ide.sources.python")


def test_the_kind_of_a_source_is_chosen_in_one_place() -> None:
    files = (ROOT / "server" / "foldline").rglob("*.py")
    texts = [(file.name, file.read_text(encoding="utf-8")) for file in files]
    choosing = {name for name, text in texts if any(f"from {kind} " in text for kind in KINDS)}
    assert choosing == {"resolve.py"}


# Each is loaded by one thread: before a program answers, or by a command.
ONE_THREAD = {"argcomplete", "mcp", "tomlkit"}
LOADED = """
import importlib, sys

for name in sys.argv[1:]:
    importlib.import_module(name.rpartition(".")[0])
    if name in sys.modules:
        print(name)
"""


@pytest.mark.real
def test_no_function_imports_a_module_of_others_that_its_package_loads(imports: Imports) -> None:
    later = {name for name in imports.later if name.partition(".")[0] not in ONE_THREAD}
    assert "rich.text" in later
    result = subprocess.run(
        [sys.executable, "-c", LOADED, *sorted(later)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert result.stdout == ""


STUBS = {
    str(path.parent.relative_to(ROOT)).partition("/")[2].replace("/", "."): (path, text)
    for path, text in _MAKER["stubs"]()
}


@pytest.mark.parametrize("package", STUBS)
def test_a_package_exports_what_its_stub_says(package: str) -> None:
    path, text = STUBS[package]
    assert path.read_text(encoding="utf-8") == text, "uv run poe generate"
    module = import_module(package)
    assert all(f'"{name}"' in text for name in module.__all__)
    assert set(module.__all__) < set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert module.__version__ == VERSION
    assert not hasattr(module, "no_such_name")


PACKAGE = {"a": "", "a.b": "", "a.c": "", "d": "", "e": ""}


@pytest.mark.parametrize(
    ("changed", "eager", "cycle"),
    [
        ({"a": "from a.b import X"}, ["a"], []),
        ({"a": "from a import b"}, ["a"], []),
        ({"a": "from d import X", "d": "import a.c"}, [], ["a", "a.c", "d"]),
        (
            {"a.b": "try:\n    import a.c\nfinally: pass", "a.c": "from a import b"},
            [],
            ["a.b", "a.c"],
        ),
        (
            {"a": "exports(__name__, {'c': ('X',)})", "a.c": "import d", "d": "from a import X"},
            [],
            ["a.c", "d"],
        ),
        ({"a": "if TYPE_CHECKING:\n    from a.b import X"}, [], []),
        ({"a": "def load():\n    from a.b import X"}, [], []),
        ({"a.b": "from a import c", "d": "from a.b import X\nimport e"}, [], []),
    ],
)
def test_a_cycle_is_found(changed: dict[str, str], eager: list[str], cycle: list[str]) -> None:
    imports = Imports({**PACKAGE, **changed})
    assert (imports.eager, sorted(set(imports.cycle()))) == (eager, cycle)


class Imports:
    """Which modules import which.

    Attributes:
        eager: The packages that import their own modules when they are loaded.
        later: Others' modules, not packages, that functions import.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._trees = {name: ast.parse(source) for name, source in sources.items()}
        self._exports = {
            f"{name}.{exported_name}": resolve_name(f".{module}", name)
            for name, tree in self._trees.items()
            for module, names in exported(tree).items()
            for exported_name in names
        }
        self._imported = {
            name: [target for statement in _imports(tree) for target in self._targets(statement)]
            for name, tree in self._trees.items()
        }
        self.eager = sorted(
            name
            for name, targets in self._imported.items()
            if any(target.startswith(f"{name}.") for target in targets)
        )

        self.later = {
            module
            for tree in self._trees.values()
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for statement in _imports(function)
            for module in _modules(statement)
            if "." in module
            and module.partition(".")[0] not in {"foldline", *sys.stdlib_module_names}
        }

    def cycle(self) -> list[str]:
        """Modules each of which waits for the next one, eager packages apart."""
        waits = {
            name: {
                other
                for target in (name, *targets)
                for other in (target, *self._packages(target))
                if other != name and other not in self.eager
            }
            for name, targets in self._imported.items()
            if name not in self.eager
        }
        try:
            TopologicalSorter(waits).prepare()
        except CycleError as error:
            return list(error.args[1])
        return []

    def _targets(self, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
        """The modules that a statement loads, in order."""
        names = [alias.name for alias in statement.names]
        if isinstance(statement, ast.ImportFrom):
            assert statement.module
            qualified = [f"{statement.module}.{name}" for name in names]
            names = [statement.module, *(self._exports.get(name, name) for name in qualified)]
        return (name for name in names if name in self._trees)

    def _packages(self, name: str) -> Iterator[str]:
        while "." in name:
            name = name.rpartition(".")[0]
            if name in self._trees:
                yield name


def _imports(scope: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run with a module or function: not those of its functions and of types."""
    for node in _statements(scope):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _imports(ast.Module(node.orelse, []))
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imports(node)


def _modules(statement: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(statement, ast.ImportFrom):
        return [str(statement.module)]
    return [alias.name for alias in statement.names]


def _statements(scope: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield node
