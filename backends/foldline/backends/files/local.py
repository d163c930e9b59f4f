"""Files of the disk below one folder, and nothing outside it."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

from foldline.backends import errors
from foldline.backends.base.languages import CODE, TEXT, kind_of
from foldline.backends.files.base import DEFAULT_SIZE_LIMIT, UNLISTED, Entry, FileBackend
from foldline.backends.files.ignore import IGNORE_FILES, IgnoreRules, rules_version
from foldline.backends.files.listing import (
    LONGEST_TICK_NS,
    FileStamp,
    FileVersions,
    Folder,
    Listing,
    is_racy,
)
from foldline.backends.files.reader import read_chunks, read_resolved

LIST_STEP = 1_000
"""The entries of a folder that are listed without a look at whether to go on."""


class LocalFileBackend(FileBackend):
    """The files below `root`; every path is checked by its real path, links resolved.

    Links are followed where a caller names them and they stay below the root; listings name each
    file once, by its real path.
    """

    versions: FileVersions

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        size_limit: int = DEFAULT_SIZE_LIMIT,
        no_ignore: bool = False,
    ) -> None:
        root_path = Path(root)
        try:
            mode = root_path.stat().st_mode
        except PermissionError as error:
            raise errors.UnreadablePathError(
                str(root), "the system refuses to look at it"
            ) from error
        except (OSError, ValueError) as error:
            raise errors.MissingPathError(str(root), None) from error
        if not stat.S_ISDIR(mode):
            raise errors.NotAFolderError(str(root), "is a file; the workspace root is a folder")
        super().__init__(root_path.resolve(), size_limit=size_limit, no_ignore=no_ignore)
        self._root_text = str(self.root)
        self.versions = FileVersions(self)

    def _absolute(self, path: str) -> str:
        return os.path.join(self._root_text, path)  # noqa: PTH118 - called for every file of a walk.

    def _real(self, path: str) -> str | None:
        try:
            joined = self._absolute(path)
            real = os.path.realpath(joined)
        except (OSError, ValueError) as error:
            raise errors.PathError(path, f"cannot be resolved: {error}") from error
        if real == self._root_text:
            return "."
        base = self._root_text.rstrip(os.sep) + os.sep
        if not real.startswith(base):
            return None
        return real[len(base) :].replace(os.sep, "/")

    def _kind(self, path: str) -> str | None:
        try:
            mode = os.lstat(self._absolute(path)).st_mode
        except PermissionError as error:
            raise errors.UnreadablePathError(path, "the system refuses to look at it") from error
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(mode):
            return "folder"
        return "file" if stat.S_ISREG(mode) else "special"

    def _stat(self, path: str) -> FileStamp | None:
        try:
            status = os.lstat(self._absolute(path))
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return FileStamp(
            path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
        )

    def _read_bytes(self, path: str, limit: int) -> bytes:
        """The content of one moment: a file that changes while it is read is read again."""
        try:
            return read_resolved(self._absolute(path), limit, name=path)
        except errors.MissingPathError as error:
            raise errors.MissingPathError(path, self._near(path)) from error

    def _read_chunks(self, path: str) -> Iterator[bytes]:
        try:
            yield from read_chunks(self._absolute(path), name=path)
        except errors.MissingPathError as error:
            raise errors.MissingPathError(path, self._near(path)) from error

    def _list(
        self, folder: str, goes_on: Callable[[], bool] = lambda: True, kind: int = TEXT
    ) -> list[Entry]:
        """The regular files and real folders in `folder`, by name.

        `UNLISTED` comes first where the system refuses to list all.
        """
        entries: list[Entry] = []
        special = special_folders(self._root_text)
        prefix = f"{folder}/" if folder not in {"", "."} else ""
        try:
            with os.scandir(self._absolute(folder)) as listed:
                for number, item in enumerate(listed, 1):
                    if number % LIST_STEP == 0 and not goes_on():
                        break
                    try:
                        name = item.name
                        if item.is_file(follow_symlinks=False):
                            if kind == CODE != kind_of(name):
                                entries.append(Entry(name, FileStamp(prefix + name, 0, 0)))
                                continue
                            status = item.stat(follow_symlinks=False)
                            stamp = FileStamp(
                                prefix + name,
                                status.st_size,
                                status.st_mtime_ns,
                                status.st_ctime_ns,
                                status.st_ino,
                            )
                            entries.append(Entry(name, stamp))
                        elif item.is_dir(follow_symlinks=False):
                            if item.path not in special:
                                entries.append(Entry(name, None))
                        elif name in IGNORE_FILES:
                            entries.append(Entry(name, None, special=True))
                    except FileNotFoundError:
                        continue  # It vanished between being listed and being looked at.
                    except OSError:
                        entries.append(UNLISTED)
        except OSError:
            entries.append(UNLISTED)
        # By name alone: whole entries take several times as long, and nothing else runs meanwhile.
        entries.sort(key=attrgetter("name"))
        return entries

    def rules(self) -> IgnoreRules:
        return IgnoreRules(self.root)

    def _folder_time(self, folder: str) -> int:
        try:
            status = os.lstat(self._absolute(folder))
        except (OSError, ValueError):
            return 0
        return max(status.st_mtime_ns, status.st_ctime_ns)

    # For the versions

    def list_all(self, check: Callable[[], None] | None = None, kind: int = TEXT) -> Listing:
        """All files on disk that are not ignored, with what tells later that they are the same.

        `check` is called for each folder and for each slice of a large one; what it raises ends the
        walk. For `CODE`, other files are named alone.
        """
        rules = self.rules()
        listed = self._folders("", rules, check=check, kind=kind)
        folders = {folder.path: folder for folder in listed}
        return Listing(folders, rules.above, rules.versions, tuple(rules.problems))

    def mended(
        self,
        listing: Listing,
        looked_at: int,
        goes_on: Callable[[], bool] = lambda: True,
        kind: int = TEXT,
    ) -> Listing | None:
        """The listing as of now, the same object if nothing has changed since `looked_at`.

        None where folders or rules are others, or where `goes_on` says no: then all is to be listed
        anew. A folder's time tells of entries added, removed or renamed, so that only folders that
        changed are listed; those that changed shortly before the look may show no further change.
        For `CODE`, no other files are looked at.
        """
        rules = self.rules()
        if rules.above != listing.above:
            return None
        if any(rules_version(Path(file)) != was for file, was in listing.rules.items()):
            return None
        recent = looked_at - LONGEST_TICK_NS
        changed: dict[str, Folder] = {}
        base = self._root_text + os.sep
        for folder in listing.folders.values():
            if not goes_on():
                return None
            if _is_same(folder, base, recent, looked_at, kind):
                continue
            now = self._folder(folder.path, rules, goes_on)
            if not goes_on() or now.folders != folder.folders or now.rules != folder.rules:
                return None
            if now != folder:
                changed[folder.path] = now
        return listing._replace(folders={**listing.folders, **changed}) if changed else listing


def _is_same(folder: Folder, base: str, recent: int, looked_at: int, kind: int) -> bool:
    """Return whether the folder and its files have the times of when it was listed."""
    try:
        status = os.lstat(base + folder.path)
        now = max(status.st_mtime_ns, status.st_ctime_ns)
        if now != folder.changed_at or not stat.S_ISDIR(status.st_mode):
            return False
        if now > recent and is_racy(now, looked_at):
            return False
        for path, size, mtime_ns, ctime_ns, inode, _ in folder.files:
            if kind == CODE != kind_of(path):
                continue
            status = os.lstat(base + path)
            if (
                status.st_mtime_ns != mtime_ns
                or status.st_ctime_ns != ctime_ns
                or status.st_size != size
                or status.st_ino != inode
                or not stat.S_ISREG(status.st_mode)
            ):
                return False
    except (OSError, ValueError):
        return False
    return True


# They list processes, devices and settings: endless, and different at every look.
_KINDS = frozenset(
    """
    autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl
    hugetlbfs mqueue nsfs proc pstore rpc_pipefs securityfs selinuxfs sysfs tracefs
    """.split()  # noqa: SIM905 - A word a line would be a page.
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
