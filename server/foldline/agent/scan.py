"""Finds the prompts that a command line names, and analyses them without running them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from foldline.agent.refusals import Refused
from foldline.agent.targets import check_python
from foldline.backends.base.reading import PROJECT_FILES
from foldline.backends.errors import PathError, cut, first_few
from foldline.backends.files import repository
from foldline.backends.formatting.visible import visible
from foldline.ide.analysis.module_analysis import ModuleAnalysis
from foldline.ide.config import PromptOptions, read_project_options
from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, read_instructions
from foldline.ide.instructions.files import instruction_files
from foldline.ide.resolve import source_kind
from foldline.ide.snapshot import Snapshot
from foldline.ide.sources.source import SourceDocument
from foldline.ide.token_counter import Encoding, TokenCounter, token_counter
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.links import is_loop, resolved
from foldline.records import record

_ROOT_MARKS = (*PROJECT_FILES, ".git", "setup.py", "setup.cfg")


@record
class Scan:
    """The prompt modules and the instruction files below some paths of one project.

    `named` are those that were named one by one.
    """

    workspace: Workspace
    folder: Folder
    files: tuple[str, ...]
    named: frozenset[str]
    instructions: tuple[Path, ...] = ()

    def options(self, file: str) -> PromptOptions:
        return self.folder.options(Path(file))

    def counter(self, encoding: Encoding | None = None) -> TokenCounter:
        """The token counter of the options, or with another encoding.

        Raises:
            Refused: The options for some files name other encodings.
        """
        every = (*self.files, *map(str, self.instructions))
        encodings = {self.options(file).tokens: self.relative(file) for file in every}
        if encoding is None and len(encodings) > 1:
            named = " and ".join(f"{visible(file)} in {one}" for one, file in encodings.items())
            raise Refused(f"the tokens of {named} are added up: name one with --encoding")
        options = self.options(next(iter(every), ""))
        return token_counter(encoding or options.tokens, exact=options.exact_tokens)

    def analyses(self) -> Iterator[ModuleAnalysis]:
        """Yield the modules' analyses one at a time, so that not all are in memory at once."""
        for file in self.files:
            analysis = self.folder.project.analysis(file)
            if analysis is not None:
                yield analysis

    def snapshot(self, analysis: ModuleAnalysis) -> Snapshot:
        """Return a module as features see it."""
        path, workspace = Path(analysis.file), self.workspace
        document = SourceDocument(uri_of(path), path, self.folder.root, analysis.text)
        source = source_kind(workspace, path)(workspace, document)
        return Snapshot(document.uri, None, analysis, self.folder, source, None)

    def instruction_files(
        self, without: dict[str, str] | None = None
    ) -> Iterator[tuple[Snapshot, InstructionFile]]:
        """Yield the instruction files, each as features see it, read one at a time.

        Where `without` is given, it gets those that can't be read or parsed, and why.

        Raises:
            PathError: One can't be read.
            Refused: One can't be parsed.
        """
        for path in self.instructions:
            snapshot = self.workspace.with_snapshot(uri_of(path), lambda snapshot: snapshot)
            if snapshot and snapshot.instructions:
                yield snapshot, snapshot.instructions
                continue
            try:
                read_instructions(path, self.folder.root)
                raise Refused(f"{visible(self.relative(str(path)))}: its Markdown can't be parsed")
            except (PathError, Refused) as error:
                if without is None:
                    raise
                without[self.relative(str(path))] = str(error).partition(": ")[2]

    def relative(self, file: str) -> str:
        """Return a file's path relative to the root, with `/`."""
        path, root = Path(file), self.folder.root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else file


def scan(paths: Sequence[str]) -> Scan:
    """Find the prompt modules below these paths, or below the current directory.

    Raises:
        Refused: A path doesn't exist, or the configuration is wrong.
    """
    places = [resolved(path) for path in paths or ["."]]
    for path, argument in zip(places, paths or ["."], strict=True):
        if is_loop(path):
            raise Refused(f"{visible(cut(argument))}: it is a link to itself")
        if not path.exists():
            raise Refused(f"{visible(cut(argument))}: there is no such file or directory")
        if not path.is_file() and not path.is_dir():
            raise Refused(f"{visible(cut(argument))}: it is neither a file nor a directory")
    root = _shared_root(places)
    workspace = Workspace.at(root)
    workspace.reach = analysis_root(root)
    (folder,) = workspace.folders()
    files = [path for path in places if path.is_file()]
    instructions = dict.fromkeys(path for path in files if folder.instructs(path))
    modules = [path for path in files if path not in instructions]
    for path in modules:
        check_python(path)
    scanned_paths = dict.fromkeys(map(str, modules))
    below = [path.relative_to(root).as_posix() for path in places if path.is_dir()]
    if below:
        scanned_paths.update(dict.fromkeys(folder.prompt_files(below).refresh()))
        instructions.update(dict.fromkeys(instruction_files(folder, below)))
    options = map(folder.project_options, [*map(Path, scanned_paths), *instructions, root / "_"])
    if problems := dict.fromkeys(problem for one in options for problem in one.problems):
        raise Refused("; ".join(first_few(problems)))
    named = frozenset(map(str, modules))
    return Scan(workspace, folder, tuple(scanned_paths), named, tuple(instructions))


def _shared_root(paths: Sequence[Path]) -> Path:
    """Return the project root, or folder, that contains all paths; `Refused` where nothing does."""
    root = root_of(paths[0])
    outside = [path for path in paths if not path.is_relative_to(root)]
    if not outside:
        return root
    several = len({analysis_root(path) for path in paths}) > 1
    if several and any(_is_marked(root_of(path)) for path in paths):
        one, other = visible(str(paths[0])), visible(str(outside[0]))
        raise Refused(f"{one} and {other} are of different projects: give each a call of its own")
    return Path(os.path.commonpath(path if path.is_dir() else path.parent for path in paths))


def root_of(path: Path) -> Path:
    """Return the root of the project that contains a file or folder."""
    start = path if path.is_dir() else path.parent
    return next((folder for folder in (start, *start.parents) if _is_marked(folder)), start)


def analysis_root(path: Path) -> Path:
    """Return the folder up to which a file's imports and options are looked up.

    It is the repository, without one the outermost project around it, else its own folder.
    """
    start = path if path.is_dir() else path.parent
    files = (one / name for one in (start, *start.parents) for name in PROJECT_FILES)
    projects = [file.parent for file in files if os.path.exists(file)]
    return repository.repository_of(start) or (projects or [start])[-1]


def settings_clients(place: str) -> tuple[str, ...]:
    """Return the clients that a path's settings name; `Refused` if something in them is wrong."""
    path = resolved(place)
    file = path / "_" if path.is_dir() else path
    settings = read_project_options(file, analysis_root(file.parent))
    if settings.problems:
        raise Refused("; ".join(settings.problems))
    return settings.table.clients


def repository_of(path: Path) -> Path:
    """Return the repository that contains a file or folder, by its `.git`.

    Without one, as in an unpacked archive, it is the working folder, where a client would start;
    for a path outside of that, the root of its project.
    """
    if (root := repository.repository_of(path)) is not None:
        return root
    here = Path.cwd()
    return here if here in (path, *path.parents) else root_of(path)


def _is_marked(folder: Path) -> bool:
    return any(os.path.exists(folder / mark) for mark in _ROOT_MARKS)
