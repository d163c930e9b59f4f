"""A packed context: whole files, the source of symbols, and outlines, within a byte budget.

`context_for` chooses the symbols and outlines of a query without a model, `gather` reads the parts,
and `pack` makes the lines. What has no room is named at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, groupby, repeat
from typing import TYPE_CHECKING, Protocol

from foldline.backends.errors import BackendError, MissingPathError
from foldline.backends.formatting.budget import SEARCH_BUDGET, DefaultBudget, size_of
from foldline.backends.formatting.parts import note
from foldline.backends.formatting.symbol_pages import matching_part
from foldline.backends.formatting.text import line_range
from foldline.backends.formatting.visible import visible
from foldline.backends.models import COMPLETE, FileOutline, FileText, SymbolDetail, SymbolHit
from foldline.backends.text import format_file_text, format_outline, format_symbol
from foldline.ide.operations.operation import run_query
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.formatting.parts import Line
    from foldline.backends.models import SearchResults, SymbolResults

OUTLINES_BUDGET = 6_000
"""Total bytes of the supporting files' outlines."""
NO_LIMIT = 1 << 30
NO_ROOM = "no room is left"

MOST_CANDIDATES = 12
"""The most files whose outlines are read for one query."""

# A file that matches much worse than the best one has little to do with the query.
_FAINTEST = 3
# Symbols need this percentage of the best score: weaker matches only fill the context.
_LEAST_SCORE = 60
_MOST_SYMBOLS = 24
# So many symbols with this percentage of the best score leave it open which one is meant.
_ALIKE, _LEAST_ALIKE = 3, 85
# The most outlines in a context, and the most of them of files without a chosen symbol.
_MOST_OUTLINES, _WITHOUT_SYMBOL = 6, 2
# A smaller part isn't worth its header.
_SMALLEST_PART = 100
_SMALLEST_OUTLINE = 200
_NOTES = 300
# A question's outlines have at least this part of the room.
_FOR_OUTLINES = 12
# Of the room for symbols, what the first and each other one gets. One of a report will be edited,
# and is shown whole where it fits; the answer of a question is some lines.
_SHARES_OF_REPORT, _SHARES = (0.6, 0.6), (0.33, 0.16)
_SMALL_OUTLINE = 250
# Budget of a search, of which only the paths are used: fifteen of them.
_SEARCHED = 3 * SEARCH_BUDGET
_MOST_NAMED = 40
_SHORTEST_CUT = 40
_BETWEEN = 2
# Signatures of neighbours: at most so many bytes, and at most this part of the rest.
_NEAR = 800
_PART_FOR_NEAR = 3
_LONGEST = 100


class Reader(Protocol):
    """Reads code for `gather`; its coroutines await only `foldline.backends.base.waiting`."""

    async def search(self, query: str) -> SearchResults: ...

    async def symbols(self, query: str, within: Sequence[str] | None) -> SymbolResults: ...

    async def outline(self, path: str) -> FileOutline: ...

    async def symbol(self, path: str, name: str, budget: int) -> SymbolDetail: ...

    async def text(self, path: str, budget: int) -> FileText: ...


@record
class AccessReader:
    """Reads the files of one folder."""

    access: SmartFileAccess

    async def search(self, query: str) -> SearchResults:
        return await run_query(self.access.search_files, query, budget=_SEARCHED)

    async def symbols(self, query: str, within: Sequence[str] | None) -> SymbolResults:
        return await run_query(self.access.search_symbols, query, files=within)

    async def outline(self, path: str) -> FileOutline:
        return await run_query(self.access.get_outline, path)

    async def symbol(self, path: str, name: str, budget: int) -> SymbolDetail:
        return await run_query(self.access.read_symbol, path, name, budget=budget)

    async def text(self, path: str, budget: int) -> FileText:
        return await run_query(self.access.read_text, path, budget=budget)


@record
class SymbolChoice:
    """A symbol whose source belongs into a context."""

    path: str
    name: str


@record
class LeftOut:
    """A file, or a symbol of it, that isn't in a context, with the reason."""

    path: str
    name: str
    reason: str


@record
class Sizes:
    """The most bytes of a whole context, of one symbol's source, of all outlines, and of one."""

    total: int = NO_LIMIT
    symbol: int = 2_200
    outlines: int = OUTLINES_BUDGET
    outline: int = NO_LIMIT


@record
class ScopedContext:
    """The parts of a context, in the order in which they are shown.

    Attributes:
        question: The question that it was made for; empty for named files.
        near: Definitions that the symbols use, or that use them; their signatures are shown.
        matched: The number of files that match the query.
        left_out: What isn't part of it, with the reasons.
        reason: Says why it's empty, or that several places are equally likely.
    """

    question: str = ""
    files: tuple[FileText, ...] = ()
    symbols: tuple[SymbolDetail, ...] = ()
    outlines: tuple[FileOutline, ...] = ()
    near: tuple[SymbolHit, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    matched: int = 0
    reason: str = ""
    coverage: str = COMPLETE

    def __len__(self) -> int:
        return len(self.files) + len(self.symbols) + len(self.outlines)


@dataclass(slots=True)
class _Room:
    """The bytes that are left for some parts, and the parts that have no room."""

    left: int
    left_out: list[LeftOut] = field(default_factory=list)

    def holds(self, text: str) -> bool:
        """Take the room of `text`, if it has room."""
        size = size_of(text) + _BETWEEN
        if size > self.left:
            return False
        self.left -= size
        return True

    def takes(self, text: str, path: str, name: str = "") -> bool:
        """Take the room of a part, or else leave that out."""
        taken = self.holds(text)
        if not taken:
            self.left_out.append(LeftOut(path, name, NO_ROOM))
        return taken


async def context_for(
    reader: Reader,
    question: str,
    *,
    files: Iterable[str] = (),
    supporting: Iterable[str] = (),
    within: Sequence[str] | None = None,
    sizes: Sizes,
) -> ScopedContext:
    """Return the files, symbols and outlines that match `question`, best first.

    `files` and `supporting` are part of it in any case; symbols are those of the files `within`, or
    of those that match best. A context without anything that matches says so.
    """
    files = tuple(files)
    symbols = await reader.symbols(question, within)
    choices = [
        SymbolChoice(hit.path, hit.name)
        for hit in symbols.hits[:_MOST_SYMBOLS]
        if hit.score >= _LEAST_SCORE and hit.path not in files
    ]
    outlined = _outlined(choices, symbols.files)
    context = await gather(
        reader,
        files=files,
        choices=choices,
        supporting=(*supporting, *outlined),
        sizes=sizes,
        query=question,
    )
    shown = {(one.path, one.qualified_name) for one in context.symbols}
    context = replace(
        context,
        question=question,
        matched=symbols.total,
        near=tuple(one for one in symbols.near if (one.path, one.name) not in shown),
        reason=symbols.reason or _unsure(symbols),
        coverage=symbols.coverage,
    )
    return replace(context, left_out=pack(context, sizes)[1])


def _unsure(found: SymbolResults) -> str:
    """Says that three places are about equally likely; empty if one stands out."""
    first = found.hits[:_ALIKE]
    if len(first) < _ALIKE or first[-1].score < _LEAST_ALIKE:
        return ""
    names = ", ".join(f"{one.path}:{one.line} {one.name}" for one in first)
    return f"unsure: these are about equally likely: {names}"


def _outlined(choices: Sequence[SymbolChoice], ranked: Sequence[str]) -> list[str]:
    """Return the files of the chosen symbols, and the best ones without any."""
    chosen = dict.fromkeys(choice.path for choice in choices)
    others = [path for path in ranked if path not in chosen]
    return [*chosen, *others[:_WITHOUT_SYMBOL]][:_MOST_OUTLINES]


def candidates_of(results: SearchResults) -> list[str]:
    """Return the files that match nearly as well as the best one, best first."""
    best = max((hit.score for hit in results), default=0)
    return [hit.path for hit in results if hit.score * _FAINTEST >= best]


async def gather(
    reader: Reader,
    *,
    files: Iterable[str] = (),
    choices: Iterable[SymbolChoice] = (),
    supporting: Iterable[str] = (),
    sizes: Sizes,
    query: str | None = None,
) -> ScopedContext:
    """Read `files` whole, the symbols of `choices`, and the outlines of `supporting` files.

    What can't be read, or has no room, is left out with its reason. Files come first, and share
    the room that the outlines don't need; with `choices`, they get half of it. With a `query`, a
    symbol is shown in part only if it doesn't fit `sizes.symbol` bytes: the part that matches.
    """
    files, choices = tuple(dict.fromkeys(files)), tuple(dict.fromkeys(choices))
    supporting = tuple(path for path in dict.fromkeys(supporting) if path not in files)
    room = sizes.total - _room_for_notes(sizes.total)
    room -= min(sizes.outlines, room // (_FOR_OUTLINES if query else 3)) if supporting else 0
    for_files = _Room(room // 2 if choices else room)
    texts = [text async for text in _files(reader, files, for_files)]
    # The caller may spell a path in another way.
    in_full = {text.path for text in texts if text.start == 1 and text.cursor is None}
    choices = tuple(choice for choice in choices if choice.path not in in_full)
    for_symbols = _Room(room - (room // 2 if choices else room) + for_files.left)
    gathered = _symbols(reader, choices, for_symbols, sizes.symbol, query)
    symbols = [detail async for detail in gathered]
    outlines, missing = await outlines_of(reader, supporting)
    return ScopedContext(
        files=tuple(texts),
        symbols=tuple(symbols),
        outlines=tuple(outline for outline in outlines if outline.path not in in_full),
        left_out=(*for_files.left_out, *for_symbols.left_out, *missing),
    )


async def outlines_of(
    reader: Reader, paths: Iterable[str]
) -> tuple[list[FileOutline], list[LeftOut]]:
    """Return the outlines of these files, and the files that have none."""
    outlines: list[FileOutline] = []
    left_out: list[LeftOut] = []
    for path in paths:
        try:
            outlines.append(await reader.outline(path))
        except BackendError as error:
            left_out.append(LeftOut(path, "", _why(error)))
    return outlines, left_out


def _why(error: BackendError) -> str:
    """The reason without the name of a tool, which shells call otherwise."""
    return error.summary if isinstance(error, MissingPathError) and not error.near else str(error)


async def _symbols(
    reader: Reader,
    choices: Iterable[SymbolChoice],
    room: _Room,
    most: int,
    query: str | None,
) -> AsyncIterator[SymbolDetail]:
    first, others = _SHARES_OF_REPORT if query and "\n" in query.strip() else _SHARES
    shares = chain((int(room.left * first),), repeat(int(room.left * others)))
    for choice, share in zip(choices, shares, strict=False):
        left = room.left - _BETWEEN
        if left < _SMALLEST_PART:
            room.left_out.append(LeftOut(choice.path, choice.name, NO_ROOM))
            continue
        try:
            detail = await reader.symbol(
                choice.path, choice.name, NO_LIMIT if query else min(most, left)
            )
        except BackendError as error:
            room.left_out.append(LeftOut(choice.path, choice.name, _why(error)))
            continue
        if query:
            # Of a report, what is left may hold smaller ones whole.
            detail = _excerpt(detail, query, share if first == others else min(share, left))
        if room.takes(format_symbol(detail), choice.path, choice.name):
            yield detail


def _excerpt(detail: SymbolDetail, query: str, budget: int) -> SymbolDetail:
    """The symbol, or, in `budget` bytes, its first line and those around what matches."""
    if size_of(format_symbol(detail)) <= budget:
        return detail
    return matching_part(detail, budget, query, brief=True) or detail


def pack(context: ScopedContext, sizes: Sizes) -> tuple[list[Line], tuple[LeftOut, ...]]:
    """Return the context's lines, of at most `sizes.total` bytes, and all that they leave out."""
    room = _Room(sizes.total - _room_for_notes(sizes.total), list(context.left_out))
    bodies = [
        *((format_file_text(text), text.path, "") for text in context.files),
        *(
            (format_symbol(one), one.path, one.qualified_name or one.name)
            for one in context.symbols
        ),
    ]
    parts = [text for text, path, name in bodies if room.takes(text, path, name)]
    near = _near(context, room)
    if near:
        parts.append(near)
    outlines, without_room = fit_outlines(
        context.outlines, min(sizes.outlines, room.left), sizes.outline
    )
    parts += outlines
    # A context that was packed before has what it left out then.
    left_out = list(dict.fromkeys((*room.left_out, *without_room)))
    used = sum(size_of(part) + _BETWEEN for part in parts)
    notes = _notes(context, left_out, sizes.total - used)
    lines: list[Line] = [[(part, "")] for part in parts]
    if notes or not parts:
        lines.append(note(notes or _cut("(this context is empty)", sizes.total)))
    blank: Line = []
    return [one for line in lines for one in (blank, line)][1:], tuple(left_out)


def fit_outlines(
    outlines: Sequence[FileOutline], budget: int, most: int = NO_LIMIT
) -> tuple[list[str], list[LeftOut]]:
    """Return the texts of the outlines within `budget` bytes, and the files without room.

    None has more than `most` bytes.

    Bytes that a small outline doesn't use are left for those after it.
    """
    room = _Room(budget)
    texts: list[str] = []
    # The first ones, where less than that would hold nothing of each.
    count = min(len(outlines), max(budget // _SMALL_OUTLINE, 1))
    left_out = [LeftOut(outline.path, "", NO_ROOM) for outline in outlines[count:]]
    for index, outline in enumerate(outlines[:count]):
        # As economical as the outline of one file, whatever room there is.
        share = DefaultBudget(max(min(room.left // (count - index) - _BETWEEN, most), 1))
        text = format_outline(outline, share)
        # A smaller outline is only a header, unless the whole outline is that small.
        shown = share >= _SMALLEST_OUTLINE or text == format_outline(outline)
        if shown and room.holds(text):
            texts.append(text)
        else:
            left_out.append(LeftOut(outline.path, "", NO_ROOM))
    return texts, left_out


async def _files(reader: Reader, paths: Sequence[str], room: _Room) -> AsyncIterator[FileText]:
    for index, path in enumerate(paths):
        share = room.left // (len(paths) - index) - _BETWEEN
        if share < _SMALLEST_PART:
            room.left_out.append(LeftOut(path, "", NO_ROOM))
            continue
        try:
            text = await reader.text(path, share)
        except BackendError as error:
            room.left_out.append(LeftOut(path, "", _why(error)))
            continue
        if room.takes(format_file_text(text), path):
            yield text


def _near(context: ScopedContext, room: _Room) -> str:
    """Return the lines of the definitions near those that are shown, as far as they have room."""
    lines = ["near them:"]
    left = min(_NEAR, room.left // _PART_FOR_NEAR) - size_of(lines[0]) - _BETWEEN
    for one in context.near:
        where = f"{one.path}:{line_range(one.line, one.line_end)}"
        signature = one.signature if len(one.signature) <= _LONGEST else one.name
        line = visible(f"{where} {signature}  # {one.name} {one.relation}")
        left -= size_of(line) + 1
        if left < 0:
            break
        lines.append(line)
    text = "\n".join(lines)
    return text if len(lines) > 1 and room.holds(text) else ""


def _room_for_notes(total: int) -> int:
    return min(_NOTES, total // 6)


def _notes(context: ScopedContext, left_out: Sequence[LeftOut], room: int) -> str:
    """Return what is missing and how to get it, in at most `room` bytes."""
    lines = [f"({visible(context.reason)})"] if context.reason else []
    if context.coverage != COMPLETE:
        lines.append(f"(coverage: {visible(context.coverage)})")
    shown = len({*(one.path for one in context.outlines), *(one.path for one in context.files)})
    if context.matched > shown > 0:
        lines.append(f"({context.matched} files match: search by other words for the rest)")
    lines += [f"({_named(one)}{visible(one.reason)})" for one in left_out if one.reason != NO_ROOM]
    over = [one for one in left_out if one.reason == NO_ROOM]
    if over:
        # It comes first: a larger budget mends it.
        names = range(min(len(over), _MOST_NAMED), -1, -1)
        notes = (_no_room(over, count) for count in names)
        most = room // 2 if lines else room
        lines.insert(0, next((note for note in notes if size_of(note) <= most), _no_room(over, 0)))
    kept: list[str] = []
    for line in (_cut(line, room) for line in lines):
        if size_of(line) > room:
            break
        room -= size_of(line) + 1
        kept.append(line)
    return "\n".join(kept)


def _no_room(over: Sequence[LeftOut], count: int) -> str:
    """Return the note on what has no room, with the names of the first `count`."""
    by_path = groupby(over[:count], key=lambda one: one.path)
    named = []
    for path, ones in by_path:
        names = ", ".join(one.name for one in ones if one.name)
        named.append(visible(f"{path}: {names}" if names else path))
    more = len(over) - count
    if more:
        named.append(f"{more} more" if count else f"{more} parts")
    return f"(no room for {'; '.join(named)}: read them one by one, or raise the budget)"


def _named(one: LeftOut) -> str:
    # Error messages already begin with the path.
    return "" if one.reason.startswith(visible(one.path)) else f"{visible(one.path)}: "


def _cut(text: str, room: int) -> str:
    """Return the beginning of a text in about `room` bytes; too little room holds none of it."""
    if size_of(text) <= room or room < _SHORTEST_CUT:
        return text
    return text.encode("utf-8", "replace")[: max(room - 3, 0)].decode("utf-8", "ignore") + "…"
