"""Loads what requests need, between the answer to `initialize` and the first of them."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages


def warm_up() -> None:
    """Import what features and commands load lazily. For a thread: it takes a while."""
    from foldline.ide import analysis as static

    for module in walk_packages(static.__path__, f"{static.__name__}."):
        import_module(module.name)
    for name in (
        "backends.async_access",
        "backends.references.definitions",
        "backends.references.name_fallback",
        "ide.folder",
        "server.diagnostic_items",
    ):
        import_module(f"foldline.{name}")
