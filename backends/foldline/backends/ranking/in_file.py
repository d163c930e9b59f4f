"""The definitions of a file, and the lines of a definition, that a question is about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from foldline.backends.models import FileOutline
from foldline.backends.ranking.question import all_terms, read_question
from foldline.backends.ranking.symbols import (
    DOTTED_IN_FILE,
    RankedUnit,
    rank_units,
    units_of,
    words_of,
)
from foldline.backends.ranking.weights import HAND_SET

LEAST = 0.45
"""Of the best definition's score: what has less isn't what a question is about."""


def rank_symbols(outline: FileOutline, lines: Sequence[str], query: str) -> list[RankedUnit]:
    """The definitions that have words of `query`, best first.

    Args:
        outline: The file's.
        lines: The file's text; without it, names alone count.
        query: Keywords, or a text of any length.
    """
    question = read_question(query, HAND_SET.title)
    if question is None:
        return []
    units = [*units_of(outline, lines)]
    return rank_units(question, units, dotted=DOTTED_IN_FILE)


def with_matches(outline: FileOutline, lines: Sequence[str], query: str) -> FileOutline:
    """The outline for a question: `matches` names the definitions that it is about."""
    ranked = rank_symbols(outline, lines, query)
    matches = tuple(unit.name for unit, score in ranked if score >= LEAST * ranked[0].score)
    return replace(outline, query=query, matches=matches)


def line_scores(lines: Sequence[str], query: str) -> list[float]:
    """Score each line of a definition for a question; 0 where it has none of its words."""
    question = read_question(query, HAND_SET.title)
    if question is None:
        return [0.0] * len(lines)
    scored = [
        {
            term
            for word in words_of(line)
            # Words beyond ASCII have no parts, and `a_x2` not the part `x2`.
            for part in {word, *word.split("_")}
            for term in all_terms(part)
        }
        & question.terms.keys()
        for line in lines
    ]
    having = Counter(term for terms in scored for term in terms)
    return [
        sum(question.terms[term] * math.log(1 + len(lines) / having[term]) for term in terms)
        for terms in scored
    ]
