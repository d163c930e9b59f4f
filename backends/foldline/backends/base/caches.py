"""The folder of foldline's caches, which is never inside a workspace."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

VARIABLE = "FOLDLINE_CACHE_DIR"


def cache_folder() -> Path:
    """The folder for everything that can be rebuilt."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("foldline", appauthor=False)


def private_folder(*names: str) -> Path:
    """A folder in that of the caches, for this user alone, as are those above it.

    It's made if it can be. The folder that `FOLDLINE_CACHE_DIR` names keeps the rights that it has.
    """
    folder = cache_folder().absolute()
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.environ.get(VARIABLE):
            folder.chmod(0o700)
    for name in names:
        folder /= name
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o700)
    return folder
