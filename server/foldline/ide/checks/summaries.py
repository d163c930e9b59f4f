"""Summaries that don't lead to what they fold: vague ones, swapped ones, and those that are alike.

A summary leads to its section by the words that both have, but for the common ones of English: in
other languages, fewer faults are found. One in quite other words than the section's is reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from foldline.backends.ranking.question import STOP_WORDS

_FEWEST = 12
"""Words of a text that is long enough to judge its summary by."""
_CLEAR = 1.4
"""How much better two summaries have to fit when they are swapped."""
# Characters of scripts that don't separate words are words of their own.
_WORD = re.compile(r"[^\W_\u0e00-\U0010ffff]+|(?=[\u0e00-\U0010ffff])\w")
_SUFFIX = re.compile(r"(?<=...)(ations?|ing(s|ly)?|ed(ly)?|ies|es|s|ly|er|e|y)$")
_VAGUE = (
    "above additional always available background below content contents detail detailed details "
    "document documentation everything explained explanation full general guide helpful important "
    "include included includes info information key know list need note notes overview part point "
    "read section sections show text topic useful"
)
_COMMON = STOP_WORDS | {*_VAGUE.split()}


class Fold(NamedTuple):
    """A folded section: its path, its summary, and what the summary stands for."""

    path: tuple[str, ...]
    summary: str
    text: str


def unclear(folds: Sequence[Fold]) -> dict[int, str]:
    """Return what is wrong with the summaries that a model sees together, by their indexes."""
    texts = [_words(f"{fold.path[-1]} {fold.text}") for fold in folds]
    summaries = {
        at: _words(fold.summary) for at, fold in enumerate(folds) if len(texts[at]) >= _FEWEST
    }
    having: dict[str, list[int]] = {}
    for at in summaries:
        for word in texts[at]:
            having.setdefault(word, []).append(at)
    fits: Counter[tuple[int, int]] = Counter()
    for at, words in summaries.items():
        for word in words & having.keys():
            # Rare words tell more; in thousandths.
            weight = int(1_000 * log(1 + len(summaries) / len(having[word])))
            fits.update(dict.fromkeys(((at, other) for other in having[word]), weight))
    names = ["`" + ".".join(fold.path) + "`" for fold in folds]
    wrong = {
        at: f"The summary of {names[at]} shares no word of its own with the section: say what is "
        "there, so that a model knows when to read it."
        for at in summaries
        if not fits[at, at]
    }
    first: dict[frozenset[str], int] = {}
    alike = {(first.setdefault(words, at), at) for at, words in summaries.items() if words}
    for one, other in sorted(alike | {(min(pair), max(pair)) for pair in fits}):
        if one != other and summaries[one] == summaries[other]:
            both = "can't be told apart: say in each what only that section has"
        elif fits[one, other] + fits[other, one] > _CLEAR * (fits[one, one] + fits[other, other]):
            both = "fit each other's section better: they may be swapped"
        else:
            continue
        message = f"The summaries of {names[one]} and {names[other]} {both}."
        wrong |= dict.fromkeys((one, other), message)
    return wrong


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    """Return the words of a text that aren't common ones, without their endings."""
    words = (word for word in _WORD.findall(text.lower()) if word not in _COMMON)
    return frozenset(
        _SUFFIX.sub("", word)[:6] for word in words if len(word) > 1 or not "a" <= word <= "z"
    )
