"""One string in, the outline's text out."""

import ast
from pathlib import Path

from tests.fixtures import cases, files

from foldline.backends import MemoryFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.outlines.outlines import outline_source
from foldline.backends.outlines.symbols import flatten
from foldline.backends.text import format_outline

CASES = {
    title.partition(" | ")[0]: (source, shown["outline"])
    for title, text in cases(Path(__file__).with_name("outlines.txt")).items()
    for source, shown in [files(text)]
}
CODE = ("function", "method", "class")


def access_to(files: dict[str, str]) -> SmartFileAccess:
    """A workspace in memory."""
    backend = MemoryFileBackend(files)
    return SmartFileAccess(backend, ASTFileAnalysisBackend(backend))


def check_outline(path: str, source: str, expected: str) -> None:
    """The text of the outline of `source`, without its first line, is `expected`."""
    text = format_outline(access_to({path: source}).get_outline(path))
    shown = "\n".join(text.split("\n")[1:])
    assert shown == expected.strip("\n"), shown


def definitions(data: bytes) -> list[tuple[int, int, str, int]]:
    """First and last line, qualified name and name line of Python definitions, by our outline."""
    return sorted(
        (symbol.line, symbol.line_end, located.qualified_name, symbol.name_line)
        for located in flatten(outline_source("python", data).symbols)
        if (symbol := located.symbol).kind in CODE
    )


def definitions_by_ast(data: bytes | str) -> list[tuple[int, int, str, int]]:
    """The same by the standard library's parser, which needs the whole file to be right."""
    found: list[tuple[int, int, str, int]] = []
    waiting: list[tuple[ast.AST, str]] = [(ast.parse(data), "")]
    while waiting:
        node, prefix = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([child.lineno, *(mark.lineno for mark in child.decorator_list)])
                name = prefix + child.name
                found.append((first, child.end_lineno or 0, name, child.lineno))
                waiting.append((child, f"{name}."))
            else:
                waiting.append((child, prefix))
    return sorted(found)


def python_files(root: Path) -> list[Path]:
    """The Python files below `root`, without installed packages."""
    return sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts)
