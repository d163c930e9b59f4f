"""SmartFileAccess, its models and its tools as the specification writes them."""

import dataclasses
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline.agent.tools import code_tools
from foldline.backends import (
    ASTFileAnalysisBackend,
    LocalFileBackend,
    PathError,
    SmartFileAccess,
    models,
)
from foldline.ide.operations import OPERATIONS
from foldline.ide.workspace import Workspace
from foldline.prompts import ToolContext

ROOT = Path(__file__).parents[2]
CODE = '''\
import os
from pathlib import Path


@decorated
def plain(value: int = 1) -> str:
    """Return it as text.

    More.
    """
    return helper(value)


class Cart:
    """A cart."""

    size = 3

    async def total(self) -> int:
        return plain(self.size)
'''
COMPONENT = """\
import React from 'react';

@injectable()
export class Store {
  load = async (id: string) => fetch(id);
}

export const View = ({ name }: Props) => <p>{name}</p>;
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "use.py").write_text("from shop import plain\n\nplain(2)\n", encoding="utf-8")
    (tmp_path / "view.tsx").write_text(COMPONENT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def access(root: Path) -> Iterator[SmartFileAccess]:
    files = LocalFileBackend(root)
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files))
    yield access
    access.close()


def field_names(model: type) -> list[str]:
    return [field.name for field in dataclasses.fields(model)]


def test_the_methods_answer_with_the_specified_models(access: SmartFileAccess) -> None:
    assert isinstance(access.get_tree("."), models.FileTree)
    assert isinstance(access.get_outline("shop.py"), models.FileOutline)
    assert isinstance(access.read_symbol("shop.py", "Cart"), models.SymbolDetail)
    assert all(isinstance(use, models.Reference) for use in access.find_references("plain"))
    assert access.find_references("plain", scope="use.py").scope == "use.py"
    assert access.read_lines("shop.py", 1, 2) == "import os\nfrom pathlib import Path"
    assert access.read_file("shop.py") == CODE
    parameters = list(inspect.signature(SmartFileAccess).parameters)
    assert parameters[:3] == ["file_backend", "analysis_backend", "lsp_backend"]


def test_it_is_composed_of_files_and_an_analysis(root: Path) -> None:
    files = LocalFileBackend(root)
    assert files.read_file("use.py").startswith("from shop")
    assert files.read_lines("use.py", 3, 3) == "plain(2)"
    assert len(files.get_tree(".").entries) == 3
    analysis = ASTFileAnalysisBackend(files)
    assert [symbol.name for symbol in analysis.get_outline("shop.py")] == ["plain", "Cart"]


class Plain:
    """A backend of the three specified methods, with nothing but specified fields."""

    def __init__(self, asked: list[tuple[object, ...]]) -> None:
        self._asked = asked

    def get_outline(self, file_path: str) -> list[models.SymbolInfo]:
        self._asked.append(("get_outline", file_path))
        return [models.SymbolInfo("mine", "function", 6, 12, "def mine()", (), (), None)]

    def read_symbol(self, file_path: str, symbol_name: str) -> models.SymbolDetail | None:
        self._asked.append(("read_symbol", file_path, symbol_name))
        return None

    def find_references(self, symbol_name: str, scope: str | None) -> list[models.Reference]:
        self._asked.append(("find_references", symbol_name, scope))
        return [models.Reference("use.py", 3, "plain(2)")]


def test_a_backend_needs_the_three_specified_methods(root: Path) -> None:
    asked: list[tuple[object, ...]] = []
    access = SmartFileAccess(LocalFileBackend(root), Plain(asked))
    assert [symbol.name for symbol in access.get_outline("shop.py")] == ["mine"]
    with pytest.raises(LookupError, match="nothing"):
        access.read_symbol("shop.py", "nothing")
    assert [use.context for use in access.find_references("plain")] == ["plain(2)"]
    assert {call[0] for call in asked} == {"get_outline", "read_symbol", "find_references"}


def test_the_syntax_trees_know_no_missing_symbol_and_read_unsaved_texts(root: Path) -> None:
    trees = ASTFileAnalysisBackend(LocalFileBackend(root))
    assert trees.read_symbol("new.py", "absent", source="x = 1\n") is None
    detail = trees.read_symbol("new.py", "f", source="def f(): ...\n")
    assert detail is not None
    assert (detail.path, detail.body) == ("new.py", "def f(): ...")
    assert [one.name for one in trees.get_outline("a/new.py", source="x = 1\n").symbols] == ["x"]
    with pytest.raises(PathError, match="outside the workspace"):
        trees.get_outline("../new.py", source="x = 1\n")


def test_a_symbol_has_the_specified_fields(access: SmartFileAccess) -> None:
    assert " ".join(field_names(models.SymbolInfo)[:8]) == (
        "name kind line line_end signature children decorators docstring"
    )
    plain, cart = access.get_outline("shop.py")
    assert (plain.name, plain.kind, plain.line, plain.line_end) == ("plain", "function", 5, 11)
    assert plain.signature == "def plain(value: int = 1) -> str"
    assert plain.decorators == ("decorated",)
    assert plain.docstring == "Return it as text."
    assert [child.kind for child in cart.children] == ["variable", "method"]


def test_a_detail_is_a_symbol_with_its_source(access: SmartFileAccess) -> None:
    detail = access.read_symbol("shop.py", "Cart.total")
    assert isinstance(detail, models.SymbolInfo)
    assert detail.body == "    async def total(self) -> int:\n        return plain(self.size)"
    assert detail.parent == "Cart"
    assert detail.char_count == len(detail.body)
    assert access.read_symbol("shop.py", "plain").parent is None
    symbol = "total", "method", 1, 2, "def total()", (), (), "Returns it."
    by_position = models.SymbolDetail(*symbol, "def total(): ...", "Cart", 16)
    assert (by_position.body, by_position.parent) == ("def total(): ...", "Cart")
    assert by_position.char_count == 16


def test_an_outline_has_the_specified_fields(access: SmartFileAccess) -> None:
    assert field_names(models.FileOutline)[:2] == ["path", "language"]
    assert {"imports", "symbols", "line_count"} <= set(field_names(models.FileOutline))
    outline = access.get_outline("shop.py")
    assert (outline.path, outline.language) == ("shop.py", "python")
    assert outline.line_count == len(CODE.splitlines())
    assert any("pathlib" in line for line in outline.imports)


def test_a_reference_has_the_line_that_it_is_on(access: SmartFileAccess) -> None:
    assert field_names(models.Reference)[:3] == ["path", "line", "context"]
    uses = {(use.path, use.line): use.context.strip() for use in access.find_references("plain")}
    assert uses["use.py", 3] == "plain(2)"


def test_jsx_decorators_and_arrow_functions_are_outlined(access: SmartFileAccess) -> None:
    outline = access.get_outline("view.tsx")
    assert outline.language in ("tsx", "typescript")
    store, view = outline
    assert (store.name, view.name) == ("Store", "View")
    assert store.decorators == ("injectable()",)
    assert [child.name for child in store.children] == ["load"]


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    long = "\n".join(
        f"def function_{n}(argument: int) -> int:\n    return {n}\n" for n in range(900)
    )
    (root / "long.py").write_text(long, encoding="utf-8")
    workspace = Workspace.at(root)
    yield workspace
    workspace.close()


def answer(workspace: Workspace, tool_name: str, /, **arguments: object) -> str:
    tool = next(tool for tool in code_tools(workspace) if tool.name == tool_name)
    result = tool.handler(tool.decode(arguments), context=ToolContext())
    assert result.success, result.message
    return str(result.value)


@pytest.mark.parametrize(
    ("tool", "arguments", "most"),
    [
        ("search_for_files", {"query": "function"}, 7_500),
        ("grep_in_files", {"pattern": "function"}, 3_000),
        # Nothing but the names of 900 functions; what fits in 1,500 has more.
        ("get_file_outline", {"path": "long.py"}, 6_000),
        ("read_symbol", {"path": "shop.py", "name": "Cart"}, 2_200),
        ("find_references", {"name": "argument"}, 3_000),
        ("read_file", {"path": "long.py"}, 8_500),
    ],
)
def test_answers_have_their_sizes(
    tool: str, arguments: dict[str, object], most: int, workspace: Workspace
) -> None:
    assert 0 < len(answer(workspace, tool, **arguments).encode()) <= most


def test_the_other_two_tools_answer_as_asked(workspace: Workspace) -> None:
    line = answer(workspace, "read_lines", path="shop.py", start=1, end=1)
    assert line.endswith("\nimport os")
    assert "def plain" in answer(workspace, "generate_scoped_context", paths=["shop.py"])


def test_the_outline_replaces_two_tools() -> None:
    names = {operation.tool for operation in OPERATIONS}
    assert not names & {"find_code_definitions", "extract_file_imports"}
    assert "get_file_outline" in names


def test_the_tools_are_the_same_whichever_backend_answers(root: Path) -> None:
    def described(**options: Any) -> list[tuple[str, object]]:
        workspace = Workspace.at(root, **options)
        try:
            return [(tool.name, tool.parameters) for tool in code_tools(workspace)]
        finally:
            workspace.close()

    from foldline.ide.workspace import AccessOptions

    assert described() == described(access=AccessOptions(language_servers=True))


def test_the_layers_are_separate_modules() -> None:
    package = ROOT / "backends" / "foldline" / "backends"
    for name in (
        "protocol",
        "ast_backend",
        "file_access",
        "parsers/python_parser",
        "parsers/ts_parser",
    ):
        assert (package / f"{name}.py").is_file()
    assert (ROOT / "server" / "foldline" / "agent" / "tools.py").is_file()


def test_the_grammars_are_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split("[<>=]", line)[0] for line in project["optional-dependencies"]["server"]]
    for name in ("", "-python", "-javascript", "-typescript"):
        assert f"tree-sitter{name}" in names


def test_a_context_is_made_of_named_files_only(workspace: Workspace) -> None:
    context = answer(workspace, "generate_scoped_context", paths=["use.py"])
    assert "from shop import plain" in context
    assert "class Cart" not in context
