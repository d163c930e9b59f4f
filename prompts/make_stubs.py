"""Writes `__init__.pyi` of each package that exports names lazily, from the table in its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

ROOT = Path(__file__).parent.parent
_LINE = 100


def stubs() -> Iterator[tuple[Path, str]]:
    """Every stub with its text."""
    for root in ("prompts", "backends", "server", "plugins"):
        for source in sorted((ROOT / root / "foldline").rglob("__init__.py")):
            text = source.read_text(encoding="utf-8")
            if table := exported(ast.parse(text)):
                package = ".".join(source.parent.relative_to(ROOT / root).parts)
                yield source.with_suffix(".pyi"), stub(package, table)


def exported(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    """The table that a package passes to `exports`; empty where it passes none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "exports":
            table: dict[str, tuple[str, ...]] = ast.literal_eval(node.args[1])
            return table
    return {}


def stub(package: str, table: dict[str, tuple[str, ...]]) -> str:
    # A module without names is exported itself.
    modules = sorted(module for module, names in table.items() if not names)
    lines = [f"from {package} import {module} as {module}" for module in modules]
    sources = {resolve_name(f".{module}", package): names for module, names in table.items()}
    for source, names in sorted(sources.items()):
        if not names:
            continue
        line = f"from {source} import {', '.join(sorted(names, key=_order))}"
        if len(line) > _LINE:
            listed = "".join(f"    {name},\n" for name in sorted(names, key=_order))
            line = f"from {source} import (\n{listed})"
        lines.append(line)
    named = sorted((name for names in table.values() for name in names), key=_order)
    listed = "".join(f'    "{name}",\n' for name in named)
    exported_names = f"[\n{listed}]" if listed else "[]"
    return "\n".join([*lines, "", f"__all__ = {exported_names}", "__version__: str", ""])


def _order(name: str) -> tuple[bool, bool, str]:
    """Constants, classes, functions: as ruff sorts imports."""
    return not name.isupper(), not name[0].isupper(), name


if __name__ == "__main__":
    for path, text in stubs():
        path.write_text(text, encoding="utf-8")
