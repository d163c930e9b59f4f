"""Where the repository of a workspace is, read from git's own files: git isn't asked."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.backends.files.limits import SETTINGS_BYTES
from foldline.backends.files.reader import read_text

if TYPE_CHECKING:
    from pathlib import Path

_LINK_BYTES = 8_192
_WORKTREE = re.compile(r"^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t]*\r?$", re.MULTILINE)
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
            links, no path at all, or no worktree or submodule that the repository knows.
    """
    return _git_folders(repository)[1]


def index_of(repository: Path) -> Path | None:
    """The file in which git keeps what a repository, worktree or submodule tracks."""
    try:
        return _git_folders(repository)[0] / "index"
    except (OSError, PathError, RuntimeError, ValueError):
        return None


def revision_of(root: Path) -> str | None:
    """The commit that is checked out at or above `root`; None where git's files name none."""
    with suppress(OSError, PathError, RuntimeError, ValueError):
        own, common = _git_folders(repository_of(root) or root)
        head = read_text(own / "HEAD", _LINK_BYTES, root=own)
        branch = head.removeprefix("ref: ").strip()
        if branch != head.strip():
            place = branch if (common / branch).exists() else "packed-refs"
            head = read_text(common / place, SETTINGS_BYTES, root=common)
        found = re.search(rf"^([0-9a-f]{{40,64}})(?: {re.escape(branch)})?$", head, re.MULTILINE)
        return None if found is None else found[1]
    return None


def _git_folders(repository: Path) -> tuple[Path, Path]:
    """A repository's own `.git` folder, and that which all of its worktrees have in common."""
    git = repository / ".git"
    return (git.resolve(), git.resolve()) if git.is_dir() else _linked(git)


def _linked(link: Path) -> tuple[Path, Path]:
    """The folders that the `.git` file of a worktree or a submodule names.

    Raises:
        PathError: It's neither, or the repository doesn't know it: anybody can write a file that
            names another repository's folder.
    """
    found = _LINK.match(read_text(link, _LINK_BYTES, root=link.parent))
    if found is None:
        raise PathError(str(link), "names no folder")
    own = _named(found[1], link.parent)
    if not os.path.lexists(own / "gitdir"):
        worktree = _WORKTREE.search(read_text(own / "config", SETTINGS_BYTES, root=own))
        if worktree is None or _named(worktree[1], own) != link.parent.resolve():
            raise PathError(str(link), "isn't known to the repository that it names")
        return own, own
    known = _named(read_text(own / "gitdir", _LINK_BYTES, root=own), own)
    common = _named(read_text(own / "commondir", _LINK_BYTES, root=own), own)
    if known != link.resolve() or own.parent != common / "worktrees":
        raise PathError(str(link), "isn't known to the repository that it names")
    return own, common


def _named(path: str, base: Path) -> Path:
    """The path that a file of git names, from `base` on."""
    if is_remote_share(path):
        raise PathError(path, "is no path of this machine")
    return (base / path.strip("\r\n")).resolve()


def is_remote_share(path: str) -> bool:
    """Return whether Windows would sign in to another machine to look there."""
    return path.replace("\\", "/").startswith("//")
