"""The definitions of a file that a question is about: BM25F over their names, heads and bodies.

What the question names itself, such as `Cart.total` or a function of a traceback, comes first.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.index.terms import terms_of
from foldline.backends.models import SymbolKind
from foldline.backends.ranking.question import read_question
from foldline.backends.ranking.weights import HAND_SET
from foldline.backends.symbols import distinct, flatten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foldline.backends.models import FileOutline
    from foldline.backends.ranking.question import Question
    from foldline.backends.symbols import Located

LEAST = 0.12
"""Of the best definition's score: what has less isn't what a question is about."""

_WORD = re.compile(r"\w+")
_NAME, _AROUND, _HEAD, _BODY = 4.0, 2.0, 1.0, 1.5
_LENGTH = 0.4
# A name that the question has as it is written, alone or with what encloses it, as parts of the
# best score.
_NAMED, _NAMED_IN_TITLE, _DOTTED = 0.3, 0.3, 1.0
_SHORTEST_NAME = 4
_CONTAINERS = frozenset(
    {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.NAMESPACE}
)


class SymbolMatch(NamedTuple):
    """A definition and how well it matches, in parts of the best one's score."""

    located: Located
    score: float


def rank_symbols(outline: FileOutline, lines: Sequence[str], query: str) -> list[SymbolMatch]:
    """The definitions that have words of `query`, best first.

    Args:
        outline: The file's.
        lines: The file's text; without it, names and signatures alone count.
        query: Keywords, or a text of any length.
    """
    question = read_question(query, HAND_SET.title)
    if question is None:
        return []
    every = list(flatten(outline.symbols))
    amounts = [_amounts(located, lines, question) for located in every]
    scores = _scores(amounts, question)
    best = max(scores, default=0.0) or 1.0
    scores = [
        score / best + _bonus(located, question)
        for located, score in zip(every, scores, strict=True)
    ]
    best = max(scores, default=0.0)
    found = [
        SymbolMatch(located, score / best)
        for located, score in zip(every, scores, strict=True)
        if score > 0
    ]
    return sorted(found, key=lambda match: -match.score)


def with_matches(outline: FileOutline, lines: Sequence[str], query: str) -> FileOutline:
    """The outline for a question: `matches` names the definitions that it is about."""
    names = {id(located.symbol): name for name, located in distinct(flatten(outline.symbols))}
    matches = rank_symbols(outline, lines, query)
    found = [names[id(match.located.symbol)] for match in matches if match.score >= LEAST]
    return replace(outline, query=query, matches=tuple(found))


def line_scores(lines: Sequence[str], query: str) -> list[float]:
    """How well each line of a definition matches a question; 0 where it has none of its words."""
    question = read_question(query, HAND_SET.title)
    if question is None:
        return [0.0] * len(lines)
    found = [
        {term for word in _WORD.findall(line) for term in terms_of(word)} & question.terms.keys()
        for line in lines
    ]
    having = Counter(term for terms in found for term in terms)
    return [
        sum(question.terms[term] * math.log(1 + len(lines) / having[term]) for term in terms)
        for terms in found
    ]


def _amounts(
    located: Located, lines: Sequence[str], question: Question
) -> tuple[dict[str, float], int]:
    """How much of each term of the question a definition has, and its number of terms."""
    symbol = located.symbol
    found: dict[str, float] = defaultdict(float)
    count = 0
    around = " ".join(outer.name for outer in located.enclosing)
    head = f"{symbol.signature} {' '.join(symbol.decorators)}"
    body = _own_text(located, lines)
    fields = ((_NAME, symbol.name), (_AROUND, around), (_HEAD, head), (_BODY, body))
    for weight, text in fields:
        for word, times in Counter(_WORD.findall(text)).items():
            terms = terms_of(word)
            count += times * (weight == _BODY)
            for term in terms:
                if term in question.terms:
                    found[term] += weight * times
    return found, count


def _own_text(located: Located, lines: Sequence[str]) -> str:
    """A definition's source; that of a class without its members'."""
    symbol = located.symbol
    if symbol.kind not in _CONTAINERS:
        return "\n".join(lines[symbol.line - 1 : symbol.line_end])
    kept: list[str] = []
    start = symbol.line - 1
    for child in symbol.children:
        kept += lines[start : child.line - 1]
        start = max(start, child.line_end)
    return "\n".join([*kept, *lines[start : symbol.line_end]])


def _scores(amounts: Sequence[tuple[dict[str, float], int]], question: Question) -> list[float]:
    having: Counter[str] = Counter()
    for found, _ in amounts:
        having.update(found.keys())
    every = len(amounts)
    mean = sum(count for _, count in amounts) / max(every, 1) or 1.0
    idf = {
        term: math.log(1 + (every - count + 0.5) / (count + 0.5)) for term, count in having.items()
    }
    saturation = HAND_SET.saturation
    return [
        sum(
            question.terms[term]
            * idf[term]
            * amount
            / (saturation * (1 - _LENGTH + _LENGTH * count / mean) + amount)
            for term, amount in found.items()
        )
        for found, count in amounts
    ]


def _bonus(located: Located, question: Question) -> float:
    """What it's worth that the question names the definition."""
    name = located.symbol.name
    bonus = 0.0
    if len(name) >= _SHORTEST_NAME and name in question.names:
        bonus += _NAMED + _NAMED_IN_TITLE * (name in question.in_title)
    path = tuple(located.qualified_name.split("."))
    if len(path) > 1 and _ends_with(question.dotted, path[-2:]):
        bonus += _DOTTED
    return bonus


def _ends_with(dotted: Iterable[tuple[str, ...]], path: tuple[str, ...]) -> bool:
    return any(
        parts[at : at + len(path)] == path
        for parts in dotted
        for at in range(len(parts) - len(path) + 1)
    )
