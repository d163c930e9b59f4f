"""Names that a package exports from its modules, each loaded when it is first used.

A package whose `__init__` imports its own modules is a trap for threads: one that imports the
package holds its lock and waits for a module, one that imports that module first holds the
module's and waits for the package, and Python ends the deadlock by giving one of them a module
that is half loaded. Such a package calls `load` from its `__getattr__` instead, and imports even
this module there.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def load(package: str, exports: Mapping[str, Iterable[str]], name: str) -> object:
    """Return what a package exports as `name`, and set it there for the next time.

    Args:
        package: The package's name.
        exports: The exported names by the module that defines them, relative to the package.
        name: The attribute that the package doesn't have yet.

    Raises:
        AttributeError: The package doesn't export it.
    """
    for module, names in exports.items():
        if name in names:
            value: object = getattr(import_module(f"{package}.{module}"), name)
            setattr(sys.modules[package], name, value)
            return value
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
