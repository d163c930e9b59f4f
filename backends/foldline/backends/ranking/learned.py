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

from foldline.backends.ranking.paths import stem_of, terms_of_path
from foldline.backends.ranking.question import all_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from foldline.backends.ranking.score import Scores

CANDIDATES = 50
"""The files, best first, that are put into a new order; the others stay behind them."""
FEATURES = (
    "score",
    "first",
    "rank",
    "words",
    "defines",
    "path",
    "symbol",
    "named",
    "title",
    "coverage",
    "defined coverage",
    "path coverage",
    "one word",
    "minor",
    "length",
    "names",
    "depth",
    "folder's own",
    "title names it",
    "imported",
    "beside the best",
    "folder",
    "long question",
)
"""The features of a candidate, numbers between 0 and about 1, by their names."""
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


def features(
    scores: Scores, numbers: Sequence[int], imported: Collection[int]
) -> list[list[float]]:
    """The features of the best files, in their order.

    `imported` has the files that the first ones import.
    """
    question, best = scores.question, scores.best or 1.0
    shares = scores.shares(numbers)
    mass: dict[str, float] = {}
    weight_of: dict[str, float] = {}
    for term, idf in scores.idf.items():
        word = question.words.get(term, term)
        weight_of[word] = weight_of.get(word, 0.0) + question.terms[term] * idf
    question_weight = sum(weight_of.values()) or 1.0
    title = {term for word in question.in_title for term in all_terms(word)}
    values = [scores.values[number] for number in numbers]
    total = sum(values) or 1.0
    folders = [scores.paths[number].rpartition("/")[0] for number in numbers]
    for folder, value in zip(folders, values, strict=True):
        mass[folder] = mass.get(folder, 0.0) + value / total
    rows = []
    for index, (number, folder) in enumerate(zip(numbers, folders, strict=True)):
        kinds = shares[number]
        path = scores.paths[number]
        by_word: dict[str, float] = {}
        for words in kinds.values():
            for word, score in words.items():
                by_word[word] = by_word.get(word, 0.0) + score
        total_weight = sum(by_word.values()) or 1.0
        bonus = {"defines": 0.0, "named": 0.0, "path": 0.0}
        for part in scores.bonuses.get(number, ()):
            bonus[part.kind] += part.score
        stem = terms_of_path(stem_of(path))
        rows.append(
            [
                scores.values[number] / best,
                float(index == 0),
                1 / (1 + index),
                *(
                    sum(kinds.get(kind, {}).values()) / best
                    for kind in ("words", "defines", "path")
                ),
                bonus["defines"] / best,
                bonus["named"] / best,
                sum(score for word, score in by_word.items() if word in question.in_title)
                / total_weight,
                sum(weight_of[word] for word in by_word) / question_weight,
                sum(weight_of[word] for word in kinds.get("defines", ())) / question_weight,
                sum(weight_of[word] for word in kinds.get("path", ())) / question_weight,
                max(by_word.values(), default=0.0) / total_weight,
                float(scores.facts.minor[number]),
                math.log1p(scores.length(number)) / 10,
                math.log1p(scores.defined(number)) / 8,
                path.count("/") / 8,
                float(stem_of(path) != path.rpartition("/")[2].partition(".")[0]),
                float(bool(stem) and title.issuperset(stem)),
                float(number in imported),
                float(folder == folders[0]),
                mass[folder],
                min(len(question.terms) / 200, 1.0),
            ]
        )
    return rows
