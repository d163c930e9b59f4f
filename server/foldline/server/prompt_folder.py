"""One workspace folder: what is known of its prompts, and what its project sets about them."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.backends.formatting.visible import visible
from foldline.backends.waiting import Shared
from foldline.ide.analysis.project import Project
from foldline.ide.analysis.prompt_files import PromptFiles
from foldline.ide.config import read_options, read_project_options
from foldline.ide.token_counter import TokenCounter, token_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from foldline.server.workspace import WorkspaceFiles

log = logging.getLogger(__name__)

SEARCH_SECONDS = 10.0
"""For a look at the files of a folder; what is left then is looked at with the next question."""


class Folder:
    """One workspace folder: its project, its options and the files that hold prompts."""

    def __init__(self, root: Path, files: WorkspaceFiles) -> None:
        self.root = root
        self.project = Project(root)
        self._set_by_project, self.problems = read_project_options(root)
        self.options = self._set_by_project
        self.files = PromptFiles(partial(_walk, root, files), seconds=SEARCH_SECONDS)
        self._refresh = Shared(lambda _: self.files.refresh())
        self.project.search = lambda: self.refresh().result()

    def refresh(self) -> Future[tuple[str, ...]]:
        """The files that have to do with prompts, as they are on disk now.

        Those who ask at the same time share one look at the folder.
        """
        return self._refresh.ask()

    @property
    def unsearched(self) -> tuple[str, ...]:
        """Says so where the last look at the files did not come to its end."""
        if self.files.complete:
            return ()
        seconds = f"{SEARCH_SECONDS:.3g} s"
        return (
            f"{visible(str(self.root))} has more files than are searched for prompts in {seconds}: "
            "ask again to go on, or open a folder below it",
        )

    def set_client_options(self, values: object) -> None:
        """Let the client's section win over the project's."""
        self.options, _ = read_options(values, "foldline", self._set_by_project)

    @property
    def counter(self) -> TokenCounter:
        """Counts tokens as the options say."""
        return token_counter(self.options.tokens, exact=self.options.exact_tokens)


def _walk(
    root: Path, files: WorkspaceFiles, check: Callable[[], None]
) -> Iterator[tuple[str, object]]:
    try:
        backend = files.access(root).file_backend
    except PathError as error:
        # It hides none of the other folders.
        log.warning("No prompts are looked for: %s", error)
        return
    for stamp in backend.walk_folder(".", check=check):
        yield str(root / stamp.path), stamp
