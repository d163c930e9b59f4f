"""What a file is known by without reading it."""

from __future__ import annotations

import os
from typing import NamedTuple

_SECOND_NS = 1_000_000_000
# Longer than the clock ticks that file systems take their times from.
_TICK_NS = 50_000_000
# Some file systems count whole seconds, or every second one.
LONGEST_TICK_NS = 2 * _SECOND_NS


class FileStamp(NamedTuple):
    """One version of a file: when two stamps are equal, so is the content.

    `overlay` is the number of the editor buffer's version, 0 for a file on disk.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0
    inode: int = 0
    overlay: int = 0

    @property
    def changed_at(self) -> int:
        """When the content last changed, by a time that no program can set where there is one."""
        return self.mtime_ns if os.name == "nt" else self.ctime_ns


def is_racy(changed_at: int, looked_at: int) -> bool:
    """Whether a further change after the look may have left the times as they are."""
    coarse = changed_at % _SECOND_NS == 0
    return changed_at > looked_at - (LONGEST_TICK_NS if coarse else _TICK_NS)


def overlay_stamp(path: str, text: str, number: int) -> FileStamp:
    """The stamp of an open buffer in its version `number`."""
    return FileStamp(path, len(text), 0, overlay=number)
