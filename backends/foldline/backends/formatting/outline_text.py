"""An outline's text within a byte budget, in which every definition keeps its name if it can.

Names come first, then their lines, then signatures, then annotations and defaults, then docstrings:
of each as many as fit, what is public and at the top of the file before what is private and inside.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

from foldline.backends.formatting.budget import (
    LARGEST_BUDGET,
    OUTLINE_DETAILS,
    DefaultBudget,
    check_budget,
    cut_to_budget,
    most,
    size_of,
    size_of_lines,
)
from foldline.backends.formatting.parts import Line, note
from foldline.backends.formatting.text import remarks, symbol_line
from foldline.backends.formatting.visible import visible
from foldline.backends.models import FileOutline, Inherited, SymbolInfo, SymbolKind
from foldline.backends.outlines.symbols import BODIES, Located, distinct, flatten
from foldline.backends.parsers.strings import shorten
from foldline.records import record

_LONGEST_SIGNATURE = 200
_LONGEST_OF_MATCH = 64
_LONGEST_DOCSTRING = 80
_LONGEST_IMPORTS = 160
_LONGEST_DECORATOR = 40
_LONGEST_NAME = 100
_MOST_DECORATORS = 8
# The best matches of a query, which get signatures.
_BEST = 8
_WITHOUT_ANNOTATIONS = frozenset({"names", "some names", "signatures", "some signatures"})
# A name and what separates it from the next one have at least so many bytes.
_LEAST = 3
_MOST_INHERITED = 24
# Keys of what isn't a definition; those of definitions are their identities.
_IMPORTS, _DOCSTRING = -1, -2
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.VARIABLE})
_TYPES = frozenset({SymbolKind.TYPE, SymbolKind.CLASS, SymbolKind.ENUM, SymbolKind.INTERFACE})
_TYPE = re.compile(r"(?:[\w()]+ )*(?:class|interface|enum|struct|trait|type|record) ")
_RECEIVER = re.compile(r"^func \([^)]*\) ")
# A default budget shows all of an outline that has no more bytes.
_SMALL = 400
# An outline of more lines leaves out what is defined inside functions.
_SMALL_FILE = 150


class _Level(IntEnum):
    """The amount of a definition that is shown."""

    HIDDEN = 0
    NAME = 1
    LINE = 2
    BRIEF = 3
    """A row with the signature, without annotations and defaults."""
    FULL = 4
    DOCSTRING = 5


class _Stage(NamedTuple):
    """A level, and the definitions to show at it, the most important first."""

    what: str
    level: _Level
    keys: Sequence[int]


def outline_lines(outline: FileOutline, budget: int | None = None) -> Sequence[Line]:
    """The outline: path, language and lines, imports, then one line a symbol with its range.

    `budget` bytes are filled, by a default budget in part only (see `DefaultBudget`); the last line
    says what was left out. For a query, the best matches have signatures, then come the names of
    all others. With the name of a class as the query, only the class is shown.
    """
    check_budget(budget)
    headers = _Headers(outline)
    if outline.query:
        named = class_parts(outline)
        if named:
            rest = len(list(flatten(outline.symbols))) - len(list(flatten(named)))
            notes = [_inherited(base) for base in outline.inherited if base.path]
            if gone := [visible(base.base) for base in outline.inherited if not base.path]:
                notes.append(f"(from {', '.join(gone)} too, which isn't known here)")
            notes += [f"({rest} more in file)"] if rest else []
            return _fit_above(notes, headers, named, budget)
    symbols = outline.symbols
    if outline.line_count > _SMALL_FILE:
        symbols = _without_locals(symbols, inside=False)
    symbols = _with_types(symbols)
    if outline.query:
        return _matching_lines(headers, symbols, outline.matches, budget)
    return _fit(headers, symbols, budget)


def _without_locals(symbols: Sequence[SymbolInfo], *, inside: bool) -> tuple[SymbolInfo, ...]:
    """The symbols but for those inside functions, of which only tests are kept."""
    return tuple(
        replace(one, children=_without_locals(one.children, inside=one.kind in BODIES))
        if one.children
        else one
        for one in symbols
        if not inside or one.kind == SymbolKind.TEST
    )


def _with_types(symbols: Sequence[SymbolInfo]) -> tuple[SymbolInfo, ...]:
    """The symbols with the methods of Go below their types, and impls of Rust behind them."""
    numbered = list(enumerate(symbols))
    types = {one.name: index for index, one in reversed(numbered) if one.kind in _TYPES}
    methods: dict[str, list[SymbolInfo]] = {}
    places: list[tuple[int, SymbolInfo]] = []
    for index, one in numbered:
        owner, _, name = one.name.rpartition(".")
        if owner in types and one.kind == SymbolKind.METHOD:
            signature = _RECEIVER.sub("func ", one.signature)
            methods.setdefault(owner, []).append(replace(one, name=name, signature=signature))
        else:
            behind = types.get(one.name, index) if one.kind == SymbolKind.CLASS else index
            places.append((min(behind, index), one))
    return tuple(
        replace(one, children=(*one.children, *methods.pop(one.name, ())))
        for _, one in sorted(places, key=lambda place: place[0])
    )


def fit_members(symbol: SymbolInfo, budget: int, matches: Sequence[str] = ()) -> Sequence[Line]:
    """The lines of a symbol and of what is inside it within a budget; of `matches`, those alone.

    They don't say which budget shows all: the answer that they are a part of does.
    """
    headers = _Headers(symbol=symbol)
    if matches:
        return _matching_lines(headers, symbol.children, matches, budget)
    return _fit(headers, symbol.children, budget, LARGEST_BUDGET)


def class_parts(outline: FileOutline) -> list[SymbolInfo]:
    """The class that the query names, in all its parts, or some methods, each below its class."""
    asked = outline.query.strip()
    parts = [
        located
        for located in flatten(outline.symbols)
        if asked in (located.symbol.name, located.qualified_name)
        or located.symbol.name.startswith(f"{asked}.")
    ]
    part_ids = {id(located.symbol) for located in parts}
    outer = [one for one in parts if not part_ids.intersection(map(id, one.enclosing))]
    if len(outer) < 2 and not any(of.symbol.children or of.symbol.kind in _TYPES for of in outer):
        return []
    shown: list[SymbolInfo] = []
    for above, group in groupby(outer, lambda of: of.enclosing[-1:] * (of.symbol.kind in BODIES)):
        inside = tuple(one.symbol for one in group)
        shown += [replace(one, children=inside) for one in above] or inside
    return shown


def short_symbol(symbol: SymbolInfo, longest: int = _LONGEST_SIGNATURE) -> SymbolInfo:
    """The symbol itself with its long texts cut."""
    marks = [shorten(mark, _LONGEST_DECORATOR) for mark in symbol.decorators[:_MOST_DECORATORS]]
    return replace(
        symbol,
        signature=_signature(symbol, symbol.signature, longest),
        decorators=(*marks, "…") if len(symbol.decorators) > len(marks) else tuple(marks),
        docstring=shorten(symbol.docstring, _LONGEST_DOCSTRING) if symbol.docstring else None,
    )


@record
class _Headers:
    """The first lines of an outline, with more or less in them."""

    outline: FileOutline | None = None
    symbol: SymbolInfo | None = None

    def lines(self, *, docstring: bool = False, imports: bool = True) -> list[Line]:
        if self.symbol is not None:
            return [symbol_line(short_symbol(self.symbol), 0, docstring=docstring)]
        outline = self.outline
        assert outline is not None
        count = outline.line_count
        length = f"{count} {'line' if count == 1 else 'lines'}"
        what = "" if outline.query else f" ({outline.language}, {length})"
        if outline.docstring and docstring:
            what += f"  # {visible(shorten(outline.docstring, _LONGEST_DOCSTRING))}"
        lines: list[Line] = [[(visible(outline.path), "bold"), (what, "dim")]]
        if outline.imports and imports:
            imported = visible(shorten(", ".join(outline.imports), _LONGEST_IMPORTS))
            lines.append(note(f"imports {imported}"))
        return [*lines, *remarks(outline.reason, outline.coverage)]


def _fit(
    headers: _Headers, symbols: Sequence[SymbolInfo], budget: int | None, around: int = 0
) -> Sequence[Line]:
    """The most that the budget holds."""
    form = _Form(headers, symbols)
    every = list(flatten(symbols))
    keys = [id(located.symbol) for located in every]
    names = sum(min(len(located.symbol.name), _LONGEST_NAME) for located in every)
    full: list[Line] = []
    if budget is None or names <= LARGEST_BUDGET:
        form.raise_to(_Level.DOCSTRING, [_IMPORTS, _DOCSTRING, *keys])
        full = form.lines()
        form.levels = {}
    is_default = isinstance(budget, DefaultBudget)
    enough = size_of_lines(full) if full else LARGEST_BUDGET + 1
    if budget is None or enough <= (_SMALL if is_default else budget):
        return full
    form.enough = enough + around
    details = min(budget, OUTLINE_DETAILS) if is_default else budget
    form.fill(_stages(headers, every, budget), budget, details)
    if not form.remark and form.enough <= LARGEST_BUDGET and form.lines() != full:
        form.remark = f"(brief; budget {form.enough} shows all)"
    return cut_to_budget(form.lines(), budget)


def _stages(headers: _Headers, every: Sequence[Located], budget: int) -> Iterator[_Stage]:
    """Yield what to show, names first: members of small classes before those of large ones."""

    def size(located: Located) -> int:
        return len(located.enclosing[-1].children) if located.enclosing else 0

    def is_field(located: Located) -> bool:
        return located.symbol.kind == SymbolKind.VARIABLE and bool(located.enclosing)

    def is_private(located: Located) -> bool:
        return any(_is_private(one.name) for one in (*located.enclosing, located.symbol))

    by_name = sorted(every, key=lambda one: (is_field(one), len(one.enclosing), size(one)))
    # No budget holds more of them.
    names = [id(located.symbol) for located in by_name[: budget // _LEAST + 1]]
    yield _Stage("names", _Level.NAME, names)
    yield _Stage("lines", _Level.LINE, names)
    if headers.outline and headers.outline.imports and not headers.outline.query:
        yield _Stage("imports", _Level.NAME, [_IMPORTS])
    by_use = sorted(
        every,
        key=lambda one: (
            is_private(one),
            len(one.enclosing),
            one.symbol.kind == SymbolKind.VARIABLE,
            size(one),
        ),
    )
    symbols = [located.symbol for located in by_use]
    # Of a variable, only its value or type says more than its name.
    brief = [id(symbol) for symbol in symbols if symbol.kind != SymbolKind.VARIABLE]
    yield _Stage("signatures", _Level.BRIEF, brief)
    is_default = isinstance(budget, DefaultBudget)
    if is_default and headers.outline and headers.outline.query:
        return
    others = {id(symbol) for symbol in symbols} - set(brief)
    longer = [id(one) for one in symbols if id(one) in others or _brief(one) is not one]
    yield _Stage("annotations and defaults", _Level.FULL, longer)
    if is_default:
        return
    documented = [id(symbol) for symbol in symbols if symbol.docstring]
    if headers.outline and headers.outline.docstring:
        documented.insert(0, _DOCSTRING)
    yield _Stage("docstrings", _Level.DOCSTRING, documented)


@dataclass(slots=True)
class _Form:
    """The lines of some definitions, of which more or less is shown.

    Attributes:
        levels: How much of each, by its key.
        remark: The last line says it.
        enough: The budget that shows all.
        asked: Rows are what a query is about; the names of all others come after them.
        between: What separates names.
    """

    headers: _Headers
    symbols: Sequence[SymbolInfo]
    levels: Mapping[int, int] = field(default_factory=dict)
    remark: str = ""
    enough: int = LARGEST_BUDGET + 1
    asked: bool = False
    between: str = ", "
    _rows: dict[tuple[int, int, int], Line] = field(default_factory=dict)

    def raise_to(self, level: _Level, keys: Sequence[int]) -> None:
        """Show at least so much of these."""
        raised = {key: max(self.levels.get(key, 0), level) for key in keys}
        self.levels = {**self.levels, **raised}

    def fill(self, stages: Iterator[_Stage], budget: int, details: int) -> None:
        """Raise as much as fits, in order; signatures and what follows have `details` bytes."""
        todo = [stage for stage in stages if stage.keys]
        too_large: list[str] = []
        for number, stage in enumerate(todo):
            rest = [following.what for following in todo[number + 1 :]]
            room = budget if stage.level <= _Level.LINE else details
            if self._raised(stage, room, too_large, rest):
                continue
            # Signatures may be smaller than the line of imports.
            if stage.what not in {"imports", "matches"}:
                return
            too_large.append(stage.what)

    def _raised(self, stage: _Stage, room: int, before: list[str], rest: list[str]) -> bool:
        """Raise as many as fit; return whether these are all. The remark has the others."""
        what, level, keys = stage
        start = self.levels

        def fits(count: int) -> bool:
            # Each try begins anew, and stays until the next one.
            self.levels = start
            self.raise_to(level, keys[:count])
            part = [] if count == len(keys) else [f"some {what}" if count else what]
            self._leave_out([*before, *part, *rest])
            return size_of_lines(self.lines()) <= room

        count = most(len(keys), fits)
        if not fits(count):
            count = 0
            fits(count)
        return count == len(keys)

    def _leave_out(self, parts: list[str]) -> None:
        if not _WITHOUT_ANNOTATIONS.isdisjoint(parts):
            parts = [part for part in parts if part != "annotations and defaults"]
        more = f"; budget {self.enough} shows all" if self.enough <= LARGEST_BUDGET else ""
        if self.asked:
            parts = [part for part in parts if part.endswith(("names", "matches"))]
        self.remark = f"(left out: {', '.join(parts)}{more})" if parts else ""

    def lines(self) -> list[Line]:
        """The lines."""
        shown = {"docstring": _DOCSTRING in self.levels, "imports": _IMPORTS in self.levels}
        indent = 0 if self.headers.symbol is None else 1
        rows = self._render(self.symbols, indent, self.headers.symbol)
        return [*self.headers.lines(**shown), *rows, *([note(self.remark)] if self.remark else [])]

    def _render(
        self, symbols: Sequence[SymbolInfo], indent: int, outer: SymbolInfo | None
    ) -> list[Line]:
        lines: list[Line] = []
        shown = [symbol for symbol in symbols if id(symbol) in self.levels]
        if self.asked:
            shown.sort(key=lambda one: self.levels[id(one)] < _Level.BRIEF)
        for in_rows, group in groupby(shown, key=lambda one: self.levels[id(one)] >= _Level.BRIEF):
            if not in_rows:
                names = self.between.join(dict.fromkeys(map(self._with_members, group)))
                lines.append([("  " * indent + names, "")])
                continue
            members = list(group)
            if indent and members[0].kind == SymbolKind.EXPORT:
                names = ", ".join(symbol.signature for symbol in members)
                lines.append([("  " * indent + visible(names), "")])
                continue
            for before, symbol in zip([None, *members], members, strict=False):
                # `int width, height;` has two symbols.
                is_twin = before and _text_of(before) == _text_of(symbol) and not symbol.children
                is_shown = is_twin or (outer and _is_parameter(symbol, outer))
                if is_shown and not self.asked:
                    continue
                outer = symbol if symbol.kind == SymbolKind.METHOD else outer
                lines.append(self._row(symbol, indent))
                lines += self._render(symbol.children, indent + 1, symbol)
        if len(shown) < len(symbols):
            first = next(symbol.line for symbol in symbols if id(symbol) not in self.levels)
            hidden = f"… {len(symbols) - len(shown)} more from line {first} on"
            lines.append(note("  " * indent + hidden))
        return lines

    def _row(self, symbol: SymbolInfo, indent: int) -> Line:
        level = self.levels[id(symbol)]
        key = (id(symbol), level, indent)
        if key not in self._rows:
            is_full = level >= _Level.FULL
            longest = _LONGEST_SIGNATURE if is_full or not self.asked else _LONGEST_OF_MATCH
            short = short_symbol(symbol if is_full else _brief(symbol), longest)
            self._rows[key] = symbol_line(short, indent, docstring=level == _Level.DOCSTRING)
        return self._rows[key]

    def _with_members(self, symbol: SymbolInfo) -> str:
        """`page 120`, or with the names of all that is inside: `page 120 (rows 122, size 130)`."""
        inside = [located.symbol for located in flatten(symbol.children)]
        shown = [child for child in inside if id(child) in self.levels]
        names = [*dict.fromkeys(map(self._name, shown))]
        if len(shown) < len(inside):
            names.append(f"… {len(inside) - len(shown)} more")
        return f"{self._name(symbol)} ({self.between.join(names)})" if names else self._name(symbol)

    def _name(self, symbol: SymbolInfo) -> str:
        name = visible(shorten(symbol.name, _LONGEST_NAME))
        return f"{name} {symbol.line}" if self.levels[id(symbol)] >= _Level.LINE else name


def _is_parameter(symbol: SymbolInfo, of: SymbolInfo) -> bool:
    """Return whether a member stands in the signature of its class or constructor."""
    parts = (f"({symbol.signature}", f", {symbol.signature}")
    is_inside = symbol.line <= of.line_end and SymbolKind.VARIABLE == symbol.kind != of.kind
    return is_inside and any(part in of.signature for part in parts)


def _text_of(symbol: SymbolInfo) -> tuple[int, int, str]:
    return symbol.line, symbol.line_end, symbol.signature


def _matching_lines(
    headers: _Headers, symbols: Sequence[SymbolInfo], matches: Sequence[str], budget: int | None
) -> Sequence[Line]:
    """The definitions that a query is about, best ones with signatures, and the others' names."""
    every = list(flatten(symbols))
    by_name = dict(distinct(every))
    kept = dict.fromkeys(_shown_around(name, by_name) for name in matches)
    ranked = [by_name[name] for name in kept if name]
    if not ranked:
        return _fit_above(["(nothing here has words of the question)"], headers, symbols, budget)
    limit = LARGEST_BUDGET if budget is None else budget

    def keys(some: Sequence[Located]) -> list[int]:
        return [*dict.fromkeys(id(one) for of in some for one in (*of.enclosing, of.symbol))]

    between = ", " if any(" " in one.symbol.name for one in every) else " "
    form = _Form(headers, symbols, asked=True, between=between)
    outer_first = sorted(every, key=lambda one: len(one.enclosing))[: LARGEST_BUDGET // _LEAST]
    names = _Stage("names", _Level.NAME, keys([*ranked, *outer_first]))
    best = _Stage("matches", _Level.BRIEF, keys(ranked[:_BEST]))
    form.raise_to(names.level, names.keys)
    names_fit = size_of_lines(form.lines()) <= limit
    form.raise_to(best.level, best.keys)
    form.enough = size_of_lines(form.lines()) if headers.outline else form.enough
    form.levels = {}
    if isinstance(budget, DefaultBudget):
        # Signatures have what all names leave.
        stages = [names, best] if names_fit else [best, names]
    else:
        levels = (_Level.LINE, _Level.BRIEF, _Level.FULL)
        stages = [best, names, *(_Stage("", level, keys(ranked)) for level in levels)]
    form.fill(iter(stages), limit, limit)
    return cut_to_budget(form.lines(), limit)


def _shown_around(name: str, known: Collection[str]) -> str:
    """The name, or that of the innermost definition around it that is shown."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def _inherited(one: Inherited) -> str:
    """`from Base, a.py 12: run, stop`, public names first."""
    leaves = [visible(shorten(each.name.rpartition(".")[2], _LONGEST_NAME)) for each in one.members]
    names = sorted(leaves, key=lambda name: name.startswith("_"))
    rest = len(names) - _MOST_INHERITED
    more = f", … {rest} more" if rest > 0 else ""
    shown = ", ".join(names[:_MOST_INHERITED])
    return f"from {visible(one.base)}, {visible(one.path)} {one.line}: {shown}{more}"


def _fit_above(
    notes: Sequence[str], headers: _Headers, symbols: Sequence[SymbolInfo], budget: int | None
) -> Sequence[Line]:
    """The most that the budget holds with remarks below it."""
    around = sum(size_of(remark) + 1 for remark in notes)
    room = None if budget is None else type(budget)(max(budget - around, 1))
    return cut_to_budget([*_fit(headers, symbols, room, around), *map(note, notes)], budget)


def _brief(symbol: SymbolInfo) -> SymbolInfo:
    """The symbol with a brief signature; itself where that is the same."""
    if symbol.kind not in _CALLABLE and not _TYPE.match(symbol.signature):
        return symbol
    signature = brief_signature(symbol.name, symbol.signature)
    return symbol if signature == symbol.signature else replace(symbol, signature=signature)


def _signature(symbol: SymbolInfo, signature: str, longest: int) -> str:
    """A signature that isn't too long, with the name in it."""
    shortened = shorten(signature, longest)
    leaf = symbol.name.rpartition(".")[2]
    # A parser may have cut it.
    if leaf in shortened or not shortened.endswith("…"):
        return shortened
    return shorten(symbol.name, _LONGEST_SIGNATURE)


def _is_private(name: str) -> bool:
    return name.startswith(("_", "#")) and not (name.startswith("__") and name.endswith("__"))


def brief_signature(name: str, signature: str) -> str:
    """The signature without annotations, defaults, type parameters, `self` and what is returned.

    Itself where it has nothing of the kind, or isn't understood.

    >>> brief_signature("f", "async def f(a: int = 3, *, b: list[str]) -> None")
    'async def f(a, *, b)'
    >>> brief_signature("f", "export function f<T>(a?: T, ...b: [A, B]): Promise<void>")
    'export function f(a, ...b)'
    >>> brief_signature("A", "class A<T extends B<C>> extends D")
    'class A extends D'
    >>> brief_signature("LIMIT", "LIMIT: int = 3")
    'LIMIT'
    """
    leaf = name.rpartition(".")[2] or name
    end = _end_of(leaf, signature)
    if end < 0:
        return signature
    before, after = signature[:end], signature[end:]
    if _TYPE.fullmatch(before[: -len(leaf)]):
        return before + (_before(after[1:], "")[1][1:] if after[:1] == "<" else after)
    opening = after.find("(")
    between = after[:opening].strip() if opening >= 0 else after.strip()
    if opening >= 0 and (not between or between[0] in "<[=:"):
        names = [_before(part, ":=")[0] for part in _parameters(after[opening + 1 :])]
        if names[0] in {"self", "cls"} and before.startswith(("def ", "async def ")):
            del names[0]
        return f"{before}({', '.join(filter(None, names))})"
    return before if between[:1] in {"=", ":", "?"} else signature


def _end_of(word: str, text: str) -> int:
    """The end of a word with no letter, digit or underscore beside it; -1 if it has one."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        beside = text[at - 1 : at] + text[end : end + 1]
        if not any(one == "_" or one.isalnum() for one in beside):
            return end
        at = text.find(word, at + 1)
    return -1


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
