"""Loads what requests need, between the answer to `initialize` and the first of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pkgutil import walk_packages

from foldline.backends.base.waiting import in_thread

# An editor that opens a document asks about it at once, and needs only a part of this.
PAUSE_SECONDS = 0.1
MOST_PAUSES = 20


async def warm_up(is_asked: Callable[[], bool]) -> None:
    """Import what features and commands load lazily; first lets requests that wait go ahead."""
    await asyncio.sleep(PAUSE_SECONDS)
    pauses = iter(range(MOST_PAUSES))
    for name in await in_thread(_modules):
        while is_asked() and next(pauses, None) is not None:
            await asyncio.sleep(PAUSE_SECONDS)
        await in_thread(partial(import_module, name))


def _modules() -> list[str]:
    from foldline.ide import analysis as static

    names = [module.name for module in walk_packages(static.__path__, f"{static.__name__}.")]
    return [
        *names,
        "foldline.backends.async_access",
        "foldline.backends.references.definitions",
        "foldline.backends.references.name_fallback",
        "foldline.ide.checks.costs",
        "foldline.ide.checks.run",
        "foldline.ide.folder",
        "foldline.server.diagnostic_items",
    ]
