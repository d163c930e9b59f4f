"""The paths that git tracks, read from its index: git isn't run, as a workspace may be hostile."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from foldline.backends.errors import PathError
from foldline.backends.files.limits import INDEX_BYTES
from foldline.backends.files.reader import read_bytes

# An entry begins with its file's status and the hash of its content.
_STATUS = 40
_HASHES = (20, 32)
_FLAGS = 2
_EXTENDED = 0x4000
_LONGEST_NAME = 0xFFF


class Tracked(NamedTuple):
    """The paths of the tracked files, sorted; `version` changes when they do."""

    version: str
    paths: Sequence[bytes] = ()
    problem: str = ""

    def holds(self, path: bytes) -> bool:
        """Return whether git tracks the path, or anything below it."""
        at = bisect_left(self.paths, path)
        if self.paths[at : at + 1] == [path]:
            return True
        below = path + b"/"
        at = bisect_left(self.paths, below)
        return any(one.startswith(below) for one in self.paths[at : at + 1])


@lru_cache(maxsize=16)
def tracked(file: Path, version: str) -> Tracked:
    """The paths in an index of this version, as `ignore_file_version` says it; "" is none."""
    if not version:
        return Tracked("")
    try:
        paths = _paths(read_bytes(file, INDEX_BYTES, root=file.parent))
    except (PathError, ValueError, IndexError) as error:
        why = error.problem if isinstance(error, PathError) else f"is of another form: {error}"
        return Tracked(version, (), f"git's index {why}: what git tracks may be hidden")
    digest = hashlib.blake2b(b"\0".join(paths), digest_size=16)
    return Tracked(digest.hexdigest(), paths)


def _paths(data: bytes) -> list[bytes]:
    """The paths of the entries; `IndexError` or `ValueError` where they aren't to be read."""
    version, count = (int.from_bytes(data[at : at + 4], "big") for at in (4, 8))
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError(f"version {version}")
    for size in _HASHES:
        if (paths := _entries(data, version, count, _STATUS + size)) is not None:
            return sorted(paths)
    raise ValueError("no hashes that are known")


def _entries(data: bytes, version: int, count: int, before: int) -> list[bytes] | None:
    """The paths, where flags follow `before` bytes of each entry; None where they don't."""
    paths: list[bytes] = []
    path, at = b"", 12
    left = 2 * len(data)
    for _ in range(count):
        flags = int.from_bytes(data[at + before : at + before + _FLAGS], "big")
        begin = at + before + (2 * _FLAGS if flags & _EXTENDED else _FLAGS)
        kept = 0
        if version == 4:
            # A path begins as the one before, but for so many bytes: a number of base 128.
            dropped = -1
            while True:
                dropped = (dropped + 1 << 7) | data[begin] & 0x7F
                begin += 1
                if data[begin - 1] < 0x80:
                    break
            kept = len(path) - dropped
        end = data.find(b"\0", begin)
        path = path[: max(kept, 0)] + data[begin:end]
        left -= len(path)
        if end < 0 or left < 0 or min(len(path), _LONGEST_NAME) != flags & _LONGEST_NAME:
            return None
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
        paths.append(path)
    if data[at : at + 4] == b"link":
        raise ValueError("it is split")
    return paths
