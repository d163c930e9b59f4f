"""Definitions: outlines of files, symbols with their sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from foldline.backends.models.common import COMPLETE, Listed


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
    name_line: int = field(default=0, kw_only=True)


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
class SymbolDetails(Listed[SymbolDetail]):
    """Several definitions of a file with their sources, as they were asked for.

    `reason` names those that the file doesn't have, and those that had no room.
    """

    _items: ClassVar = "symbols"
    symbols: tuple[SymbolDetail, ...]
    reason: str = ""
    backend: str = ""
    coverage: str = COMPLETE


@dataclass(frozen=True, slots=True)
class Inherited:
    """The members that a class has from one of its bases; no path where that can't be followed."""

    base: str
    path: str = ""
    line: int = 0
    members: tuple[SymbolInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class FileOutline(Listed[SymbolInfo]):
    """The definitions and imports of a file, in the order of their lines.

    `exports` holds the names of `__all__` or of export statements. `reason` says why `symbols` is
    empty, or what is uncertain: a syntax error, replaced bytes, an unknown language.
    Of an outline asked for a `query`, `matches` has the names of the symbols that it is about, best
    first, as `read_symbol` takes them. Where the query is the name of a class, `inherited` has its
    bases, nearest first, and `others` the outlines of small namesakes that were asked for with it.
    """

    _items: ClassVar = "symbols"
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
    inherited: tuple[Inherited, ...] = ()
    others: tuple[FileOutline, ...] = ()
