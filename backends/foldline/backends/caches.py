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


def make_private(folder: Path) -> None:
    """Make a folder of the caches that other users can't read, also if it exists already."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.lstat().st_mode & 0o077 and not folder.is_symlink():
        with suppress(OSError):
            folder.chmod(0o700)
