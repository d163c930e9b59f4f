"""The files of a workspace, read on demand; an open buffer wins over the disk."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.backends.files.limits import PROMPT_MODULE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.module_analysis import Document, ModuleAnalysis, with_line_feeds
from foldline.ide.analysis.source_map import plain
from foldline.ide.analysis.syntax import Anchor
from foldline.ide.analysis.values import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foldline.ide.analysis.scopes import ModuleScope
    from foldline.ide.analysis.source_map import MappedText

LIBRARY_WORD = LIBRARY.partition(".")[0]

_IMPORT = re.compile(
    r"[ \t]*(?:from[ \t]+(\.*)((?:\w[\w.]*)?)[ \t]+import[ \t]+(\w+)?|import[ \t]+([\w.]+))"
)

_CLOSED_FILES = 24
"""Number of closed files that stay parsed."""


class Project:
    """The modules below a root; one lock guards everything.

    Only files below the root are read, symbolic links resolved. Without a root, imports are looked
    up in the file's own folder.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = root.resolve() if root is not None else None
        self.lock = threading.RLock()
        self.version = 0
        self.search: Callable[[], tuple[str, ...]] | None = None
        """Lists the workspace's prompt modules; if None, only open files are searched."""
        self._open: dict[str, Document] = {}
        self._closed: OrderedDict[str, Document | None] = OrderedDict()
        self._found: dict[tuple[str, int, str], str | None] = {}
        self._names: dict[str, set[str]] = {}
        """The files of the folders that imports were looked up in."""
        self._sources: dict[str, str] = {}
        self._stamps: dict[str, tuple[int, int]] = {}
        self._mentions: dict[tuple[str, ...], bool] = {}
        self._unconcerned: set[str] = set()
        self._evaluator = Evaluator(self)
        self._analyses: dict[str, ModuleAnalysis] = {}

    # Files

    def open(self, file: str, text: str) -> None:
        """Use the text of an editor's buffer instead of the file's."""
        text = with_line_feeds(text)
        with self.lock:
            known = self._open.get(file)
            if known is not None and known.text == text:
                return
            if known is None:
                closed = self._closed.pop(file, None)
                known = self._open[file] = closed or Document(file, text)
                self._look_again()
                known.update(text)
                self._changed()
                return
            names = known.update(text)
            self._unconcerned.clear()
            self.version += 1
            self._analyses.clear()
            if known.is_parsed:
                self._evaluator.memo.forget(file, names, known.parsed)

    def close(self, file: str) -> None:
        """Go back to the text on disk."""
        with self.lock:
            if self._open.pop(file, None) is not None:
                self._closed.pop(file, None)
                self._changed()

    def forget(self) -> None:
        """Forget all files, so that the memory of their analyses is freed at once.

        The project and its evaluator refer to each other, and the garbage collector would free such
        a cycle late.
        """
        with self.lock:
            self._open.clear()
            self._closed.clear()
            self._sources.clear()
            self._stamps.clear()
            self._changed()

    def look_at_disk(self) -> None:
        """Forget the closed files that changed on disk: not every client reports them."""
        with self.lock:
            for file, stamp in tuple(self._stamps.items()):
                if _stamp(file) != stamp:
                    self.changed_on_disk(file)

    def changed_on_disk(self, file: str) -> None:
        """Forget what was read from a file, unless it is open."""
        with self.lock:
            self._stamps.pop(file, None)
            self._closed.pop(file, None)
            self._sources.pop(file, None)
            self._look_again()
            if file not in self._open:
                self._changed()

    def _look_again(self) -> None:
        """Forget where modules are, and are not."""
        self._found.clear()
        self._names.clear()

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
        """Return the file's current text; None if it can't be read."""
        with self.lock:
            document = self._document(file)
            return document.text if document is not None else None

    def analysis(self, file: str) -> ModuleAnalysis | None:
        """Return the analysis of a file; None if it can't be read."""
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

    def without_code(self, file: str, text: str) -> ModuleAnalysis:
        """Return the analysis of a text that isn't Python: it has no statements."""
        return ModuleAnalysis(Document(file, text), self._evaluator, concerned=False)

    def _concerned(self, file: str, text: str) -> bool:
        """Return True if a file mentions the prompt library, directly or through imports.

        Other files aren't analysed: that would read everything that they import.
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
        # No file reached from these mentions it either.
        self._unconcerned |= seen
        return False

    def _source(self, file: str) -> str:
        """Return the text of a file without parsing it."""
        opened = self._open.get(file)
        if opened is not None:
            return opened.text
        known = self._sources.get(file)
        if known is None:
            self._stamps[file] = _stamp(file)
            text = self._read(file) or ""
            # For most files only the imports matter.
            imports = (match[0] for match in _imports(text))
            known = self._sources[file] = text if LIBRARY_WORD in text else "\n".join(imports)
        return known

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

    def mentions(self, word: str, near: str, file: str) -> bool:
        """Return True if another file has `word` and mentions `near` or the module of `file`."""
        path = Path(file)
        module = path.parent.name if path.stem == "__init__" else path.stem
        for other, document in self._open.items():
            text = document.text
            if other != file and word in text and (near in text or module in text):
                return True
        # Closed files change only with the disk.
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
            self._evaluator.memo.drop(dropped)
        return document

    def _read(self, file: str) -> str | None:
        try:
            # Keep CRLF as two characters, as editors count.
            return read_text(file, PROMPT_MODULE_BYTES, root=self.root)
        except PathError:
            return None

    def file_text(self, path: str, importer: str) -> MappedText | None:
        """Return the text of a file below the root; without a root, below the module's folder."""
        folder = Path(importer).parent
        file = os.path.normpath(folder / path)
        self._stamps[file] = _stamp(file)
        try:
            text = read_text(file, PROMPT_MODULE_BYTES, root=self.root or folder, strict=True)
        except PathError:
            return None
        return plain(Anchor(file, 0, text))

    # Modules

    def find(self, dotted: str, level: int, importer: str) -> ModuleScope | None:
        """Return the scope of an imported module; None if it isn't in the workspace."""
        file = self._module_of(dotted, level, importer)
        document = self._document(file) if file is not None else None
        return document.scope if document is not None else None

    def _module_of(self, dotted: str, level: int, importer: str) -> str | None:
        if level == 0:
            first = dotted.partition(".")[0]
            if first in sys.stdlib_module_names or (dotted + ".").startswith(LIBRARY + "."):
                return None
        folder = _parent(importer)
        key = (dotted, level, folder)
        if key not in self._found:
            for _ in range(level - 1):
                folder = _parent(folder)
            folders = (folder,) if level else self._search_path(folder)
            found = (self._module_file(one, dotted) for one in folders)
            self._found[key] = next(filter(None, found), None)
        return self._found[key]

    def _search_path(self, folder: str) -> Iterator[str]:
        """Yield the folders in which a module of this folder finds others."""
        if self.root is None:
            yield folder
            return
        root = str(self.root).rstrip(os.sep)
        while folder != root and self._exists(folder, "__init__.py"):
            folder = _parent(folder)
        yield folder
        yield root
        yield f"{root}{os.sep}src"
        while (folder := _parent(folder)).startswith(root + os.sep):
            yield folder

    def _module_file(self, folder: str, dotted: str) -> str | None:
        """Return the file of a module or package below a folder; without a name, its own."""
        path = f"{folder}{os.sep}{dotted.replace('.', os.sep)}" if dotted else folder
        above, _, name = path.rpartition(os.sep)
        if dotted and self._exists(above, f"{name}.py"):
            return f"{path}.py"
        return f"{path}{os.sep}__init__.py" if self._exists(path, "__init__.py") else None

    def _exists(self, folder: str, name: str) -> bool:
        if folder not in self._names:
            # One look at a folder is less work than one at each file that it may have.
            self._names[folder] = names = set[str]()
            with suppress(OSError, ValueError), os.scandir(folder or os.sep) as entries:
                names.update(entry.name for entry in entries if entry.is_file())
        return name in self._names[folder] or f"{folder}{os.sep}{name}" in self._open


def _parent(path: str) -> str:
    return path.rpartition(os.sep)[0]


def _stamp(file: str) -> tuple[int, int]:
    """Return modification time and size; they differ once a file has changed."""
    try:
        status = Path(file).stat()
    except (OSError, ValueError):
        return 0, 0
    return status.st_mtime_ns, status.st_size


def imports_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield `(level, module)` for each import in a source; `level` counts the leading dots."""
    for match in _imports(source):
        if match[4]:
            yield 0, match[4]
            continue
        level, module = len(match[1]), match[2]
        if module:
            yield level, module
        if match[3]:
            yield level, f"{module}.{match[3]}" if module else match[3]


def _imports(source: str) -> Iterator[re.Match[str]]:
    """Yield the imports, at most one of a line. Only lines with the word are matched."""
    end = 0
    while (word := source.find("import", end)) >= 0:
        match = _IMPORT.match(source, source.rfind("\n", end, word) + 1)
        end = source.find("\n", word)
        if match is not None:
            yield match
        if end < 0:
            return
