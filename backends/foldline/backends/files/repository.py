"""The repository of a workspace, read from git's own files: git isn't asked."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from foldline.backends.errors import PathError
from foldline.backends.files.limits import SETTINGS_BYTES
from foldline.backends.files.reader import read_text

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


def git_file(repository: Path, name: str) -> Path | None:
    """A file of git: each worktree has an `index` of its own, and the others in common."""
    with suppress(OSError, PathError, RuntimeError, ValueError):
        return _git_folders(repository)[name != "index"] / name
    return None


def revision_of(root: Path) -> str | None:
    """The commit that is checked out at or above `root`; None where git's files name none."""
    with suppress(OSError, PathError, RuntimeError, ValueError):
        folder, common = _git_folders(repository_of(root) or root)
        head = read_text(folder / "HEAD", _LINK_BYTES, root=folder)
        branch = head.removeprefix("ref: ").strip()
        if branch != head.strip():
            reference = branch if (common / branch).exists() else "packed-refs"
            head = read_text(common / reference, SETTINGS_BYTES, root=common)
        packed = re.search(rf"^([0-9a-f]{{40,64}})(?: {re.escape(branch)})?$", head, re.MULTILINE)
        return None if packed is None else packed[1]
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
    link_target = _LINK.match(read_text(link, _LINK_BYTES, root=link.parent))
    if link_target is None:
        raise PathError(str(link), "names no folder")
    folder = _named(link_target[1], link.parent)
    if not os.path.lexists(folder / "gitdir"):
        worktree = _WORKTREE.search(read_text(folder / "config", SETTINGS_BYTES, root=folder))
        if worktree is None or _named(worktree[1], folder) != link.parent.resolve():
            raise PathError(str(link), "isn't known to the repository that it names")
        return folder, folder
    named = _named(read_text(folder / "gitdir", _LINK_BYTES, root=folder), folder)
    common = _named(read_text(folder / "commondir", _LINK_BYTES, root=folder), folder)
    if named != link.resolve() or folder.parent != common / "worktrees":
        raise PathError(str(link), "isn't known to the repository that it names")
    return folder, common


def _named(path: str, base: Path) -> Path:
    """The path that a file of git names, from `base` on."""
    if is_remote_share(path):
        raise PathError(path, "is no path of this machine")
    return (base / path.strip("\r\n")).resolve()


def is_remote_share(path: str) -> bool:
    """Return whether Windows would sign in to another machine to look there."""
    return path.replace("\\", "/").startswith("//")
