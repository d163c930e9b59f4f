"""The files of a workspace, read on demand; an open buffer wins over the disk."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from foldline.backends.errors import PathError
from foldline.backends.files.limits import PROMPT_MODULE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.module_analysis import Document, ModuleAnalysis
from foldline.ide.analysis.modules import ClosedFiles, Modules, stamp_of, with_line_feeds
from foldline.ide.analysis.scopes import ModuleScope
from foldline.ide.analysis.source_map import MappedText, plain
from foldline.ide.analysis.syntax import Anchor

_CLOSED_FILES = 24
"""Number of closed files that stay parsed."""
_FEW_USES = 100
"""Number of words below which it takes less to look for each in a text."""
_WORD = re.compile(r"\w+")


class Project(Modules):
    """The modules below a root, analyzed."""

    def __init__(self, root: Path | None = None, closed: ClosedFiles | None = None) -> None:
        super().__init__(root, closed)
        self.version = 0
        self.search: Callable[[], tuple[str, ...]] | None = None
        """Lists the workspace's prompt modules; if None, only open files are searched."""
        self._open: dict[str, Document] = {}
        self._closed: OrderedDict[str, Document | None] = OrderedDict()
        self._mentions: dict[str, tuple[set[tuple[str, str]], set[tuple[str, str]]]] = {}
        self._evaluator = Evaluator(self)
        self._analyses: dict[str, ModuleAnalysis] = {}

    # Files

    def open(self, file: str, text: str) -> None:
        text = with_line_feeds(text)
        with self.lock:
            document = self._open.get(file)
            if document is not None and document.text == text:
                return
            super().open(file, text)
            if document is None:
                closed = self._closed.pop(file, None)
                document = self._open[file] = closed or Document(file, text)
                document.update(text)
                self._changed()
                return
            names = document.update(text)
            self.version += 1
            self._analyses.clear()
            if document.is_parsed:
                self._evaluator.memo.forget(file, names, document.parsed)

    def close(self, file: str) -> None:
        with self.lock:
            if self._open.pop(file, None) is not None:
                self._closed.pop(file, None)
            super().close(file)

    def forget(self) -> None:
        """Forget all files, so that the memory of their analyses is freed at once.

        The project and its evaluator refer to each other, and the garbage collector would free such
        a cycle late.
        """
        with self.lock:
            self._open.clear()
            self._closed.clear()
            super().forget()

    def changed_on_disk(self, file: str) -> None:
        with self.lock:
            self._closed.pop(file, None)
            super().changed_on_disk(file)

    def _changed(self) -> None:
        super()._changed()
        self.version += 1
        self._mentions.clear()
        self._evaluator = Evaluator(self)
        self._analyses.clear()

    def text(self, file: str) -> str | None:
        """Return the file's current text; None if it can't be read."""
        with self.lock:
            document = self._document(file)
            return document.text if document is not None else None

    def analysis(self, file: str) -> ModuleAnalysis | None:
        """Return the analysis of a file; None if it can't be read."""
        with self.lock:
            module = self._analyses.get(file)
            if module is None:
                document = self._document(file)
                if document is None:
                    return None
                concerned = self.concerned(file, document.text)
                module = ModuleAnalysis(document, self._evaluator, concerned=concerned)
                self._analyses[file] = module
            return module

    def without_code(self, file: str, text: str) -> ModuleAnalysis:
        """Return the analysis of a text that isn't Python: it has no statements."""
        return ModuleAnalysis(Document(file, text), self._evaluator, concerned=False)

    def mentioning(self, word: str, *, near: tuple[str, ...]) -> tuple[str, ...]:
        """Return the prompt modules that contain `word` and one of `near`, without parsing them."""
        if self.search is None:
            return ()
        found: list[str] = []
        for file in self.search():
            opened = self._open.get(file)
            text = opened.text if opened is not None else self._read(file) or ""
            if word in text and any(other in text for other in near):
                found.append(file)
        return tuple(found)

    def damaged(self, file: str) -> frozenset[str]:
        """Return the names whose only definition in `file` is in unparsable text."""
        document = self._open.get(file) or self._closed.get(file)
        return document.damaged if document is not None else frozenset()

    def size(self, file: str) -> int:
        """Return the length of a file in characters."""
        document = self._open.get(file) or self._closed.get(file)
        return len(document.text) if document is not None else 0

    def mentions(self, uses: set[tuple[str, str]], file: str) -> set[tuple[str, str]]:
        """Return those of some words, each with a class, that another file has.

        It mentions the class, or the module of `file`.
        """
        path = Path(file)
        module = path.parent.name if path.stem == "__init__" else path.stem
        # Closed files change only with the disk.
        asked, held = self._mentions.setdefault(file, (set(), set()))
        new = uses - asked
        for other in self.search() if new and self.search is not None else ():
            if other != file and other not in self._open:
                held.update(_mentioned(new, module, self._read(other) or ""))
        asked |= new
        opened = (document.text for other, document in self._open.items() if other != file)
        return (held & uses).union(*(_mentioned(uses, module, text) for text in opened))

    def _document(self, file: str) -> Document | None:
        document = self._open.get(file)
        if document is not None:
            return document
        if file in self._closed:
            self._closed.move_to_end(file)
            return self._closed[file]
        self._stamps[file] = stamp_of(file)
        text = self._read(file)
        document = Document(file, text) if text is not None else None
        self._closed[file] = document
        while len(self._closed) > _CLOSED_FILES:
            dropped, _ = self._closed.popitem(last=False)
            self._analyses.pop(dropped, None)
            self._evaluator.memo.drop(dropped)
        return document

    def file_text(self, path: str, importer: str) -> MappedText | PathError:
        """Return the text of a file below the root, or why it has none.

        Without a root, it is below the module's folder.
        """
        folder = Path(importer).parent
        file = os.path.normpath(folder / path)
        self._stamps[file] = stamp_of(file)
        try:
            text = read_text(file, PROMPT_MODULE_BYTES, root=self.root or folder, strict=True)
        except PathError as error:
            return error
        return plain(Anchor(file, 0, text))

    # Modules

    def find(self, dotted: str, level: int, importer: str) -> ModuleScope | None:
        """Return the scope of an imported module; None if it isn't in the workspace."""
        file = self.module_of(dotted, level, importer)
        document = self._document(file) if file is not None else None
        return document.scope if document is not None else None


def _mentioned(uses: set[tuple[str, str]], module: str, text: str) -> set[tuple[str, str]]:
    if len(uses) < _FEW_USES:
        uses = {use for use in uses if use[0] in text}
    words = set(_WORD.findall(text)) if uses else set()
    named = module in text
    return {(word, near) for word, near in uses if word in words and (named or near in words)}
