"""An outline's text within a byte budget, in which every definition keeps its name if it can.

Details go first: docstrings, then annotations and defaults, then the signatures of private names,
then members become a line of names with their lines, the longest first. Names have more room than
details. Where they still don't fit, their lines go, and then the members of the largest classes are
only counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, cast

from foldline.backends.formatting.budget import (
    LARGEST_BUDGET,
    OUTLINE_DETAILS,
    OUTLINE_NAMES,
    check_budget,
    cut_to_budget,
    most,
    size_of_lines,
)
from foldline.backends.formatting.parts import note
from foldline.backends.formatting.text import line_range, remarks, symbol_line
from foldline.backends.formatting.visible import visible
from foldline.backends.models import SymbolKind
from foldline.backends.outlines.symbols import BODIES, distinct, flatten

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from foldline.backends.formatting.parts import Line
    from foldline.backends.models import FileOutline, SymbolInfo

_LONGEST_SIGNATURE = 200
_LONGEST_DOCSTRING = 80
_LONGEST_IMPORTS = 160
_LONGEST_DECORATOR = 40
_LONGEST_NAME = 100
_MOST_DECORATORS = 8
# The best matches of a query that get signatures.
_BEST = 3
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.VARIABLE})
# An outline of more lines leaves out what is defined inside functions.
_SMALL_FILE = 150


@dataclass(frozen=True, slots=True)
class _Look:
    """The details that are shown of each definition.

    Attributes:
        docstrings: Their first lines.
        brief: Signatures have no annotations and defaults.
        names: The definitions of which only names are shown, by identity.
        lines: Names have their lines.
        counted: The definitions whose members are counted.
        shown: The definitions that are shown at all; None for all of them.
        level: The indentation of the outermost ones.
    """

    docstrings: bool = False
    brief: bool = True
    names: Collection[int] = ()
    lines: bool = True
    counted: Collection[int] = ()
    shown: Collection[int] | None = None
    level: int = 0


def outline_lines(outline: FileOutline, budget: int | None = None) -> Sequence[Line]:
    """The outline: path, language and lines, imports, then one line a symbol with its range.

    Over `budget` bytes, docstrings go first, then private names, then the deepest levels; the last
    line says what was dropped.
    """
    check_budget(budget)
    if outline.query:
        return _matching_lines(_Headers(outline), outline.symbols, outline.matches, budget)
    symbols = outline.symbols
    if outline.line_count > _SMALL_FILE:
        symbols = _without_locals(symbols, inside=False)
    return _fit(_Headers(outline), symbols, budget)


def _without_locals(symbols: Sequence[SymbolInfo], *, inside: bool) -> tuple[SymbolInfo, ...]:
    """The symbols but for those inside functions, of which only tests are kept."""
    return tuple(
        replace(one, children=_without_locals(one.children, inside=one.kind in BODIES))
        if one.children
        else one
        for one in symbols
        if not inside or one.kind == SymbolKind.TEST
    )


def fit_members(symbol: SymbolInfo, budget: int, matches: Sequence[str] = ()) -> Sequence[Line]:
    """The lines of a symbol and of what is inside it within a budget; of `matches`, those alone."""
    headers = _Headers(symbol=symbol)
    if matches:
        return _matching_lines(headers, symbol.children, matches, budget)
    return _fit(headers, symbol.children, budget)


def short_symbol(symbol: SymbolInfo) -> SymbolInfo:
    """The symbol itself with its long texts cut."""
    marks = [_short(mark, _LONGEST_DECORATOR) for mark in symbol.decorators[:_MOST_DECORATORS]]
    return replace(
        symbol,
        signature=_signature(symbol, symbol.signature),
        decorators=(*marks, "…") if len(symbol.decorators) > len(marks) else tuple(marks),
        docstring=_short(symbol.docstring, _LONGEST_DOCSTRING) if symbol.docstring else None,
    )


@dataclass(frozen=True, slots=True)
class _Headers:
    """The first lines of an outline, with more or less in them."""

    outline: FileOutline | None = None
    symbol: SymbolInfo | None = None

    @property
    def level(self) -> int:
        """The indentation of what is below."""
        return 0 if self.symbol is None else 1

    def lines(self, *, docstring: bool = False, imports: bool = True) -> list[Line]:
        if self.symbol is not None:
            return [symbol_line(short_symbol(self.symbol), 0, docstring=docstring)]
        outline = self.outline
        assert outline is not None
        count = outline.line_count
        length = f"{count} {'line' if count == 1 else 'lines'}"
        what = f" ({outline.language}, {length})"
        if outline.docstring and docstring:
            what += f"  # {visible(_short(outline.docstring, _LONGEST_DOCSTRING))}"
        lines: list[Line] = [[(visible(outline.path), "bold"), (what, "dim")]]
        if outline.imports and imports:
            imported = visible(_short(", ".join(outline.imports), _LONGEST_IMPORTS))
            lines.append(note(f"imports {imported}"))
        return [*lines, *remarks(outline.reason, outline.coverage)]


def _fit(headers: _Headers, symbols: Sequence[SymbolInfo], budget: int | None) -> Sequence[Line]:
    """The richest form that the budget allows."""
    every = [located.symbol for located in flatten(symbols)]
    details = LARGEST_BUDGET if budget is None else _room_for_details(budget)
    # The names alone: forms that have them all and less room aren't tried.
    least = _least(every)
    base = _Look(level=headers.level)
    whole: list[Line] = []
    if budget is None or least <= LARGEST_BUDGET:
        rows = _render(symbols, replace(base, docstrings=True, brief=False))
        whole = [*headers.lines(docstring=True), *rows]
        if budget is None or size_of_lines(whole) <= details:
            return whole
    private = {id(symbol) for symbol in every if _is_private(symbol.name)}
    inside = {id(child) for symbol in every for child in symbol.children}
    flat = {id(symbol) for symbol in symbols if not symbol.children}
    shown = {id(symbol) for symbol in every if not _is_field(symbol, inside)}
    header, bare = headers.lines(), headers.lines(imports=False)
    look = replace(base, names=flat | inside)
    members = replace(base, names=private | inside)
    stages = (
        ("docstrings", details, header, replace(base, brief=False)),
        ("annotations and defaults", details, header, base),
        ("signatures of private names", details, header, replace(base, names=private)),
        ("signatures", details, header, members),
        ("signatures", budget, header, look),
        ("imports", budget, bare, look),
        ("lines", budget, bare, replace(look, lines=False)),
        ("variables of classes", budget, bare, replace(look, lines=False, shown=shown)),
    )
    nothing = {"imports"} if header == bare else set()
    if not any(symbol.docstring for symbol in every):
        nothing.add("docstrings")
    dropped = _Dropped(size_of_lines(whole) if whole else LARGEST_BUDGET + 1)
    lines = whole
    for what, room, header_lines, look in stages:
        if look.shown is None and least > room:
            if what not in nothing:
                dropped.add(what)
            continue
        before, lines = lines, [*header_lines, *_render(symbols, look)]
        if lines != before:
            dropped.add(what)
        left = room - size_of_lines([*lines, dropped.line])
        if left >= 0:
            if look is members:
                names = _open_smallest(symbols, members, private | inside, left)
                lines = [*header_lines, *_render(symbols, replace(members, names=names))]
            return [*lines, dropped.line]
    if _least(symbols) > budget:
        return _first_rows(bare, symbols, dropped, budget)
    return _count_largest(bare, symbols, stages[-1][-1], dropped, budget)


def _least(symbols: Sequence[SymbolInfo]) -> int:
    """The fewest bytes that the names take in a line."""
    return sum(min(len(symbol.name), _LONGEST_NAME) + 2 for symbol in symbols) - 2


def _open_smallest(
    symbols: Sequence[SymbolInfo], look: _Look, names: set[int], room: int
) -> set[int]:
    """The `names` that are left after small classes get rows for their members back, in `room`."""
    gains = []
    for symbol in symbols:
        members = {id(child) for child in symbol.children if not _is_private(child.name)}
        if members and id(symbol) not in names:
            within = {id(located.symbol) for located in flatten(symbol.children)} & names
            more = _render([symbol], replace(look, names=within - members))
            less = _render([symbol], replace(look, names=within))
            gains.append((size_of_lines(more) - size_of_lines(less), members))
    opened: set[int] = set()
    for size, members in sorted(gains, key=lambda gain: gain[0]):
        if size > room:
            break
        room -= size
        opened |= members
    return names - opened


def _count_largest(
    header: list[Line],
    symbols: Sequence[SymbolInfo],
    look: _Look,
    dropped: _Dropped,
    budget: int,
) -> Sequence[Line]:
    """Names without lines, the members of the largest definitions counted."""
    sizes = sorted(
        (
            (size_of_lines(_render([symbol], look)), id(symbol))
            for symbol in symbols
            if symbol.children
        ),
        reverse=True,
    )
    what = dropped.parts
    low, high = 1, len(sizes)
    best: list[Line] | None = None
    while low <= high and sizes:
        middle = (low + high) // 2
        counted = {symbol for _, symbol in sizes[:middle]}
        dropped.parts = [*what, f"the members of {middle} definitions: read one to list them"]
        lines = [
            *header,
            *_render(symbols, replace(look, counted=counted)),
            dropped.line,
        ]
        if size_of_lines(lines) <= budget:
            best, high = lines, middle - 1
        else:
            low = middle + 1
    if best is not None:
        return best
    dropped.parts = what
    return _first_rows(header, symbols, dropped, budget)


def _first_rows(
    header: list[Line], symbols: Sequence[SymbolInfo], dropped: _Dropped, budget: int
) -> Sequence[Line]:
    """The names of as many top-level definitions as fit, and the line from which others are."""
    names = [_name(symbol) for symbol in symbols]

    def lines_of(count: int) -> list[Line]:
        rest = len(names) - count
        dropped.parts = ["details", *(["members"] if any(s.children for s in symbols) else [])]
        if rest:
            dropped.add(f"{rest} names from line {symbols[count].line} on")
        shown: list[Line] = [[(", ".join(names[:count]), "")]] if count else []
        return [*header, *shown, dropped.line]

    high = min(len(names), budget)
    count = most(high, lambda count: size_of_lines(lines_of(count)) <= budget)
    if size_of_lines(lines_of(count)) > budget:
        count = 0
    return _within(lines_of(count), budget)


def _matching_lines(
    headers: _Headers, symbols: Sequence[SymbolInfo], matches: Sequence[str], budget: int | None
) -> Sequence[Line]:
    """The definitions that a query is about, best ones with signatures, and a count of others.

    They stand in the order of the file.
    """
    by_name = dict(distinct(flatten(symbols)))
    ranked = [by_name[name] for name in matches if name in by_name]
    if not ranked:
        lines = _fit(headers, symbols, None if budget is None else max(budget - 60, 1))
        return _within([*lines, note("(nothing here has words of the question)")], budget)
    limit = LARGEST_BUDGET if budget is None else _room_for_details(budget)
    every = len(by_name)

    def lines_of(count: int, *, numbered: bool = False) -> list[Line]:
        rows = {id(located.symbol) for located in ranked[: min(count, _BEST)]}
        found = ranked[:count]
        around = {id(outer) for located in found for outer in located.enclosing}
        shown = {id(located.symbol) for located in found} | around
        rows |= {id(outer) for located in ranked[:_BEST] for outer in located.enclosing}
        look = _Look(
            level=headers.level,
            names={id(located.symbol) for located in by_name.values()} - rows,
            lines=numbered,
            shown=shown,
        )
        rest = every - len(shown)
        more = [note(f"({rest} more match less: ask without a query)")] if rest else []
        return [*headers.lines(imports=False), *_render(symbols, look), *more]

    lines = lines_of(len(ranked), numbered=True)
    if size_of_lines(lines) > limit:
        lines = lines_of(most(len(ranked), lambda count: size_of_lines(lines_of(count)) <= limit))
    return _within(lines, limit)


def _within(lines: Sequence[Line], budget: int | None) -> Sequence[Line]:
    """The lines, cut where they are larger than the budget."""
    return cast("Sequence[Line]", cut_to_budget(lines, budget))


def _render(symbols: Sequence[SymbolInfo], look: _Look) -> list[Line]:
    """The lines of some definitions and of what is in them."""
    lines: list[Line] = []
    deeper = replace(look, level=look.level + 1)
    if look.shown is not None:
        symbols = [symbol for symbol in symbols if id(symbol) in look.shown]
    for as_names, group in groupby(symbols, key=lambda symbol: id(symbol) in look.names):
        some = list(group)
        if look.level and some[0].kind == SymbolKind.EXPORT:
            names = ", ".join(symbol.signature for symbol in some)
            lines.append([("  " * look.level + visible(names), "")])
            continue
        if as_names:
            names = ", ".join(_with_members(symbol, look) for symbol in some)
            lines.append([("  " * look.level + names, "")])
            continue
        for symbol in some:
            lines.append(_row(symbol, look))
            if id(symbol) not in look.counted:
                lines += _render(symbol.children, deeper)
    return lines


def _row(symbol: SymbolInfo, look: _Look) -> Line:
    if id(symbol) in look.counted:
        count = sum(1 for _ in flatten(symbol.children))
        where = f"{'  ' * look.level}{line_range(symbol.line, symbol.line_end)}"
        return [(where, "dim"), (f" {_name(symbol)}", "bold"), (f": {count} inside", "")]
    if look.brief and symbol.kind in _CALLABLE:
        signature = brief_signature(symbol.name, symbol.signature)
        symbol = replace(symbol, signature=signature)
    return symbol_line(short_symbol(symbol), look.level, docstring=look.docstrings)


def _with_members(symbol: SymbolInfo, look: _Look) -> str:
    """`page 120`, or with the names of all that is inside: `page 120 (rows 122, size 130)`."""
    inside: list[SymbolInfo] = [located.symbol for located in flatten(symbol.children)]
    if look.shown is not None:
        inside = [child for child in inside if id(child) in look.shown]
    names = [f"{_name(one)} {one.line}" if look.lines else _name(one) for one in (symbol, *inside)]
    return f"{names[0]} ({', '.join(names[1:])})" if inside else names[0]


def _name(symbol: SymbolInfo) -> str:
    return visible(_short(symbol.name, _LONGEST_NAME))


def _signature(symbol: SymbolInfo, signature: str) -> str:
    """A signature that isn't too long, with the name in it."""
    shortened = _short(signature, _LONGEST_SIGNATURE)
    leaf = symbol.name.rpartition(".")[2]
    if shortened == signature or leaf in shortened:
        return shortened
    return _short(symbol.name, _LONGEST_SIGNATURE)


def _is_private(name: str) -> bool:
    return name.startswith(("_", "#")) and not (name.startswith("__") and name.endswith("__"))


def _is_field(symbol: SymbolInfo, inside: Collection[int]) -> bool:
    return symbol.kind == SymbolKind.VARIABLE and id(symbol) in inside


def _room_for_details(budget: int) -> int:
    """The bytes of a text with details; names alone may fill the budget."""
    return max(min(budget, OUTLINE_DETAILS), budget - OUTLINE_NAMES)


class _Dropped:
    """Collects what an outline leaves out, for its last line."""

    def __init__(self, whole: int) -> None:
        self.parts: list[str] = []
        self._enough = whole if whole <= OUTLINE_DETAILS else whole + OUTLINE_NAMES

    def add(self, part: str) -> None:
        """Add what is left out too."""
        if part == "signatures":
            # "signatures" implies the parts that were dropped before it.
            self.parts = [one for one in self.parts if one == "docstrings"]
        if part not in self.parts:
            self.parts.append(part)

    @property
    def line(self) -> Line:
        """The last line."""
        more = f"; budget {self._enough} shows all" if self._enough <= LARGEST_BUDGET else ""
        return note(f"(left out: {', '.join(self.parts)}{more})")


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def brief_signature(name: str, signature: str) -> str:
    """The signature without annotations, defaults, type parameters and what is returned.

    Itself where it has nothing of the kind, or isn't understood.

    >>> brief_signature("f", "async def f(a: int = 3, *, b: list[str]) -> None")
    'async def f(a, *, b)'
    >>> brief_signature("f", "export function f<T>(a?: T, ...b: [A, B]): Promise<void>")
    'export function f(a, ...b)'
    >>> brief_signature("LIMIT", "LIMIT: int = 3")
    'LIMIT'
    """
    leaf = name.rpartition(".")[2] or name
    found = re.search(rf"(?<!\w){re.escape(leaf)}(?!\w)", signature)
    if found is None:
        return signature
    before, after = signature[: found.end()], signature[found.end() :]
    opening = after.find("(")
    between = after[:opening].strip() if opening >= 0 else after.strip()
    if opening >= 0 and (not between or between[0] in "<[=:"):
        names = [_before(part, ":=")[0] for part in _parameters(after[opening + 1 :])]
        return f"{before}({', '.join(filter(None, names))})"
    return before if between[:1] in {"=", ":", "?"} else signature


def _parameters(text: str) -> Iterator[str]:
    """The parameters up to the parenthesis that ends them, or to the end of the text."""
    more = True
    while more:
        parameter, text = _before(text, ",")
        yield parameter
        more = text.startswith(",")
        text = text[1:]


def _before(text: str, ends: str) -> tuple[str, str]:
    """The text up to one of the characters outside of all brackets, and the rest."""
    depth = 0
    for at, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and text[at - 1 : at] not in {"=", "-"}):
            depth -= 1
        if depth < 0 or (not depth and character in ends):
            return text[:at].strip().removesuffix("?"), text[at:]
    return text.strip(), ""
