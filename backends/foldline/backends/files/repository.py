"""Where the repository of a workspace is, read from git's own files: git isn't asked."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.backends.files.reader import read_text

if TYPE_CHECKING:
    from pathlib import Path

_LINK_BYTES = 8_192
_LINK = re.compile(r"\Agitdir: ([^\n]+)\n?\Z")


def repository_of(root: Path) -> Path | None:
    """The folder at or above `root` that has a `.git`; one that the system refuses isn't there."""
    for folder in (root, *root.parents):
        if os.path.exists(folder / ".git"):
            return folder
    return None


def git_folder(repository: Path) -> Path:
    """The `.git` folder of a repository; of a worktree, the one that all worktrees have in common.

    Raises:
        OSError, PathError, RuntimeError, ValueError: It isn't there, not to be read, a loop of
            links, no path at all, or no worktree that the repository knows.
    """
    git = repository / ".git"
    return git.resolve() if git.is_dir() else _common_of(git)


def _common_of(link: Path) -> Path:
    """The `.git` folder of the repository that a worktree's `.git` file names.

    Raises:
        PathError: It isn't a worktree, or the repository doesn't know it: anybody can write a file
            that names another repository's folder.
    """
    found = _LINK.match(read_text(link, _LINK_BYTES, root=link.parent))
    if found is None:
        raise PathError(str(link), "names no folder")
    own = _named(found[1], link.parent)
    known = _named(read_text(own / "gitdir", _LINK_BYTES, root=own), own)
    common = _named(read_text(own / "commondir", _LINK_BYTES, root=own), own)
    if known != link.resolve() or own.parent != common / "worktrees":
        raise PathError(str(link), "isn't known to the repository that it names")
    return common


def _named(path: str, base: Path) -> Path:
    """The path that a file of git names, from `base` on."""
    if is_remote_share(path):
        raise PathError(path, "is no path of this machine")
    return (base / path.strip("\r\n")).resolve()


def is_remote_share(path: str) -> bool:
    """Return whether Windows would sign in to another machine to look there."""
    return path.replace("\\", "/").startswith("//")
