"""The files of a workspace, read as they are needed: an open buffer wins over the disk."""

from __future__ import annotations

import re
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.backends.files.limits import PROMPT_MODULE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.module_analysis import ModuleAnalysis
from foldline.ide.analysis.modules import Document, with_line_feeds
from foldline.ide.analysis.values import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foldline.ide.analysis.scopes import ModuleScope

LIBRARY_WORD = LIBRARY.partition(".")[0]

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)((?:\w[\w.]*)?)[ \t]+import[ \t]+(\w+)?|import[ \t]+([\w.]+))",
    re.MULTILINE,
)

_CLOSED_FILES = 24
"""How many files that nobody has open are kept parsed."""


class Project:
    """Finds and keeps the modules below a root; one lock guards it all.

    What is read stays below the root, also through symbolic links. Without a root, a file's own
    folder is searched.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = root.resolve() if root is not None else None
        self.lock = threading.RLock()
        self.version = 0
        self.search: Callable[[], tuple[str, ...]] | None = None
        """Lists the workspace's prompt modules; without it only open files are searched."""
        self._open: dict[str, Document] = {}
        self._closed: OrderedDict[str, Document | None] = OrderedDict()
        self._found: dict[tuple[str, int, str], str | None] = {}
        self._sources: dict[str, str] = {}
        self._stamps: dict[str, tuple[int, int]] = {}
        self._mentions: dict[tuple[str, ...], bool] = {}
        self._unconcerned: set[str] = set()
        self._evaluator = Evaluator(self)
        self._analyses: dict[str, ModuleAnalysis] = {}

    # Files

    def open(self, file: str, text: str) -> None:
        """Takes the text of an editor's buffer in place of the file's."""
        text = with_line_feeds(text)
        with self.lock:
            known = self._open.get(file)
            if known is not None and known.text == text:
                return
            if known is None:
                closed = self._closed.pop(file, None)
                known = self._open[file] = closed or Document(file, text)
                self._found.clear()
                known.update(text)
                self._changed()
                return
            names = known.update(text)
            self._unconcerned.clear()
            self.version += 1
            self._analyses.clear()
            if known.is_parsed:
                self._evaluator.memory.forget(file, names, known.parsed)

    def close(self, file: str) -> None:
        """Goes back to what is on disk."""
        with self.lock:
            if self._open.pop(file, None) is not None:
                self._closed.pop(file, None)
                self._changed()

    def forget(self) -> None:
        """Forgets all files, so that what was made of them is given back at once.

        The project and its evaluator refer to each other. What hangs on such a circle waits for the
        garbage collector, which looks at large things rarely.
        """
        with self.lock:
            self._open.clear()
            self._closed.clear()
            self._sources.clear()
            self._stamps.clear()
            self._changed()

    def look_at_disk(self) -> None:
        """Forgets the closed files that changed: not every client tells of them."""
        with self.lock:
            for file, stamp in tuple(self._stamps.items()):
                if _stamp(file) != stamp:
                    self.changed_on_disk(file)

    def changed_on_disk(self, file: str) -> None:
        """Forgets what was read of a file that nobody has open."""
        with self.lock:
            self._stamps.pop(file, None)
            self._closed.pop(file, None)
            self._sources.pop(file, None)
            self._found.clear()
            if file not in self._open:
                self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._mentions.clear()
        self._unconcerned.clear()
        self._evaluator = Evaluator(self)
        self._analyses.clear()

    @property
    def open_files(self) -> tuple[str, ...]:
        return tuple(self._open)

    def text(self, file: str) -> str | None:
        """The text of a file as it is now; None where it cannot be read."""
        with self.lock:
            document = self._document(file)
            return document.text if document is not None else None

    def analysis(self, file: str) -> ModuleAnalysis | None:
        """What a file says about prompts; None where it cannot be read."""
        with self.lock:
            known = self._analyses.get(file)
            if known is None:
                document = self._document(file)
                if document is None:
                    return None
                concerned = self._concerned(file, document.text)
                known = ModuleAnalysis(document, self._evaluator, concerned=concerned)
                self._analyses[file] = known
            return known

    def _concerned(self, file: str, text: str) -> bool:
        """Whether a file names the prompt library, or imports one that does, at however many hops.

        Only then it is looked at closely: other code would have all that it imports read.
        """
        if file in self._unconcerned:
            return False
        pending = [(file, text)]
        seen = {file}
        while pending:
            importer, source = pending.pop()
            if LIBRARY_WORD in source:
                return True
            for level, dotted in imports_of(source):
                found = self._module_of(dotted, level, importer)
                if found is None or found in seen or found in self._unconcerned:
                    continue
                seen.add(found)
                pending.append((found, self._source(found)))
        # Nothing that is reached from any of them names it either.
        self._unconcerned |= seen
        return False

    def _source(self, file: str) -> str:
        """The text of a file, read but not parsed."""
        opened = self._open.get(file)
        if opened is not None:
            return opened.text
        known = self._sources.get(file)
        if known is None:
            self._stamps[file] = _stamp(file)
            text = self._read(file) or ""
            # Of most files only the imports matter.
            known = text if LIBRARY_WORD in text else _imports_alone(text)
            self._sources[file] = known
        return known

    def analyses(self) -> Iterator[ModuleAnalysis]:
        """The analyses of all open files."""
        with self.lock:
            for file in tuple(self._open):
                analysis = self.analysis(file)
                if analysis is not None:
                    yield analysis

    def mentioning(self, word: str, *, near: tuple[str, ...]) -> tuple[str, ...]:
        """The prompt modules that hold a word and one of some others; none of them is parsed."""
        if self.search is None:
            return ()
        found: list[str] = []
        for file in self.search():
            opened = self._open.get(file)
            text = opened.text if opened is not None else self._read(file) or ""
            if word in text and any(each in text for each in near):
                found.append(file)
        return tuple(found)

    def damaged(self, file: str) -> frozenset[str]:
        """The names of a file of whose meaning only a damaged text is known."""
        document = self._open.get(file) or self._closed.get(file)
        return document.damaged if document is not None else frozenset()

    def size(self, file: str) -> int:
        """The characters of a file."""
        document = self._open.get(file) or self._closed.get(file)
        return len(document.text) if document is not None else 0

    def mentions(self, word: str, near: str, file: str) -> bool:
        """Whether another file holds a word, and names the module `file` or what is `near`."""
        path = Path(file)
        module = path.parent.name if path.stem == "__init__" else path.stem
        for other, document in self._open.items():
            text = document.text
            if other != file and word in text and (near in text or module in text):
                return True
        # Those that nobody has open change with the disk alone.
        key = (word, near, file)
        if key not in self._mentions:
            found = set(self.mentioning(word, near=(near, module))) - {file, *self._open}
            self._mentions[key] = bool(found)
        return self._mentions[key]

    def _document(self, file: str) -> Document | None:
        document = self._open.get(file)
        if document is not None:
            return document
        if file in self._closed:
            self._closed.move_to_end(file)
            return self._closed[file]
        self._stamps[file] = _stamp(file)
        text = self._read(file)
        document = Document(file, text) if text is not None else None
        self._closed[file] = document
        while len(self._closed) > _CLOSED_FILES:
            dropped, _ = self._closed.popitem(last=False)
            self._analyses.pop(dropped, None)
            self._evaluator.memory.drop(dropped)
        return document

    def _read(self, file: str) -> str | None:
        try:
            # As editors count: a line end keeps its two characters.
            return read_text(file, PROMPT_MODULE_BYTES, root=self.root)
        except PathError:
            return None

    # Modules

    def find(self, dotted: str, level: int, importer: str) -> ModuleScope | None:
        """The names of the module that an import means; None where it is not of the workspace."""
        file = self._module_of(dotted, level, importer)
        document = self._document(file) if file is not None else None
        return document.scope if document is not None else None

    def _module_of(self, dotted: str, level: int, importer: str) -> str | None:
        if level == 0:
            first = dotted.partition(".")[0]
            if first in sys.stdlib_module_names or (dotted + ".").startswith(LIBRARY + "."):
                return None
        key = (dotted, level, str(Path(importer).parent))
        if key not in self._found:
            self._found[key] = self._locate(dotted, level, Path(importer))
        return self._found[key]

    def _locate(self, dotted: str, level: int, importer: Path) -> str | None:
        parts = dotted.split(".") if dotted else []
        if level:
            folder = importer.parent
            for _ in range(level - 1):
                folder = folder.parent
            return self._module_file(folder, parts)
        for folder in self._search_path(importer):
            found = self._module_file(folder, parts)
            if found is not None:
                return found
        return None

    def _search_path(self, importer: Path) -> Iterator[Path]:
        if self.root is None:
            yield importer.parent
            return
        package = importer.parent
        while self._exists(package / "__init__.py") and package != self.root:
            package = package.parent
        yield package
        yield self.root
        yield self.root / "src"
        for folder in package.parents:
            if folder == self.root or not folder.is_relative_to(self.root):
                return
            yield folder

    def _module_file(self, folder: Path, parts: list[str]) -> str | None:
        if not parts:
            candidates = [folder / "__init__.py"]
        else:
            path = folder.joinpath(*parts)
            candidates = [path.with_name(path.name + ".py"), path / "__init__.py"]
        for candidate in candidates:
            if self._exists(candidate):
                return str(candidate)
        return None

    def _exists(self, path: Path) -> bool:
        return str(path) in self._open or path.is_file()


def _stamp(file: str) -> tuple[int, int]:
    """What tells whether a file has changed since it was read."""
    try:
        status = Path(file).stat()
    except (OSError, ValueError):
        return 0, 0
    return status.st_mtime_ns, status.st_size


def imports_of(source: str) -> Iterator[tuple[int, str]]:
    """The modules that a source may import, each with the number of leading dots."""
    for match in _IMPORT.finditer(source):
        if match[4]:
            yield 0, match[4]
            continue
        level, module = len(match[1]), match[2]
        if module:
            yield level, module
        if match[3]:
            yield level, f"{module}.{match[3]}" if module else match[3]


def _imports_alone(source: str) -> str:
    return "\n".join(match[0] for match in _IMPORT.finditer(source))
