"""The folders that an agent may read, and the resolution of paths in them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from foldline.backends import BackendError, InvalidArgumentError, OutsideWorkspaceError, PathError
from foldline.backends.base.near_names import free_name
from foldline.backends.formatting.visible import visible
from foldline.links import resolved
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.backends import SmartFileAccess
    from foldline.ide.analysis.project import Project
    from foldline.ide.workspace import Workspace

# By Agent Plugins and by Claude Code, set for what a plugin starts.
_PLUGINS = ("PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")
# In the folder of foldline's own plugin, for clients that set neither.
_OURS = ("plugin.json", "mcp.json", "skills/foldline/SKILL.md")


class NoFolderError(Exception):
    """There is no folder to read; the message says how to name one."""


@record
class Folder:
    """One folder; `prefix` stands before its paths where there are several, as in `app/`."""

    prefix: str
    access: SmartFileAccess
    workspace: Workspace

    @property
    def project(self) -> Project:
        """The folder's modules; the analysis is loaded when it is first needed."""
        return self.workspace.folder(self.root / "_").project

    @property
    def root(self) -> Path:
        return self.access.file_backend.root

    def shown(self, path: str) -> str:
        """Return a path of this folder as an agent writes it."""
        if self.prefix and path in ("", "."):
            return self.prefix.rstrip("/")
        return self.prefix + path

    def shown_cursor(self, cursor: str | None) -> str | None:
        """Return a cursor from this folder's answer as `Folders.each` takes it."""
        return None if cursor is None else self.prefix + cursor

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Prefix the paths of the errors that are raised inside with the folder's name."""
        try:
            yield
        except BackendError as error:
            if not self.prefix:
                raise
            raise error.below(self.prefix) from error


@record
class Place:
    """A path that an agent wrote: its folder, and the path as that folder's files know it."""

    folder: Folder
    path: str


@record
class Folders:
    """All folders; with more than one, relative paths begin with a folder's name."""

    folders: tuple[Folder, ...]

    def locate(self, path: str) -> Place:
        """Return the folder that holds `path`, and the path inside it.

        Raises:
            PathError: The path begins with no folder's name, or lies outside all of them.
        """
        if len(self.folders) == 1:
            return Place(self.folders[0], path)
        if PurePath(path).is_absolute():
            # Choose the innermost folder; its file backend refuses links that lead out of it.
            around = [folder for folder in self.folders if _is_below(path, folder.root)]
            if not around:
                raise OutsideWorkspaceError(path)
            return Place(max(around, key=lambda folder: len(folder.root.parts)), path)
        # Take a backslash for a separator only if the path matches no folder otherwise.
        for written in dict.fromkeys((path, path.replace("\\", "/"))):
            name, *rest = [part for part in written.split("/") if part != "."] or [""]
            for folder in self.folders:
                if folder.prefix == f"{name}/":
                    return Place(folder, "/".join(rest) or ".")
        raise PathError(path, f"there are several folders: begin the path with one of {self.names}")

    def beginning(self, path: str) -> Folder | None:
        """Return the folder whose name `path` begins with; None without one."""
        beginnings = ((folder, folder.prefix) for folder in self.folders)
        return next((folder for folder, name in beginnings if f"{path}/".startswith(name)), None)

    @property
    def names(self) -> str:
        """Folder prefixes, comma-separated, for messages."""
        return visible(", ".join(folder.prefix for folder in self.folders))

    @staticmethod
    def share(budget: int, count: int) -> int:
        """Return the budget of each of so many answers, which are joined by newlines."""
        return budget if count == 1 else max((budget + 1) // count - 1, 1)

    def each(self, budget: int, cursor: str | None) -> tuple[tuple[Folder, int, str | None], ...]:
        """Return the folders for a query without a path, each with its budget and cursor.

        A cursor, as `Folder.shown_cursor` made it, is for the folder that its answer was from.

        Raises:
            InvalidArgumentError: The cursor is from no folder's answer.
        """
        if len(self.folders) == 1:
            return ((self.folders[0], budget, cursor),)
        if cursor is None:
            share = self.share(budget, len(self.folders))
            return tuple((folder, share, None) for folder in self.folders)
        for folder in self.folders:
            if cursor.startswith(folder.prefix):
                return ((folder, budget, cursor.removeprefix(folder.prefix)),)
        raise InvalidArgumentError(
            "cursor", f"{cursor!r} is not from an answer of this kind; leave it out to start anew"
        )


def open_folders(workspace: Workspace, roots: Iterable[Path]) -> Folders:
    """Make `roots` the folders of the workspace, and return those that can be read.

    Raises:
        NoFolderError: None of them can be read.
    """
    by_root: dict[Path, Folder] = {}
    problems: list[str] = []
    workspace.set_roots(map(resolved, roots))
    for root in workspace.roots:
        try:
            access = workspace.access(root)
            by_root[access.file_backend.root] = Folder("", access, workspace)
        except (BackendError, OSError) as error:
            problems.append(str(error))
    if not by_root:
        raise NoFolderError(
            "There is no folder to read: open one in the client, or start the server with "
            "`foldline mcp --root DIR`" + "".join(f"; {problem}" for problem in problems)
        )
    names: dict[str, Folder] = {}
    for root, folder in by_root.items():
        name = free_name(root.name or "root", names, "-")
        names[name] = replace(folder, prefix=f"{name}/")
    return Folders(tuple((by_root if len(by_root) == 1 else names).values()))


def working_folder() -> Path:
    """Return the folder that the client started us in, if it can be a workspace.

    Raises:
        NoFolderError: It is gone, the home directory, a whole disk or in the plugin that starts us.
    """
    how = "start it with `foldline mcp --root DIR`"
    try:
        folder = Path.cwd()
    except FileNotFoundError as error:
        raise NoFolderError(f"The folder in which the server was started is gone: {how}") from error
    if folder == Path("~").expanduser() or folder == Path(folder.anchor):
        raise NoFolderError(f"The server was started in {folder}, which isn't a workspace: {how}")
    plugins = [folder] if all((folder / name).is_file() for name in _OURS) else []
    plugins += [resolved(root) for root in map(os.environ.get, _PLUGINS) if root]
    if any(map(folder.is_relative_to, plugins)):
        raise NoFolderError(
            f"The client sends no roots, and {folder} is the plugin's folder, not the project's: "
            "in the project's folder, run `foldline tree` and its other verbs in a shell (without "
            f"foldline, `uvx --from 'foldline[server]' foldline tree`), or {how}"
        )
    return folder


def _is_below(path: str, root: Path) -> bool:
    return any(Path(way(path)).is_relative_to(root) for way in (os.path.normpath, os.path.realpath))
