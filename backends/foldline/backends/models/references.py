"""Uses of names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foldline.backends.models.common import COMPLETE, Listed


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a name: `context` is its line, cut around it where the line is long.

    Columns count code points of the whole line, from 1.

    `tier` is `confirmed` where a semantic engine says so, `possible` where the identifier matches,
    `elsewhere` in other languages than all confirmed ones, or minified, and `another` where another
    definition of the name explains it better.

    `alias` is the name under which an import, or the alias of a type, binds it here.

    Of tests, and of definitions by a pattern, `enclosing` is the title, and `begins` its line.
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
    alias: str = ""
    begins: int = 0


@dataclass(frozen=True, slots=True)
class TextUses:
    """The lines of a file that isn't code, or of a language without a parser, with a whole word."""

    path: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NamedIn:
    """A line of a text for models that names a definition, and the section that it is in."""

    path: str
    line: int
    section: str = ""


@dataclass(frozen=True, slots=True)
class References(Listed[Reference]):
    """The uses of a name, grouped by file; `total` and `files` count what a budget left out too.

    `confirmed` and `possible` count the two tiers of all of them; confirmed ones come first. Where
    no semantic engine answered, both are 0. The text of a page with a `budget` has no more bytes.

    On the first page `text` has the word in files that no parser reads, and `counted` says in how
    many files of prose and data it is, such as `4 .md, 1 .lock`.

    `named` are the places in texts for models that name the same, which are no uses.

    `said` tells which definition a name means that isn't its own, or that nothing defines it.
    """

    _items: ClassVar = "references"
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
    text: tuple[TextUses, ...] = ()
    counted: str = ""
    said: str = ""
    named: tuple[NamedIn, ...] = ()
