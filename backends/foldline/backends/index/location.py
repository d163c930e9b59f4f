"""Where the index of a workspace is kept: never inside it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

VARIABLE = "FOLDLINE_CACHE_DIR"


def index_location(root: Path) -> Path:
    """The index file of the workspace; `FOLDLINE_CACHE_DIR` moves the folder of all of them."""
    name = hashlib.blake2b(os.fsencode(root), digest_size=12).hexdigest()
    return cache_folder() / "index" / f"{name}.sqlite3"


def cache_folder() -> Path:
    """The folder for what can be made anew."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("foldline", appauthor=False)
