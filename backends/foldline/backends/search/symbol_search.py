"""Definitions by what a query says: those of the files that match best, and their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice

from foldline.backends.errors import BackendError, MissingPathError
from foldline.backends.files.base import FileBackend
from foldline.backends.index import WorkspaceIndex
from foldline.backends.models import SymbolHit, SymbolResults
from foldline.backends.outlines.analysis import Analysis
from foldline.backends.ranking.symbols import (
    FUNCTIONS,
    RankedUnit,
    Unit,
    near_units,
    rank_units,
    units_of,
)
from foldline.backends.search.search import rank_files
from foldline.backends.search.walks import Scope, Walks

_MOST_FILES = 12
_MOST_HITS = 40
# Definitions whose neighbours are looked for.
_HEAD = 5
# A longer class is better read by its members.
_LONGEST_CLASS = 40


async def search_symbols(
    files: FileBackend,
    walks: Walks,
    index: WorkspaceIndex | None,
    analysis: Analysis,
    query: str,
    *,
    within: Sequence[str] | None = None,
) -> SymbolResults:
    """The definitions that `query` is about, none of them inside another.

    Raises:
        InvalidArgumentError: The query has no word.
    """
    ranked = await rank_files(files, walks, index, query)
    names = ranked.scores.question.names
    paths = [*ranked.paths] if within is None else _files_of(files, within, ranked.paths)
    total = len(paths)
    units: list[Unit] = []
    for path in paths[:_MOST_FILES] if within is None else paths:
        # It may be gone, or too large to parse.
        with suppress(BackendError):
            outline = analysis.get_outline(path)
            units += units_of(outline, files.load(outline.path).lines, names)
    scores = ranked.scores
    every = rank_units(scores.question, units, idf=scores.idf, files=paths)
    kept: list[RankedUnit] = []
    for one in every:
        if len(kept) == _MOST_HITS:
            break
        if not _is_long_class(one.unit) and not any(_overlap(one.unit, other) for other, _ in kept):
            kept.append(one)
    # Definitions without a word of the query come last.
    order = {id(one.unit): index for index, one in enumerate(every)}
    units.sort(key=lambda unit: order.get(id(unit), len(order)))
    near = near_units([one.unit for one in kept[:_HEAD]], units)
    best = (kept[0].score if kept else 0.0) or 1.0
    return SymbolResults(
        query,
        tuple(_hit(unit, score / best) for unit, score in kept),
        tuple(paths[:_MOST_FILES] if within is None else paths),
        total,
        tuple(_hit(unit, 0.0, relation) for unit, relation in near),
        ranked.reason,
        analysis.name,
        ranked.coverage,
    )


def _files_of(files: FileBackend, within: Sequence[str], ranked: Iterable[str]) -> list[str]:
    """The files that are named, and the best ones of the folders and globs."""
    named: list[str] = []
    parts: list[Scope] = []
    for text in within:
        try:
            parts.append(Scope(files, text))
            parts[-1].check()
        except MissingPathError:
            named.append(text)  # It may be gone.
    several = [part for part in parts if part.single_file is None]
    named += [part.single_file for part in parts if part.single_file is not None]
    best = (path for path in ranked if any(part.holds(path) for part in several))
    return [*dict.fromkeys([*named, *islice(best, _MOST_FILES)])]


def _hit(unit: Unit, share: float, relation: str = "") -> SymbolHit:
    symbol = unit.located.symbol
    return SymbolHit(
        unit.path,
        unit.name,
        symbol.line,
        symbol.line_end,
        symbol.signature,
        round(100 * share),
        relation,
    )


def _is_long_class(unit: Unit) -> bool:
    symbol = unit.located.symbol
    is_long = symbol.line_end - symbol.line > _LONGEST_CLASS
    return bool(symbol.children) and is_long and symbol.kind not in FUNCTIONS


def _overlap(one: Unit, other: Unit) -> bool:
    """True if one of the definitions holds the other, or both have one name, as overloads have."""
    if one.path != other.path:
        return False
    if one.located.qualified_name == other.located.qualified_name:
        return True
    first, second = one.located.symbol, other.located.symbol
    return first.line <= second.line_end and second.line <= first.line_end
