"""The workspaces that share an index: the worktrees and clones of a repository on a machine.

It's read from git's own files, and decided by no more than a name. A repository that claims
another's origin shares its file, which holds nothing that could be wrong for either: words are
kept under hashes of what foldline itself read.
"""

from __future__ import annotations

import re
from pathlib import Path

from foldline.backends.errors import PathError
from foldline.backends.files.ignore import repository_of
from foldline.backends.files.limits import SETTINGS_BYTES
from foldline.backends.files.reader import read_text

_LINK_BYTES = 8_192
_LONGEST_ORIGIN = 2_000
_LINK = re.compile(r"\Agitdir: ([^\n]+)\n?\Z")
# Scheme, user and port say how a host is reached; `git@host:path` is the other way to write it.
_ADDRESS = re.compile(r"(?:[a-z+]+://)?(?:[^@/]*@)?([^/:]+)(?::\d+(?=/))?[:/]+(.+)")


def family_of(root: Path) -> str:
    """The name that the worktrees and clones of a repository have in common, else the root."""
    repository = repository_of(root)
    if repository is None:
        return str(root)
    git = repository / ".git"
    try:
        common = git.resolve() if git.is_dir() else _common_of(git)
        config = read_text(common / "config", SETTINGS_BYTES, root=common)
        return _name_of(_origin_of(config)) or str(common)
    except (OSError, PathError, RuntimeError, ValueError):
        # Not there, not to be read, a loop of links, or no path at all.
        return str(root)


def _name_of(origin: str) -> str:
    """The repository that a URL means, however it's reached; empty where that can't be said."""
    if len(origin) > _LONGEST_ORIGIN or _is_remote_share(origin):
        return ""
    place = Path(origin.removeprefix("file://"))
    if place.is_absolute():
        inner = place / ".git"
        return str((inner if inner.is_dir() else place).resolve())
    address = _ADDRESS.fullmatch(origin)
    if address is None:
        return origin
    return f"{address[1].lower()}/{address[2].strip('/').removesuffix('.git')}"


def _origin_of(config: str) -> str:
    """The URL of the remote `origin`; empty where there is none."""
    section = ""
    for line in map(str.strip, config.splitlines()):
        name, _, value = line.partition("=")
        if line.startswith("["):
            section = line
        elif section == '[remote "origin"]' and name.strip() == "url":
            return value.strip().strip('"')
    return ""


def _common_of(link: Path) -> Path:
    """The `.git` folder of the repository that a worktree's `.git` file names.

    Raises:
        PathError: It isn't a worktree, or the repository doesn't know it: anybody can write a file
            that names another repository's folder.
    """
    found = _LINK.match(read_text(link, _LINK_BYTES, root=link.parent))
    if found is None or _is_remote_share(found[1]):
        raise PathError(str(link), "names no folder of this machine")
    own = (link.parent / found[1]).resolve()
    known = read_text(own / "gitdir", _LINK_BYTES, root=own).strip()
    if (own / known).resolve() != link.resolve():
        raise PathError(str(link), "isn't known to the repository that it names")
    return (own / read_text(own / "commondir", _LINK_BYTES, root=own).strip()).resolve()


def _is_remote_share(path: str) -> bool:
    """Return whether Windows would sign in to another machine to look there."""
    return path.replace("\\", "/").startswith("//")
