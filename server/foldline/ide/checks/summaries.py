"""Summaries that don't lead to what they fold: vague ones, swapped ones, and those that are alike.

A summary leads to its section by the words that both have, but for the common ones of English.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from functools import lru_cache
from math import log
from typing import NamedTuple, TypeVar

from foldline.backends.ranking.question import STOP_WORDS

PlaceT = TypeVar("PlaceT", bound=Hashable)

_FEWEST = 12
"""Words of a text that is long enough to judge its summary by."""
_CLEAR = 1.7
"""How much better a summary has to fit another section than its own."""
# Characters of scripts that don't separate words are words of their own.
_WORD = re.compile(r"[^\W_\u0e00-\U0010ffff]+|(?=[\u0e00-\U0010ffff])\w")
_VAGUE = (
    "above additional always available background below content contents detail detailed details "
    "document documentation everything explained explanation full general guide helpful important "
    "include included includes info information key know list need note notes overview part point "
    "read section sections show text topic useful"
)
_COMMON = STOP_WORDS | {*_VAGUE.split()}


class Fold(NamedTuple):
    """A folded section: its dotted key, its summary, and what the summary stands for."""

    key: str
    summary: str
    text: str


def unclear(folds: Mapping[PlaceT, Fold]) -> dict[PlaceT, str]:
    """Return what is wrong with the summaries that a model sees together, by their places."""
    words = {at: _words(f"{fold.key} {fold.text}") for at, fold in folds.items()}
    texts = {at: text for at, text in words.items() if len(text) >= _FEWEST}
    summaries = {at: _words(folds[at].summary) for at in texts}
    counts = Counter(word for text in texts.values() for word in text)
    wrong = dict[PlaceT, str]()
    for at, summary in summaries.items():
        # Rare words tell more.
        fits = {
            other: sum(log(1 + len(texts) / counts[word]) for word in summary & text)
            for other, text in texts.items()
        }
        best = max(fits, key=fits.__getitem__)
        same = [other for other in texts if summaries[other] == summary != set() and other != at]
        if same:
            fault = f"has the words of that of `{folds[same[0]].key}`"
        elif fits[best] > _CLEAR * fits[at]:
            fault = f"fits `{folds[best].key}` better"
        elif not fits[at]:
            fault = "shares no word of its own with the section"
        else:
            continue
        wrong[at] = f"The summary of `{folds[at].key}` {fault}: say what a model finds only there."
    return wrong


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    """Return the words of a text that aren't common ones; those that begin alike are one."""
    return frozenset(word[:5] for word in _WORD.findall(text.lower()) if word not in _COMMON)
