"""The definitions that a question is about: BM25F over the text of each in the files that match.

A function counts with all that is inside it, a class without its methods. How rare a word is counts
among the files of the workspace and among these definitions alike.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.index.terms import terms_of
from foldline.backends.models import SymbolKind
from foldline.backends.symbols import distinct_names, flatten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foldline.backends.models import FileOutline
    from foldline.backends.ranking.score import Scores
    from foldline.backends.symbols import Located

# Set on the reports of `tests/benchmarks/bench_context.py`; it prints what they are worth.
_NAME, _AROUND = 5.0, 1.0
_SATURATION, _LENGTH = 1.5, 0.75
_FILE = 0.4
_EXACT, _DOTTED = 0.15, 0.3
_LESS: dict[str, float] = {SymbolKind.CLASS: 0.2, SymbolKind.VARIABLE: 0.3}
# Names that more definitions have say little about what they use.
_MOST_OF_A_NAME = 2
_SHORTEST_NAME = 4
_MOST_NEAR = 12

_WORD = re.compile(r"\w+")
_FUNCTIONS: frozenset[str] = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})


class Unit(NamedTuple):
    """A definition: where it stands, how often it has each term, and the words in it."""

    path: str
    name: str
    located: Located
    counts: Counter[str]
    words: frozenset[str]
    length: int


class RankedUnit(NamedTuple):
    """A definition with its score, 1 for the best words alone."""

    unit: Unit
    score: float


def units_of(outline: FileOutline, lines: Sequence[str]) -> Iterator[Unit]:
    """Yield the definitions of a file that aren't inside a function."""
    known = list(flatten(outline.symbols))
    some = [one for one in known if not any(symbol.kind in _FUNCTIONS for symbol in one.enclosing)]
    for located, name in zip(some, distinct_names(known, some), strict=True):
        symbol = located.symbol
        own = set(range(symbol.line, symbol.line_end + 1))
        if symbol.kind not in _FUNCTIONS:
            for child in symbol.children:
                if child.kind != SymbolKind.VARIABLE:
                    own -= set(range(child.line, child.line_end + 1))
        words = [
            word
            for number in sorted(own)
            if number <= len(lines)
            for word in _WORD.findall(lines[number - 1])
        ]
        counts = Counter(term for word in words for term in terms_of(word))
        yield Unit(outline.path, name, located, counts, frozenset(words), counts.total())


def rank_units(scores: Scores, files: Sequence[str], units: Sequence[Unit]) -> list[RankedUnit]:
    """Return the definitions with a word of the question, best first; `files` are ranked."""
    if not units:
        return []
    values = _by_words(scores, units)
    best = max(values) or 1.0
    names, dotted = {*scores.question.names}, scores.question.dotted
    place = {path: number for number, path in enumerate(files)}
    ranked = []
    for unit, value in zip(units, values, strict=True):
        if not value:
            continue
        parts = tuple(unit.located.qualified_name.split("."))
        score = value / best + _FILE / (1 + place.get(unit.path, len(place)))
        score -= _LESS.get(unit.located.symbol.kind, 0.0)
        score += _EXACT * (parts[-1] in names)
        score += _DOTTED * (len(parts) > 1 and any(_ends(name, parts) for name in dotted))
        ranked.append(RankedUnit(unit, max(score, 0.0)))
    # Equal ones stay in the order of the files and lines.
    return sorted(ranked, key=lambda one: -one.score)


def near_units(shown: Sequence[Unit], units: Sequence[Unit]) -> Iterator[tuple[Unit, str]]:
    """Yield the `units` that those `shown` use, and those that use them, with the relation.

    In their order, and by name alone: a name that several of them have is left out.
    """
    named: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        named[unit.located.symbol.name].append(unit)
    rare = {name for name, some in named.items() if len(some) <= _MOST_OF_A_NAME}
    done = {(unit.path, unit.name) for unit in shown}
    count = 0
    for unit in units:
        name = unit.located.symbol.name
        relation = ""
        for other in shown:
            used = other.located.symbol.name
            if _holds(unit, other) or _holds(other, unit):
                continue
            if name in rare and len(name) >= _SHORTEST_NAME and name in other.words:
                relation = f"used by {other.name}"
            elif used in rare and len(used) >= _SHORTEST_NAME and used in unit.words:
                relation = f"uses {other.name}"
            if relation:
                break
        if relation and (unit.path, unit.name) not in done and count < _MOST_NEAR:
            count += 1
            yield unit, relation


def _by_words(scores: Scores, units: Sequence[Unit]) -> list[float]:
    """What the words of the question are worth in each definition."""
    question, count = scores.question, len(units)
    usual = sum(unit.length for unit in units) / count or 1.0
    having = Counter(term for unit in units for term in unit.counts if term in question.terms)
    values = [0.0] * count
    for number, unit in enumerate(units):
        *around, name = unit.located.qualified_name.split(".")
        in_name = Counter(terms_of(name))
        in_around = Counter(term for part in around for term in terms_of(part))
        norm = 1 - _LENGTH + _LENGTH * unit.length / usual
        for term in (unit.counts.keys() | in_around.keys()) & question.terms.keys():
            if term not in scores.idf:
                continue
            own = math.log(1 + (count - having[term] + 0.5) / (having[term] + 0.5))
            amount = unit.counts[term] / norm + _NAME * in_name[term] + _AROUND * in_around[term]
            values[number] += (
                question.terms[term] * (scores.idf[term] + own) * amount / (_SATURATION + amount)
            )
    return values


def _holds(unit: Unit, other: Unit) -> bool:
    inner = other.located.qualified_name
    return unit.path == other.path and inner.startswith(f"{unit.located.qualified_name}.")


def _ends(name: Iterable[str], parts: tuple[str, ...]) -> bool:
    return tuple(name)[-len(parts) :] == parts
