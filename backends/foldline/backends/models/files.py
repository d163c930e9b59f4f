"""Folders, and lines of files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foldline.backends.models.common import COMPLETE, Listed


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file, or a folder with the count and the size of all files below it.

    A folder with `collapsed` has more than `children` shows: `get_tree(entry.path)` opens it.
    Several of one pattern, or the last ones of a folder, may be one entry, with the path of the
    folder that has them. `rank` is a file's place among those that match the query the tree is for,
    and `lines` its number of lines; 0 is unknown.
    """

    name: str
    path: str
    folder: bool
    size: int
    files: int
    children: tuple[TreeEntry, ...] = ()
    collapsed: bool = False
    rank: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class FileTree(Listed[TreeEntry]):
    """The folder `path` to some depth; `files` and `size` count everything below it."""

    _items: ClassVar = "entries"
    path: str
    entries: tuple[TreeEntry, ...]
    files: int
    size: int
    ignored: int = 0
    shown_from: int = 0
    total_entries: int = 0
    cursor: str | None = None
    reason: str = ""
    backend: str = "files"
    coverage: str = COMPLETE


@dataclass(frozen=True, slots=True)
class FileText:
    """Some lines of a file, `start` to `end`, joined by newlines; `cursor` asks for what follows.

    `line_count` is 0 for a file over the size limit, whose lines are not counted.
    `note` says when the text is not exactly the file's, because bytes had to be replaced.
    Of a line longer than the budget a part is shown: `columns` says which columns of which line
    length, counted in code points from 1, and `cut` that the text ends within its line.
    """

    path: str
    start: int
    end: int
    line_count: int
    text: str
    cursor: str | None = None
    note: str = ""
    backend: str = "files"
    coverage: str = COMPLETE
    columns: str = ""
    cut: bool = False
