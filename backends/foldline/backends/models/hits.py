"""Search results: files, definitions and lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foldline.backends.models.common import COMPLETE, Listed


@dataclass(frozen=True, slots=True)
class SymbolPlace:
    """A definition by the name that `read_symbol` takes, with its lines."""

    name: str
    line: int
    line_end: int


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A file that a search found: `why` has the reasons, `line` is that of the best symbol.

    `score` is in hundredths of the best file's. `symbols` has the definitions that match best.
    """

    path: str
    score: int
    why: tuple[str, ...]
    line: int = 0
    symbols: tuple[SymbolPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResults(Listed[SearchHit]):
    """Files by rank; `total` counts those that a budget left out too.

    Of a `brief` answer only the paths of the hits fit the budget. `reason` says why there are
    none, or which names nothing has.
    """

    _items: ClassVar = "hits"
    query: str
    hits: tuple[SearchHit, ...]
    total: int
    cursor: str | None = None
    reason: str = ""
    backend: str = ""
    coverage: str = COMPLETE
    brief: bool = False


@dataclass(frozen=True, slots=True)
class SymbolHit:
    """A definition that a query is about, or one next to it.

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
class SymbolResults(Listed[SymbolHit]):
    """Definitions by rank; `files` are those that were looked into, best first.

    `total` counts the files that match. `near` has definitions that the first hits use, and that
    use them.
    """

    _items: ClassVar = "hits"
    query: str
    hits: tuple[SymbolHit, ...]
    files: tuple[str, ...]
    total: int
    near: tuple[SymbolHit, ...] = ()
    reason: str = ""
    backend: str = "ast"
    coverage: str = COMPLETE


@dataclass(frozen=True, slots=True)
class GrepMatch:
    """A line that a pattern matches, at `column` (code points from 1), with lines around it.

    Of a long line, `text` is the part around the match that begins at the column `text_column`;
    of the lines around it the beginning is kept. On pages, `equal` counts the lines to come that
    have the same text. Where few lines match, `around` has the numbers and the texts of the lines
    that they are nested in, and where more do, of those that go on with them.
    """

    path: str
    line: int
    text: str
    column: int = 1
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    text_column: int = 1
    equal: int = 0
    around: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GrepResults(Listed[GrepMatch]):
    """Matching lines file by file; `total` and `files` count what a budget left out too.

    With `show` other than `lines` there are no matches, and `counts` has the files of the page with
    their matching lines; else it has those with lines that later pages show. Where the
    pattern was taken as plain text, `literal` says why.
    """

    _items: ClassVar = "matches"
    pattern: str
    matches: tuple[GrepMatch, ...]
    total: int
    files: int
    searched: int = 0
    cursor: str | None = None
    reason: str = ""
    backend: str = "grep"
    coverage: str = COMPLETE
    show: str = "lines"
    counts: tuple[tuple[str, int], ...] = ()
    literal: str = ""
