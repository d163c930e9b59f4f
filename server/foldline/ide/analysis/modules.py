"""The modules of a folder by their imports: which lead where, and which concern prompts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from foldline import prompts
from foldline.backends.errors import PathError
from foldline.backends.files.limits import PROMPT_MODULE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.analysis.lent_lock import LentLock

LIBRARY = prompts.__name__
LIBRARY_WORD = LIBRARY.partition(".")[0]

_IMPORT = re.compile(
    r"[ \t]*(?:from[ \t]+(\.*)((?:\w[\w.]*)?)[ \t]+import[ \t]+(\w+)?|import[ \t]+([\w.]+))"
)
_LONE_RETURN = re.compile(r"\r(?!\n)")


class ClosedFiles:
    """The sources of closed files, with the stamps they were read at; `lock` guards both."""

    def __init__(self) -> None:
        self.lock = LentLock()
        self.sources: dict[str, str] = {}
        self.stamps: dict[str, tuple[int, int]] = {}


class Modules:
    """The modules below a root, of which nothing is parsed; one lock guards everything.

    Only files below the root are read, symbolic links resolved. Without a root, imports are looked
    up in the file's own folder.
    """

    def __init__(self, root: Path | None = None, closed: ClosedFiles | None = None) -> None:
        self.root = root.resolve() if root is not None else None
        self.closed = closed or ClosedFiles()
        self.lock = self.closed.lock
        self._texts: dict[str, str] = {}
        """The texts of the open files."""
        self._sources = self.closed.sources
        self._stamps = self.closed.stamps
        self._found: dict[tuple[str, int, str], str | None] = {}
        self._names: dict[str, set[str]] = {}
        """The files of the folders that imports were looked up in."""
        self._unconcerned: set[str] = set()

    # Files

    def open(self, file: str, text: str) -> None:
        """Use the text of an editor's buffer instead of the file's."""
        with self.lock:
            text_before = self._texts.get(file)
            if text_before != text:
                self._texts[file] = text
                self._unconcerned.clear()
                if text_before is None:
                    self._look_again()

    def close(self, file: str) -> None:
        """Go back to the text on disk."""
        with self.lock:
            if self._texts.pop(file, None) is not None:
                self._changed()

    def forget(self) -> None:
        """Forget all files."""
        with self.lock:
            self._texts.clear()
            self._sources.clear()
            self._stamps.clear()
            self._changed()

    def look_at_disk(self) -> None:
        """Forget the closed files that changed on disk: not every client reports them."""
        with self.lock:
            for file, stamp in tuple(self._stamps.items()):
                if stamp_of(file) != stamp:
                    self.changed_on_disk(file)

    def changed_on_disk(self, file: str) -> None:
        """Forget what was read from a file, unless it is open."""
        with self.lock:
            self._stamps.pop(file, None)
            self._sources.pop(file, None)
            self._look_again()
            if file not in self._texts:
                self._changed()

    def _look_again(self) -> None:
        """Forget where modules are, and are not."""
        self._found.clear()
        self._names.clear()

    def _changed(self) -> None:
        self._unconcerned.clear()

    @property
    def open_files(self) -> tuple[str, ...]:
        return tuple(self._texts)

    def concerned(self, file: str, text: str) -> bool:
        """Return True if a file mentions the prompt library, directly or through imports.

        Other files aren't analysed: that would read everything that they import.
        """
        with self.lock:
            if file in self._unconcerned:
                return False
            pending = [(file, text)]
            seen = {file}
            while pending:
                importer, source = pending.pop()
                if LIBRARY_WORD in source:
                    return True
                for level, dotted in imports_of(source):
                    module = self.module_of(dotted, level, importer)
                    if module is None or module in seen or module in self._unconcerned:
                        continue
                    seen.add(module)
                    pending.append((module, self._source(module)))
            # No file reached from these mentions it either.
            self._unconcerned |= seen
            return False

    def _source(self, file: str) -> str:
        """Return the text of a file without parsing it."""
        opened = self._texts.get(file)
        if opened is not None:
            return opened
        source = self._sources.get(file)
        if source is None:
            self._stamps[file] = stamp_of(file)
            text = self._read(file) or ""
            # For most files only the imports matter.
            imports = (match[0] for match in _imports(text))
            source = self._sources[file] = text if LIBRARY_WORD in text else "\n".join(imports)
        return source

    def _read(self, file: str) -> str | None:
        try:
            # Keep CRLF as two characters, as editors count.
            return read_text(file, PROMPT_MODULE_BYTES, root=self.root)
        except PathError:
            return None

    # Modules

    def module_of(self, dotted: str, level: int, importer: str) -> str | None:
        """Return the file of an imported module; None if it isn't in the workspace."""
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
            module_files = (self._module_file(one, dotted) for one in folders)
            self._found[key] = next(filter(None, module_files), None)
        return self._found[key]

    def _search_path(self, folder: str) -> Iterator[str]:
        """Yield the folders in which a module of this folder finds others."""
        if self.root is None:
            yield folder
            return
        root = str(self.root).rstrip(os.sep)
        while folder != root and self._exists(folder, "__init__.py"):
            folder = _parent(folder)
        yield from (folder, root, f"{root}{os.sep}src", f"{folder}{os.sep}src")
        while (folder := _parent(folder)).startswith(root + os.sep):
            yield from (folder, f"{folder}{os.sep}src")

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
        return name in self._names[folder] or f"{folder}{os.sep}{name}" in self._texts


def with_line_feeds(text: str) -> str:
    """Return the text with lone carriage returns as line feeds, as Python reads them.

    The parser takes a lone carriage return for a blank, so that a file of such lines would be one
    broken statement. Offsets stay the same.
    """
    return _LONE_RETURN.sub("\n", text) if "\r" in text else text


def _parent(path: str) -> str:
    return path.rpartition(os.sep)[0]


def stamp_of(file: str) -> tuple[int, int]:
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
    source = with_line_feeds(source)
    end = 0
    while (word := source.find("import", end)) >= 0:
        match = _IMPORT.match(source, source.rfind("\n", end, word) + 1)
        end = source.find("\n", word)
        if match is not None:
            yield match
        if end < 0:
            return
