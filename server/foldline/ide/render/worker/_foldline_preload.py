"""What is imported before the user's module is: what is installed and was needed last time.

They are imported into the process that forks the others, so that each of those has them at once. No
module of the workspace ever is: those are imported afresh for each request.
"""

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Collection, Iterable
from pathlib import Path


class Warmth:
    """The packages that this process has imported for those that it forks."""

    def __init__(self) -> None:
        self._stamp = _stamp()

    def take(self, modules: Iterable[str]) -> bool:
        """Import `modules`; False if forking is not safe any more, because one started a thread."""
        for name in modules:
            if name not in sys.modules:
                # A package that cannot be imported here fails again, and is told, where it is used.
                with contextlib.suppress(BaseException):
                    importlib.import_module(name)
        return _threads() == 1

    def is_stale(self) -> bool:
        """Whether a package was installed, changed or removed since this process started."""
        return _stamp() != self._stamp


def installed_modules(root: str, known: Collection[str]) -> list[str]:
    """The imported modules, in order, that are neither `known` nor the user's.

    Ours are among them only if foldline is installed: they bring it along.
    """
    modules = tuple(sys.modules.items())
    names = [name for name, module in modules if name not in known and _is_installed(module, root)]
    if _is_installed(sys.modules.get("foldline.prompts"), root):
        return names
    return [name for name in names if not name.startswith("_foldline_")]


def _is_installed(module: object, root: str) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return False
    path = Path(file)
    return bool({"site-packages", "dist-packages"} & set(path.parts)) or not path.is_relative_to(
        root
    )


def _stamp() -> tuple[tuple[str, int], ...]:
    """What changes when packages are installed: the times of the folders that hold them."""
    stamps = []
    for folder in sys.path:
        with contextlib.suppress(OSError):
            if "-packages" in folder:
                stamps.append((folder, os.stat(folder).st_mtime_ns))  # noqa: PTH116
    return tuple(stamps)


def _threads() -> int:
    """How many threads this process has, those that Python does not know of included."""
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    except OSError:
        return threading.active_count()
