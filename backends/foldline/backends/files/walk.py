"""What a file is known by without reading it."""

from __future__ import annotations

from typing import NamedTuple


class FileStamp(NamedTuple):
    """One version of a file: when two stamps are equal, so is the content.

    `overlay` is the number of the editor buffer's version, 0 for a file on disk.
    """

    path: str
    size: int
    mtime_ns: int
    inode: int = 0
    overlay: int = 0
