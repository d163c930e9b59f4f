"""The definitions that a question is about: BM25F over their names and their own text.

A function counts with all that is inside it, a class without its methods. How rare a word is counts
among these definitions and, where there is an index, among the files of the workspace alike. What
the question names itself, such as `Cart.total`, counts more.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.index.terms import terms_of
from foldline.backends.models import SymbolKind
from foldline.backends.outlines.symbols import distinct, flatten
from foldline.backends.ranking.paths import is_minor
from foldline.backends.ranking.weights import HAND_SET

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from foldline.backends.models import FileOutline
    from foldline.backends.outlines.symbols import Located
    from foldline.backends.ranking.question import Question

_WORD = re.compile(r"\w+")
# Set on the reports of `bench_context.py` and `bench_reach.py` in `tests/benchmarks`, which print
# what these are worth. All but the first three are parts of the best score.
_NAME, _AROUND, _LENGTH = 5.0, 1.0, 0.75
_EXACT = 0.15
# For a dotted name: within one file it decides, over all files there may be many of them.
DOTTED, DOTTED_IN_FILE = 0.3, 1.0
_FILE = 0.4
# The factor for definitions of tests, documentation and generated code.
_OF_TESTS = 0.6
_LESS: dict[str, float] = {SymbolKind.CLASS: 0.2, SymbolKind.VARIABLE: 0.3, SymbolKind.TEST: 0.3}
# Names that more definitions have say little about what they use.
_MOST_OF_A_NAME = 2
_SHORTEST_NAME = 4
# Lines of a long definition that are ranked together; pieces overlap by half.
_LONGEST_LINE = 2_000
_PIECE = 60
_MOST_NEAR = 12
FUNCTIONS: frozenset[str] = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})


class Unit(NamedTuple):
    """A definition: where it stands, and how often it has each word."""

    path: str
    name: str
    located: Located
    words: Counter[str]


class RankedUnit(NamedTuple):
    """A definition with its score, 1 for the best words alone."""

    unit: Unit
    score: float


def units_of(
    outline: FileOutline, lines: Sequence[str], names: Collection[str] | None = None
) -> Iterator[Unit]:
    """Yield the definitions of a file, long ones in pieces that each stand for the whole.

    With `names`, of those inside a function only the ones that have such a name.
    """
    counts: dict[str, Counter[str]] = {}
    for name, located in distinct(flatten(outline.symbols)):
        inside = any(symbol.kind in FUNCTIONS for symbol in located.enclosing)
        if located.symbol.kind == SymbolKind.EXPORT or (
            inside and names is not None and located.symbol.name not in names
        ):
            continue
        lines_of_unit = [line[:_LONGEST_LINE] for line in _own_lines(located, lines)]
        for start in range(0, max(len(lines_of_unit) - _PIECE // 2, 1), _PIECE // 2):
            text = "\n".join(lines_of_unit[start : start + _PIECE])
            # All definitions of a minified file have the same line.
            words = counts.get(text)
            if words is None:
                words = counts[text] = words_of(text)
            yield Unit(outline.path, name, located, words)


def rank_units(
    question: Question,
    units: Sequence[Unit],
    *,
    idf: Mapping[str, float] | None = None,
    files: Sequence[str] = (),
    dotted: float = DOTTED,
) -> list[RankedUnit]:
    """Return the definitions with a word of the question, best first.

    Args:
        question: What they are about.
        units: Equal ones stay in this order.
        idf: How rare each term is in the workspace; terms that it lacks say nothing.
        files: The files of the workspace that match, best first.
        dotted: The bonus where the question has `Cart.total`, as a part of the best score.
    """
    values = _by_words(question, units, idf)
    best = max(values, default=0.0) or 1.0
    from_file = {path: _FILE / (1 + index) for index, path in enumerate(files)}
    ranked: dict[int, RankedUnit] = {}
    for unit, value in zip(units, values, strict=True):
        if value:
            score = value / best + from_file.get(unit.path, 0.0)
            score *= _OF_TESTS if is_minor(unit.path) and not question.about_tests else 1
            score = max(score + _bonus(question, unit.located, dotted), 0.0)
            # Of a definition's pieces, the best one counts.
            rank = ranked.get(id(unit.located))
            if rank is None or rank.score < score:
                ranked[id(unit.located)] = RankedUnit(unit, score)
    return sorted(ranked.values(), key=lambda one: -one.score)


def near_units(shown: Sequence[Unit], units: Sequence[Unit]) -> Iterator[tuple[Unit, str]]:
    """Yield the `units` that those `shown` use, and those that use them, with the relation.

    In their order, and by name alone: a name that several of them have is left out.
    """
    named: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        named[unit.located.symbol.name].append(unit)
    rare = {name for name, units_named in named.items() if len(units_named) <= _MOST_OF_A_NAME}
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


def words_of(text: str) -> Counter[str]:
    """Count each word of a text."""
    return Counter(_WORD.findall(text))


def count_terms(question: Question, words: Mapping[str, int]) -> Counter[str]:
    """Count each term of a question among words."""
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for term in terms_of(word):
            if term in question.terms:
                counts[term] += count
    return counts


def _own_lines(located: Located, lines: Sequence[str]) -> Iterator[str]:
    """A definition's source; that of a class without its members', but for variables."""
    symbol = located.symbol
    start = symbol.line - 1
    if symbol.kind not in FUNCTIONS:
        for child in symbol.children:
            if child.kind != SymbolKind.VARIABLE:
                yield from lines[start : child.line - 1]
                start = max(start, child.line_end)
    yield from lines[start : symbol.line_end]


def _by_words(
    question: Question, units: Sequence[Unit], idf: Mapping[str, float] | None
) -> list[float]:
    """Return the BM25 score of each definition for the words of the question."""
    lengths = [unit.words.total() for unit in units]
    usual = sum(lengths) / max(len(units), 1) or 1.0
    amounts: list[dict[str, float]] = []
    for unit, length in zip(units, lengths, strict=True):
        *around, name = (symbol.name for symbol in (*unit.located.enclosing, unit.located.symbol))
        by_term: dict[str, float] = defaultdict(float)
        for weight, words in (
            (1 / (1 - _LENGTH + _LENGTH * length / usual), unit.words),
            (_NAME, words_of(name)),
            (_AROUND, words_of(" ".join(around))),
        ):
            for term, count in count_terms(question, words).items():
                by_term[term] += weight * count
        amounts.append(by_term)
    worth = {
        term: question.terms[term]
        * (math.log(1 + (len(units) - count + 0.5) / (count + 0.5)) + (idf[term] if idf else 0.0))
        for term, count in Counter(term for by_term in amounts for term in by_term).items()
        if idf is None or term in idf
    }
    saturation = HAND_SET.saturation
    return [
        sum(
            worth.get(term, 0.0) * amount / (saturation + amount)
            for term, amount in by_term.items()
        )
        for by_term in amounts
    ]


def _bonus(question: Question, located: Located, dotted: float) -> float:
    """Return the bonus of a definition that the question names, less the malus of its kind."""
    symbol = located.symbol
    asked = symbol.kind == SymbolKind.TEST and question.about_tests
    bonus = 0.0 if asked else -_LESS.get(symbol.kind, 0.0)
    if len(symbol.name) >= _SHORTEST_NAME and symbol.name in question.names:
        bonus += _EXACT
    outer = located.enclosing[-1].name if located.enclosing else ""
    if (outer, symbol.name) in question.pairs:
        bonus += dotted
    return bonus


def _holds(unit: Unit, other: Unit) -> bool:
    inner = other.located.qualified_name
    return unit.path == other.path and inner.startswith(f"{unit.located.qualified_name}.")
