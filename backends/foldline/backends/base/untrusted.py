"""The folder and environment of programs while a workspace isn't trusted.

A program that is itself sound may still run what it finds in its working directory, in `PATH`,
or in a place that a variable names. So it starts in an empty folder of our own, and without what
leads into the workspace.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from foldline.backends.base.caches import private_folder

WINDOWS = os.name == "nt"
# Without them programs find neither their own settings nor room for what they write.
_KEPT = frozenset({"HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"})
# A folder with one of these is a project: the programs in it came with it.
_MARKS = (".git", ".hg", ".jj", ".svn", "pyproject.toml", "package.json", "Cargo.toml", "go.mod")
# Options that make Node.js load a file first; a relative one would be that of the workspace.
_NODE_LOADS = re.compile(r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)\b")


def is_inside(path: str | os.PathLike[str], root: Path) -> bool:
    """Return whether `path` lies in `root`, as it is written or with its links followed."""
    written = Path(os.path.abspath(path))  # noqa: PTH100  # `resolve` would follow links.
    followed = Path(os.path.realpath(path))
    return any(
        one.is_relative_to(folder)
        for one in (written, followed, written.parent.resolve())
        for folder in (root, Path(os.path.realpath(root)))
    )


def project_around(root: Path) -> Path:
    """The outermost project that holds `root`, with links followed; else `root` itself.

    Who wrote the folder wrote the project. A home folder, and any folder that homes lie in, is the
    user's own: it never counts as a project, even if the user keeps it in git.
    """
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111  # `home` fails without one.
    project = root = Path(os.path.realpath(root))
    for folder in root.parents:
        if folder == folder.parent or Path(home).is_relative_to(folder):
            break
        if any(os.path.lexists(folder / mark) for mark in _MARKS):
            project = folder
    return project


def is_in_project(path: str | os.PathLike[str], root: Path) -> bool:
    """Return whether `path` lies in `root` or in the project around it."""
    return is_inside(path, root) or is_inside(path, project_around(root))


def empty_folder(root: Path) -> Path:
    """An empty folder of this user that lies outside the workspace at `root`."""
    folder = private_folder("empty")
    with contextlib.suppress(OSError):
        if not any(folder.iterdir()) and not is_inside(folder, root):
            return folder
    return _temporary_folder()


def outside_environment(root: Path, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of `environ` without what leads into the workspace at `root`.

    The project around the workspace counts as the workspace. Search paths lose their entries inside
    it, and relative ones, which start from the working directory. Any other variable that names a
    place in the workspace is left out. No Python that is started below looks for modules in its
    working directory.
    """
    environment = dict(environ)
    for folder in {root, project_around(root)}:
        outside = {
            name: _outside(name.upper(), value, folder) for name, value in environment.items()
        }
        environment = {name: value for name, value in outside.items() if value is not None}
    return {**environment, "PYTHONSAFEPATH": "1"}


def find_on_path(
    program: str, *, outside: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Path | None:
    """The absolute path of the program in `PATH`.

    What lies in the folder `outside`, or in the project around it, doesn't count. Unlike the
    system's own search, this never looks in the working directory: not on Windows, and not for an
    entry that is empty or relative.
    """
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        if not Path(folder).is_absolute():
            continue
        program_path = find_in(Path(folder), program)
        if program_path is not None and (
            outside is None or not is_in_project(program_path, outside)
        ):
            return program_path
    return None


def find_in(folder: Path, program: str) -> Path | None:
    """The program in the folder, with the extension that Windows needs."""
    names = [program]
    if WINDOWS:
        endings = os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").lower().split(";")
        if not program.lower().endswith(tuple(endings)):
            names = [program + ending for ending in endings]
    for name in names:
        path = folder / name
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _outside(name: str, value: str, root: Path) -> str | None:
    """The value of a variable without what leads into `root`; None if nothing is left."""
    if name.endswith("PATH"):
        entries = (Path(entry) for entry in value.split(os.pathsep))
        kept = [
            str(entry) for entry in entries if entry.is_absolute() and not is_inside(entry, root)
        ]
        return os.pathsep.join(kept) or None
    if name in _KEPT:
        return value
    if name == "NODE_OPTIONS" and _NODE_LOADS.search(value):
        return None
    folders = {str(root), os.path.realpath(root)} - {os.path.abspath(os.sep)}  # noqa: PTH100
    return None if any(folder in value for folder in folders) else value


@cache
def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="foldline-empty-"))

    def remove() -> None:
        with contextlib.suppress(OSError):
            folder.rmdir()

    atexit.register(remove)
    return folder
