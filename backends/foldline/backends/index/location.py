"""The location of a workspace's index, never inside it."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from foldline.backends.base.caches import cache_folder

if TYPE_CHECKING:
    from pathlib import Path


def index_location(root: Path) -> Path:
    """The index file of the workspace; `FOLDLINE_CACHE_DIR` moves the folder of all of them."""
    name = hashlib.blake2b(os.fsencode(root), digest_size=12).hexdigest()
    return cache_folder() / "index" / f"{name}.sqlite3"
