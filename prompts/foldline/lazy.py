"""Names that a package exports from its modules, each loaded when it is first used.

A package whose `__init__` imports its own modules is a trap for threads: one that imports the
package holds its lock and waits for a module, one that imports that module first holds the
module's and waits for the package, and Python ends the deadlock by giving one of them a module
that is half loaded. And a program that only catches errors doesn't wait for the rest.

Type checkers and editors read `__init__.pyi`, which `uv run poe generate` writes from the same
table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def exports(
    package: str, names: Mapping[str, Iterable[str]]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__all__`, `__getattr__` and `__dir__` of a package, which has a `__version__`.

    Args:
        package: The package's name.
        names: The exported names by the module that defines them, relative to the package
            (`".thread"` is a module beside it). A module without names is exported itself.
    """
    modules = {name: module for module, exported in names.items() for name in exported}

    submodules = {module.partition(".")[0] for module in names} - {""}

    def load(name: str) -> object:
        if name == "__version__":
            return import_module("foldline.version").VERSION
        if name in submodules:
            return import_module(f".{name}", package)
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{modules[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return sorted(modules), load, lambda: sorted({*vars(sys.modules[package]), *modules})
