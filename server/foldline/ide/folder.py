"""One workspace folder: its files, its prompts, and its project's options for them."""

from __future__ import annotations

import logging
import os
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import Shared
from foldline.backends.errors import PathError
from foldline.backends.formatting.visible import visible
from foldline.ide.analysis.modules import Modules
from foldline.ide.analysis.prompt_files import PromptFiles
from foldline.ide.config import read_options, read_project_options
from foldline.ide.instructions.files import instructs
from foldline.ide.token_counter import TokenCounter, token_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from foldline.backends import SmartFileAccess
    from foldline.backends.files.listing import FileStamp
    from foldline.ide.analysis.project import Project
    from foldline.ide.config import Nearest, PromptOptions

log = logging.getLogger(__name__)

SEARCH_SECONDS = 10.0
"""The time limit of one search of a folder's files; the next one goes on with the rest."""


class Folder:
    """One workspace folder.

    Attributes:
        reach: The folder up to which modules and options are looked up: itself, or one around it.
        files: Its files that hold prompts.
    """

    def __init__(
        self, root: Path, access: Callable[[Path], SmartFileAccess], reach: Path | None = None
    ) -> None:
        self.root = root
        self.reach = reach or root
        self._access = access
        self._modules = Modules(self.reach)
        self._project: Project | None = None
        self._client_options: object = None
        self.files = PromptFiles(partial(self.walk, (".",)), seconds=SEARCH_SECONDS)
        self._refresh = Shared(lambda _: self.files.refresh())

    @property
    def project(self) -> Project:
        """Its modules, analyzed."""
        # Queries hold the lock for long: only who makes the project waits for them.
        return self._project or self._analyze()

    def _analyze(self) -> Project:
        from foldline.ide.analysis.project import Project

        with self._modules.lock:
            if self._project is None:
                project = Project(self.reach, self._modules.closed)
                project.search = lambda: self.refresh().result()
                self._project = project
            return self._project

    @property
    def is_analyzed(self) -> bool:
        """True once something has asked for its project: most folders hold no prompts."""
        return self._project is not None

    @property
    def modules(self) -> Modules:
        """Its modules: those of its project, once there is one."""
        return self._project or self._modules

    @property
    def access(self) -> SmartFileAccess:
        """Its files, open documents included."""
        return self._access(self.root)

    def refresh(self) -> Future[tuple[str, ...]]:
        """Return the files that concern prompts, as they are on disk now.

        Callers at the same time share one walk of the folder.
        """
        return self._refresh.ask()

    def set_client_options(self, values: object) -> None:
        """Let the client's options win over the project's."""
        self._client_options = values

    def project_options(self, file: Path | None = None) -> Nearest[PromptOptions]:
        """The project's options for one of its files; without one, for the folder."""
        return read_project_options(file or self.root / "_", self.reach)

    def options(self, file: Path | None = None) -> PromptOptions:
        """The project's options, overridden by the client's."""
        return read_options(self._client_options, self.project_options(file).table)[0]

    def counter(self, file: Path | None = None) -> TokenCounter:
        options = self.options(file)
        return token_counter(options.tokens, exact=options.exact_tokens)

    def instructs(
        self, file: Path | str, known: dict[str, tuple[str, tuple[str, ...]]] | None = None
    ) -> bool:
        """True for a file that instructs agents, by the options for it."""
        return instructs(file, self.reach, self._client_options, known)

    def prompt_files(self, below: Iterable[str]) -> PromptFiles:
        """Return the files that hold prompts, below some of its paths."""
        return PromptFiles(partial(self.walk, tuple(below)))

    @property
    def unsearched(self) -> tuple[str, ...]:
        """A sentence if the last search of the files ran out of time."""
        if self.files.complete:
            return ()
        seconds = f"{SEARCH_SECONDS:.3g} s"
        return (
            f"{visible(str(self.root))} has more files than are searched for prompts in {seconds}: "
            "ask again to go on, or open a folder below it",
        )

    def walk(
        self, below: Iterable[str], check: Callable[[], None] = lambda: None
    ) -> Iterator[tuple[str, FileStamp]]:
        """Yield the files below some of its paths, with their times; none if it is no folder."""
        try:
            backend = self.access.file_backend
        except PathError as error:
            # Other folders are still searched.
            log.warning("Prompts are not searched: %s", error)
            return
        start = f"{str(self.root).rstrip(os.sep)}{os.sep}"
        for path in below:
            for stamp in backend.walk_folder(backend.resolve(path), check=check):
                yield start + stamp.path.replace("/", os.sep), stamp
