"""The order of the best files by learned weights.

`tests/benchmarks/train_ranking.py` learns them from the histories of public projects, and writes
`learned.json`: for each feature what one unit of it adds.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.backends.ranking.features import FEATURES, features

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from foldline.backends.ranking.score import Scores

CANDIDATES = 50
"""The files, best first, that are put into a new order; the others stay behind them."""
FILE = Path(__file__).with_name("learned.json")


@cache
def learned_weights() -> Mapping[str, float]:
    """The weights by the names of their features."""
    weights: dict[str, float] = json.loads(FILE.read_bytes())["weights"]
    return weights


_TERMS = {
    "score": "score",
    "first": "score",
    "rank": "score",
    "path": "path",
    "path coverage": "path",
    "title names it": "path",
    "defines": "defines",
    "symbol": "defines",
    "defined coverage": "defines",
    "named": "named",
    "minor": "test or document",
    "length": "size",
    "names": "size",
    "depth": "place",
    "folder's own": "place",
    "imported": "imported by the best",
    "beside the best": "folder",
    "folder": "folder",
}
"""The names of features in explanations; all others are about words."""


def reordered(
    scores: Scores, order: list[int], imported: Collection[int]
) -> tuple[list[int], dict[int, dict[str, float]]]:
    """The order with its first files by learned weights, and what each of these is worth by terms.

    The term `score` is the part of the hand-set score.
    """
    weights = [learned_weights().get(name, 0.0) for name in FEATURES]
    head = order[:CANDIDATES]
    terms: dict[int, dict[str, float]] = {}
    for number, row in zip(head, features(scores, head, imported), strict=True):
        own = terms.setdefault(number, {})
        for name, weight, value in zip(FEATURES, weights, row, strict=True):
            term = _TERMS.get(name, "words")
            own[term] = own.get(term, 0.0) + weight * value
    worth = {number: sum(own.values()) for number, own in terms.items()}
    # Equal ones stay as they are.
    return [*sorted(head, key=lambda number: -worth[number]), *order[CANDIDATES:]], terms
