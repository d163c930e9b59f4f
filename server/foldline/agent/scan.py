"""Finds the prompt modules that a command line names, and analyses them without running them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.backends import SmartFileAccess
from foldline.backends.errors import cut
from foldline.backends.formatting.visible import visible
from foldline.ide.analysis.project import Project
from foldline.ide.analysis.prompt_files import PromptFiles
from foldline.ide.config import PromptOptions, read_project_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from foldline.ide.analysis.module_analysis import ModuleAnalysis

_ROOT_MARKS = ("pyproject.toml", ".git", "setup.py", "setup.cfg")


class ScanError(ValueError):
    """The paths or options can't be scanned; the message says why."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The prompt modules below some paths of one project."""

    root: Path
    options: PromptOptions
    files: tuple[str, ...]
    project: Project

    def analyses(self) -> Iterator[ModuleAnalysis]:
        """Yield the modules' analyses one at a time, so that not all are in memory at once."""
        for file in self.files:
            analysis = self.project.analysis(file)
            if analysis is not None:
                yield analysis

    def relative(self, file: str) -> str:
        """Return a file's path relative to the root, with `/`."""
        path = Path(file)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else file


def scan(paths: Sequence[str]) -> Scan:
    """Find the prompt modules below these paths, or below the current directory.

    Raises:
        ScanError: A path doesn't exist, or the configuration is wrong.
    """
    resolved = [Path(path).resolve() for path in paths or ["."]]
    for path, argument in zip(resolved, paths or ["."], strict=True):
        if not path.exists():
            raise ScanError(f"{visible(cut(argument))}: there is no such file or directory")
    root = root_of(resolved[0])
    outside = [path for path in resolved if not path.is_relative_to(root)]
    if outside:
        named, around = visible(str(outside[0])), visible(str(root))
        raise ScanError(f"{named} lies outside {around}: check it separately")
    options, problems = read_project_options(root)
    if problems:
        raise ScanError("; ".join(problems))
    project = Project(root)
    project.search = lru_cache(maxsize=1)(PromptFiles(partial(_walk, root, [root])).refresh)
    found: dict[str, None] = {}
    for path in resolved:
        if path.is_file():
            found[str(path)] = None
    folders = [path for path in resolved if path.is_dir()]
    if folders:
        candidates = PromptFiles(partial(_walk, root, folders)).refresh()
        found.update(dict.fromkeys(candidates))
    return Scan(root, options, tuple(found), project)


def root_of(path: Path) -> Path:
    """Return the root of the project that contains a file or folder."""
    start = path if path.is_dir() else path.parent
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in _ROOT_MARKS):
            return folder
    return start


def _walk(
    root: Path, folders: Iterable[Path], check: Callable[[], None]
) -> Iterator[tuple[str, object]]:
    backend = SmartFileAccess.for_workspace(root).file_backend
    for folder in folders:
        start = backend.resolve(folder.relative_to(root).as_posix())
        for stamp in backend.walk_folder(start, check=check):
            yield str(root / stamp.path), stamp
