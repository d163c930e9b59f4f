"""The workspace files that concern prompts, found by words before anything is parsed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import monotonic

from foldline.backends.errors import PathError
from foldline.backends.files.limits import PROMPT_MODULE_BYTES
from foldline.backends.files.reader import read_bytes
from foldline.records import record

LIBRARY_WORD = b"foldline"

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w.]+))", re.MULTILINE
)
_NAME = re.compile(
    rb"^([^\W\d]\w*)[ \t]*(?::[^=\n]+)?=|\b(?:title|key|ns)[ \t]*=[ \t]*[\"']([^\"'\n]*)[\"']",
    re.MULTILINE,
)


@record
class FileWords:
    """The few facts stored per file: a workspace has many."""

    stamp: object
    direct: bool
    """True if the file itself mentions the library."""
    imports: frozenset[str]
    """Last components of the modules that it imports."""
    names: str
    """Candidate symbol names in lower case, one per line."""


class OutOfTimeError(Exception):
    """The look at the files has taken as long as it may."""


class PromptFiles:
    """The Python files of a folder that name the prompt library, or that import such a file.

    `walk` lists the files with their stamps; it calls what it is given every now and then, and lets
    through what that raises. A look at them ends after `seconds`; with None, at its end.
    """

    def __init__(
        self,
        walk: Callable[[Callable[[], None]], Iterable[tuple[str, object]]],
        *,
        seconds: float | None = None,
    ) -> None:
        self._walk = walk
        self._seconds = seconds
        self._words: dict[str, FileWords] = {}
        self.complete = True
        """True if the last refresh read all files in time."""

    def refresh(self) -> tuple[str, ...]:
        """Return the files as they are on disk now, sorted; reads only those that changed.

        If time runs out, the rest is as it was last known, and the next refresh goes on.
        """
        words: dict[str, FileWords] = {}
        check = deadline(self._seconds)
        try:
            for file, stamp in self._walk(check):
                check()
                if file.endswith((".py", ".pyi")):
                    entry = self._words.get(file)
                    if entry is None or entry.stamp != stamp:
                        entry = _read(file, stamp)
                    if entry is not None:
                        words[file] = entry
        except OutOfTimeError:
            words = {**self._words, **words}
            self.complete = False
        else:
            self.complete = True
        self._words = words
        return self.files()

    def files(self) -> tuple[str, ...]:
        """The files that concern prompts as of the last refresh, sorted."""
        files = {file for file, words in self._words.items() if words.direct}
        grown = True
        while grown and files:
            stems = {_stem(file) for file in files}
            more = {
                file
                for file, words in self._words.items()
                if file not in files and not stems.isdisjoint(words.imports)
            }
            grown = bool(more)
            files |= more
        return tuple(sorted(files))

    def matching(self, query: str) -> Iterator[str]:
        """Yield the files in which some symbol may match a query."""
        wanted = query.lower()
        for file in self.files():
            # Match as editors do: the query's characters in order, within one name. `in` uses up an
            # iterator as far as it looks.
            rests = map(iter, self._words[file].names.split("\n"))
            if any(all(character in rest for character in wanted) for rest in rests):
                yield file


def deadline(seconds: float | None) -> Callable[[], None]:
    """Return a function that raises OutOfTimeError from some seconds on; with None, never."""
    end = math.inf if seconds is None else monotonic() + seconds

    def check() -> None:
        if monotonic() > end:
            raise OutOfTimeError

    return check


def _stem(file: str) -> str:
    path = Path(file)
    return path.parent.name if path.stem == "__init__" else path.stem


def _read(file: str, stamp: object) -> FileWords | None:
    try:
        data = read_bytes(file, PROMPT_MODULE_BYTES)
    except PathError:
        return None
    imports = {
        (match[1] or match[2]).rpartition(b".")[2].decode("utf-8", "replace")
        for match in _IMPORT.finditer(data)
    }
    direct = LIBRARY_WORD in data
    names = b""
    if direct:
        names = b"\n".join(match[1] or match[2] or b"" for match in _NAME.finditer(data))
    return FileWords(stamp, direct, frozenset(imports), names.decode("utf-8", "replace").lower())
