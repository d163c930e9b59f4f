"""What is known of the prompts in open documents and in the workspace, without running them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.waiting import PROMPTS, in_thread
from foldline.server.convert import LineIndex
from foldline.server.workspace import local_path, uri_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lsprotocol.types import Location, Position, PositionEncodingKind, Range

    from foldline.ide.analysis.model import SourceSpan, Span
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.project import Project
    from foldline.ide.config import PromptOptions
    from foldline.ide.token_counter import TokenCounter
    from foldline.server.prompt_folder import Folder
    from foldline.server.server import FoldlineServer
    from foldline.server.workspace import WorkspaceFiles

    Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Asked:
    """One document as a question finds it; to be used only while the question is answered."""

    uri: str
    index: LineIndex
    analysis: ModuleAnalysis
    project: Project
    folder: Folder
    encoding: PositionEncodingKind | str | None
    version: int | None
    """The editor's version of the text; None where nobody has it open."""

    @property
    def options(self) -> PromptOptions:
        return self.folder.options

    @property
    def counter(self) -> TokenCounter:
        return self.folder.counter

    def offset(self, position: Position) -> int:
        return self.index.offset(position)

    def range(self, span: Span | SourceSpan) -> Range:
        return self.index.range(span.start, span.end)

    def location(self, place: SourceSpan) -> Location | None:
        """A place in any file of the project; None where that file cannot be read."""
        from lsprotocol.types import Location

        if place.file == self.analysis.file:
            return Location(self.uri, self.range(place))
        text = self.project.text(place.file)
        if text is None:
            return None
        index = LineIndex.of(text, self.encoding)
        return Location(uri_of_file(place.file), index.range(place.start, place.end))


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document as an editor holds it."""

    uri: str
    index: LineIndex
    version: int | None


class PromptIndex:
    """Keeps one `Folder` for each workspace folder, with the texts that the editor holds."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files
        self._folders: dict[Path, Folder] = {}
        self._open: dict[str, OpenDocument] = {}
        self._client: object = None
        self._lock = Lock()
        self.version = 0
        """Grows with every change that may change an answer."""

    def take(self, uri: str, index: LineIndex, version: int | None = None) -> None:
        """Let the text of `index` stand for the document; it is read when somebody asks."""
        with self._lock:
            self._open[file_of(uri)] = OpenDocument(uri, index, version)
            self.version += 1

    def drop(self, uri: str) -> None:
        """Let the disk's text stand for the document again."""
        with self._lock:
            self._open.pop(file_of(uri), None)
            self.version += 1

    def changed_on_disk(self, uri: str) -> None:
        """Read a file anew when somebody asks."""
        path = local_path(uri)
        if path is None:
            return
        with self._lock:
            self.version += 1
            folders = [
                folder for root, folder in self._folders.items() if path.is_relative_to(root)
            ]
            if path.name == "pyproject.toml":
                for folder in folders:
                    _give_back(self._folders.pop(folder.root))
        for folder in folders:
            folder.project.changed_on_disk(str(path))

    def forget(self) -> None:
        """Read every file and every project's options anew when somebody asks."""
        with self._lock:
            for folder in self._folders.values():
                _give_back(folder)
            self._folders.clear()
            self.version += 1

    def set_client_options(self, values: object) -> tuple[str, ...]:
        """Let the client's section win over each project's, and say what is wrong in it."""
        from foldline.ide.config import read_options

        _, problems = read_options(values, "foldline")
        with self._lock:
            self._client = values
            self.version += 1
            for folder in self._folders.values():
                folder.set_client_options(values)
        return problems

    def folder(self, path: Path) -> Folder:
        """The workspace folder that holds a path."""
        from foldline.server.prompt_folder import Folder

        root = self._files.root_of(path) if path.is_absolute() else self._nowhere()
        with self._lock:
            known = self._folders.get(root)
            if known is None:
                known = self._folders[root] = Folder(root, self._files)
                known.set_client_options(self._client)
            return known

    def _nowhere(self) -> Path:
        """Where a document belongs that is no file: never to the directory of this process."""
        roots = self._files.roots
        return roots[0] if roots else Path(os.devnull)

    def folders(self) -> tuple[Folder, ...]:
        """The workspace folders, in order."""
        return tuple(self.folder(root / "_") for root in self._files.roots)

    def open_documents(self) -> dict[str, str]:
        """The URI of each open document, by file."""
        with self._lock:
            return {file: document.uri for file, document in self._open.items()}

    def answer(
        self,
        uri: str,
        encoding: PositionEncodingKind | str | None,
        question: Callable[[Asked], Answer],
    ) -> Answer | None:
        """The answer to a question about a document; None where it cannot be read.

        It may take as long as a parse: ask in a thread.
        """
        file = file_of(uri)
        folder = self.folder(Path(file))
        project = folder.project
        with project.lock:
            with self._lock:
                documents = {
                    each: document
                    for each, document in self._open.items()
                    if each == file or Path(each).is_relative_to(folder.root)
                }
            for each in project.open_files:
                if each not in documents:
                    project.close(each)
            for each, document in documents.items():
                project.open(each, document.index.text)
            project.look_at_disk()
            analysis = project.analysis(file)
            if analysis is None:
                return None
            asked = documents.get(file)
            index = asked.index if asked is not None else LineIndex.of(analysis.text, encoding)
            version = asked.version if asked is not None else None
            return question(Asked(uri, index, analysis, project, folder, encoding, version))


def _give_back(folder: Folder) -> None:
    """Forget what was made of a folder's files, after the question that goes on about them."""
    PROMPTS.submit(folder.project.forget)


async def ask(ls: FoldlineServer, uri: str, question: Callable[[Asked], Answer]) -> Answer | None:
    """The answer to a question about a document, worked out in a thread."""
    encoding = ls.documents.position_codec.encoding
    return await in_thread(partial(ls.prompts.answer, uri, encoding, question), PROMPTS)


def file_of(uri: str) -> str:
    """The name under which a document is kept: its path, or its URI where it has none."""
    path = local_path(uri)
    return str(path) if path is not None else uri


def uri_of_file(file: str) -> str:
    """The URI of a document that is kept under a name."""
    return uri_of(Path(file)) if Path(file).is_absolute() else file
