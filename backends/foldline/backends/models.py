"""The answers of the backends, frozen; lines count from 1, ranges include both ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPLETE = "complete"
# Begins the coverage of an answer that has more than its budget can show.
CUT_SHORT = "partial: stopped before"


class SymbolKind(StrEnum):
    """The kinds of symbols; the first four are those of the specification."""

    FUNCTION = "function"
    CLASS = "class"
    METHOD = "method"
    VARIABLE = "variable"
    INTERFACE = "interface"
    ENUM = "enum"
    NAMESPACE = "namespace"
    TYPE = "type"
    HEADING = "heading"
    KEY = "key"
    BLOCK = "block"


class ReferenceKind(StrEnum):
    """The way in which an identifier is used."""

    DEFINITION = "definition"
    IMPORT = "import"
    CALL = "call"
    ATTRIBUTE = "attribute"
    WRITE = "write"
    READ = "read"


@dataclass(frozen=True, slots=True)
class SymbolInfo:
    """One definition of a file, without its body.

    `line` is the first line, decorators included; `name_line` is the line of the name itself.
    """

    name: str
    kind: str
    line: int
    line_end: int
    signature: str
    children: tuple[SymbolInfo, ...] = ()
    decorators: tuple[str, ...] = ()
    docstring: str | None = None
    name_line: int = 0


@dataclass(frozen=True, slots=True)
class SymbolDetail(SymbolInfo):
    """One definition with its source.

    `body` starts at `body_line`, which is above `line` where comments lead the definition. When a
    budget did not hold the whole body, `cursor` asks for the rest and `notes` names the lines;
    `cut` says that the body ends within a line, whose rest comes next.
    """

    body: str = ""
    parent: str | None = None
    char_count: int = 0
    path: str = ""
    qualified_name: str = ""
    body_line: int = 0
    cursor: str | None = None
    notes: tuple[str, ...] = ()
    backend: str = ""
    coverage: str = COMPLETE
    cut: bool = False


@dataclass(frozen=True, slots=True)
class SymbolDetails:
    """Several definitions of a file with their sources, as they were asked for.

    `reason` names those that the file doesn't have, and those that had no room.
    """

    symbols: tuple[SymbolDetail, ...]
    reason: str = ""
    backend: str = ""
    coverage: str = COMPLETE

    def __iter__(self) -> Iterator[SymbolDetail]:
        return iter(self.symbols)

    def __len__(self) -> int:
        return len(self.symbols)


@dataclass(frozen=True, slots=True)
class FileOutline:
    """The definitions and imports of a file, in the order of their lines.

    `exports` holds the names of `__all__` or of export statements. `reason` says why `symbols` is
    empty, or what is uncertain: a syntax error, replaced bytes, an unknown language.
    Of an outline asked for a `query`, `matches` has the names of the symbols that it is about, best
    first, as `read_symbol` takes them.
    """

    path: str
    language: str
    imports: tuple[str, ...]
    symbols: tuple[SymbolInfo, ...]
    line_count: int
    docstring: str | None = None
    exports: tuple[str, ...] = ()
    reason: str = ""
    backend: str = ""
    coverage: str = COMPLETE
    query: str = ""
    matches: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[SymbolInfo]:
        return iter(self.symbols)

    def __len__(self) -> int:
        return len(self.symbols)


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a name: `context` is its line, cut around it where the line is long.

    Columns count code points of the whole line, from 1.

    `tier` is `confirmed` where a semantic engine says so, `possible` where the identifier matches.
    """

    path: str
    line: int
    context: str
    kind: str = ""
    enclosing: str = ""
    test: bool = False
    column: int = 0
    column_end: int = 0
    tier: str = "possible"


@dataclass(frozen=True, slots=True)
class References:
    """The uses of a name, grouped by file; `total` and `files` count what a budget left out too.

    `confirmed` and `possible` count the two tiers of all of them; confirmed ones come first. Where
    no semantic engine answered, both are 0. The text of a page with a `budget` has no more bytes.
    """

    name: str
    references: tuple[Reference, ...]
    total: int
    files: int
    scope: str | None = None
    cursor: str | None = None
    reason: str = ""
    backend: str = ""
    coverage: str = COMPLETE
    confirmed: int = 0
    possible: int = 0
    budget: int | None = None

    def __iter__(self) -> Iterator[Reference]:
        return iter(self.references)

    def __len__(self) -> int:
        return len(self.references)


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file, or a folder with the count and the size of all files below it.

    A folder with `collapsed` has more than `children` shows: `get_tree(entry.path)` opens it.
    `rank` is a file's place among those that match the question the tree is for, 0 without one.
    """

    name: str
    path: str
    folder: bool
    size: int
    files: int
    children: tuple[TreeEntry, ...] = ()
    collapsed: bool = False
    rank: int = 0


@dataclass(frozen=True, slots=True)
class FileTree:
    """The folder `path` to some depth; `files` and `size` count everything below it."""

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

    def __iter__(self) -> Iterator[TreeEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


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


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A file that a search found: `why` explains its rank, `line` is that of the best symbol.

    `score` is in hundredths of the best file's, and `why` has the parts of it. Where learned
    weights decide the order, `why` has their terms, as parts of what the best file is worth.
    """

    path: str
    score: int
    why: tuple[str, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class SearchResults:
    """Files by rank; `total` counts those that a budget left out too.

    Of a `brief` answer only the paths of the hits fit the budget.
    """

    query: str
    hits: tuple[SearchHit, ...]
    total: int
    cursor: str | None = None
    reason: str = ""
    backend: str = ""
    coverage: str = COMPLETE
    brief: bool = False

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class SymbolHit:
    """A definition that a question is about, or one next to it.

    `name` is what `read_symbol` takes; `signature` is that of the outline. `score` is in hundredths
    of the best one's. `relation` says of a neighbour which definition it uses or is used by.
    """

    path: str
    name: str
    line: int
    line_end: int
    signature: str
    score: int
    relation: str = ""


@dataclass(frozen=True, slots=True)
class SymbolResults:
    """Definitions by rank; `files` are those that were looked into, best first.

    `total` counts the files that match. `near` has definitions that the first hits use, and that
    use them.
    """

    query: str
    hits: tuple[SymbolHit, ...]
    files: tuple[str, ...]
    total: int
    near: tuple[SymbolHit, ...] = ()
    reason: str = ""
    backend: str = "ast"
    coverage: str = COMPLETE

    def __iter__(self) -> Iterator[SymbolHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class GrepMatch:
    """A line that a pattern matches, at `column` (code points from 1), with lines around it.

    Of a long line, `text` is the part around the match that begins at the column `text_column`;
    of the lines around it the beginning is kept.
    """

    path: str
    line: int
    text: str
    column: int = 1
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    text_column: int = 1


@dataclass(frozen=True, slots=True)
class GrepResults:
    """Matching lines file by file; `total` and `files` count what a budget left out too."""

    pattern: str
    matches: tuple[GrepMatch, ...]
    total: int
    files: int
    searched: int = 0
    cursor: str | None = None
    reason: str = ""
    backend: str = "grep"
    coverage: str = COMPLETE

    def __iter__(self) -> Iterator[GrepMatch]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)
