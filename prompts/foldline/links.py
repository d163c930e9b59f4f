"""Paths behind links, on every Python."""

from __future__ import annotations

import os
from pathlib import Path


def resolved(path: Path | str) -> Path:
    """Return an absolute path without links; one to itself stays, and can't be opened.

    `Path.resolve` raises `RuntimeError` there before Python 3.13.
    """
    return Path(os.path.realpath(path))


def is_loop(path: Path) -> bool:
    """Return whether the path is a link to itself, maybe by way of others."""
    return resolved(path).is_symlink()
