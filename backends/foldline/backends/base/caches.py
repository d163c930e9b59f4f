"""The folder of foldline's caches, which is never inside a workspace."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "FOLDLINE_CACHE_DIR"


def cache_folder() -> Path:
    """The folder for everything that can be rebuilt."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("foldline", appauthor=False)
