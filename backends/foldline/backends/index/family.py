"""The workspaces that share an index: the worktrees and clones of a repository on a machine.

It's read from git's own files, and decided by no more than a name. A repository that claims
another's origin shares its file, which holds nothing that could be wrong for either: words are
kept under hashes of what foldline itself read.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from foldline.backends.base.caches import cache_folder
from foldline.backends.errors import PathError
from foldline.backends.files.limits import SETTINGS_BYTES
from foldline.backends.files.reader import read_text
from foldline.backends.files.repository import git_folder, is_remote_share, repository_of
from foldline.backends.index.database import SCHEMA_VERSION
from foldline.links import resolved

_LONGEST_ORIGIN = 2_000
# Scheme, user and port say how a host is reached; `git@host:path` is the other way to write it.
_ADDRESS = re.compile(r"(?:[a-z+]+://)?(?:[^@/]*@)?([^/:]+)(?::\d+(?=/))?[:/]+(.+)")


def index_location(root: Path) -> Path:
    """The index file of the workspace; `FOLDLINE_CACHE_DIR` moves the folder of all of them.

    Each version has its own: several may be in use at once.
    """
    name = hashlib.blake2b(os.fsencode(family_of(root)), digest_size=12).hexdigest()
    return index_folder() / f"{name}-{SCHEMA_VERSION}.sqlite3"


def index_folder() -> Path:
    """The folder of all index files."""
    return cache_folder() / "index"


def family_of(root: Path) -> str:
    """The name that the worktrees and clones of a repository have in common, else the root."""
    repository = repository_of(root)
    if repository is None:
        return str(root)
    try:
        common = git_folder(repository)
        config = read_text(common / "config", SETTINGS_BYTES, root=common)
        return _name_of(_origin_of(config)) or str(common)
    except (OSError, PathError, RuntimeError, ValueError):
        # Not there, not to be read, a loop of links, or no path at all.
        return str(root)


def _name_of(origin: str) -> str:
    """The repository that a URL means, however it's reached; empty where that can't be said."""
    if len(origin) > _LONGEST_ORIGIN or is_remote_share(origin):
        return ""
    origin_path = Path(origin.removeprefix("file://"))
    if origin_path.is_absolute():
        inner = origin_path / ".git"
        return str(resolved(inner if inner.is_dir() else origin_path))
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
