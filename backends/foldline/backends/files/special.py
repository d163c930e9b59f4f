"""Kernel pseudo-filesystems, such as `/proc` and `/sys`, which hold no files of a user."""

from __future__ import annotations

import os
import re
import time
from functools import lru_cache
from pathlib import Path

# They list processes, devices and settings: endless, and different at every look.
_KINDS = frozenset(
    {
        "autofs",
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "devtmpfs",
        "efivarfs",
        "fusectl",
        "hugetlbfs",
        "mqueue",
        "nsfs",
        "proc",
        "pstore",
        "rpc_pipefs",
        "securityfs",
        "selinuxfs",
        "sysfs",
        "tracefs",
    }
)
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_SECONDS = 10.0


def special_folders(root: str) -> frozenset[str]:
    """The mount points below `root` of file systems such as /proc and /sys; none but on Linux.

    The table is read again after a while: a walk of many folders reads the table once.
    """
    return _special_folders(root, int(time.monotonic() / _SECONDS))


@lru_cache(maxsize=8)
def _special_folders(root: str, moment: int) -> frozenset[str]:
    del moment
    below = root.rstrip(os.sep) + os.sep
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return frozenset()
    return frozenset(
        point
        for line in lines
        if (point := _mount_point(line)) is not None and point.startswith(below)
    )


def _mount_point(line: str) -> str | None:
    """The mount point of a line of the table, where its file system is one of those."""
    mount, _, source = line.partition(" - ")
    fields = mount.split(" ")
    if len(fields) < 5 or source.partition(" ")[0] not in _KINDS:
        return None
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), fields[4])
