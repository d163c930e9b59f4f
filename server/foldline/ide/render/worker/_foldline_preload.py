"""Preloads installed packages that the user's module needed last time.

They are imported into the process that forks the others, so that each fork has them at once.
Modules of the workspace never are: they are imported afresh for each request.
"""

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

# What numerical libraries read when they are loaded: the number of threads to start, by default one
# for each core.
THREADS = (
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class Preload:
    """The packages that this process imports for its forks."""

    def __init__(self) -> None:
        self._stamp = _stamp()

    def add(self, modules: Iterable[str]) -> str | None:
        """Import `modules`; returns the package that started a thread: forking isn't safe then."""
        threaded = None
        with _single_threaded():
            for name in modules:
                if name not in sys.modules:
                    # A package that fails to import here is reported where it is used.
                    with contextlib.suppress(BaseException):
                        importlib.import_module(name)
                    if threaded is None and _threads() > 1:
                        threaded = name.partition(".")[0]
        # A thread that has ended does no harm.
        return None if _threads() == 1 else threaded or "a package"

    def is_stale(self) -> bool:
        """Return True if a package was installed, changed or removed since this process started."""
        return _stamp() != self._stamp


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Have libraries that let the user choose start no threads, unless the user chose otherwise.

    The user's code then finds the environment as it was.
    """
    unset = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)


def installed_modules(root: str, known: Collection[str]) -> list[str]:
    """Return the imported modules, in order, that are neither `known` nor the user's.

    Our own are included only if foldline is installed: they import it.
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
    """Return the modification times of the package folders: installing packages changes them."""
    stamps = []
    for folder in sys.path:
        with contextlib.suppress(OSError):
            if "-packages" in folder:
                stamps.append((folder, os.stat(folder).st_mtime_ns))  # noqa: PTH116
    return tuple(stamps)


def _threads() -> int:
    """Return this process's number of threads, including those that Python doesn't know of."""
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    except OSError:
        return threading.active_count()
