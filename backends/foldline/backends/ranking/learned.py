"""The order of the best files by learned weights.

`tests/benchmarks/train_ranking.py` learns them from the histories of public projects, and writes
`learned.json`: for each feature what one unit of it adds.
"""

from __future__ import annotations

import json
import math
from functools import cache
from operator import mul
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


def reordered(
    scores: Scores, order: list[int], imported: Collection[int]
) -> tuple[list[int], dict[int, float]]:
    """The order with its first files by learned weights, and their odds against the best."""
    weights = [learned_weights().get(name, 0.0) for name in FEATURES]
    head = order[:CANDIDATES]
    rows = features(scores, head, imported)
    worth = {number: sum(map(mul, weights, row)) for number, row in zip(head, rows, strict=True)}
    best = max(worth.values(), default=0.0)
    odds = {number: math.exp(one - best) for number, one in worth.items()}
    # Equal ones stay as they are.
    return [*sorted(head, key=lambda number: -worth[number]), *order[CANDIDATES:]], odds
