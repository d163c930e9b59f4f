"""The weights of the ranking's signals.

They were set by hand on the reports of `tests/benchmarks/bench_localise.py`, which prints what each
signal is worth with `--ablate`.
"""

from __future__ import annotations

from foldline.records import record


@record
class Weights:
    """The weight of each signal; 0 leaves it out.

    Attributes:
        body: The words of a file.
        defined: The names that it defines.
        path: The parts of its path.
        title: How much more the words of a question's first line count.
        saturation: From how many occurrences on, further ones count little (the k1 of BM25).
        body_length, defined_length, path_length: How far long documents are discounted, 0 to 1.
        discount: The factor for tests, documentation, vendored and generated files.
        symbol: A symbol of the question that few files define, as a part of the best score.
        place: A path or a dotted name in the question.
        imports: How many files that the best ones import are put behind the first ten.
        learned: Put the best files into the order of learned weights (`learned.py`).
    """

    body: float = 1.0
    defined: float = 3.0
    path: float = 3.0
    title: float = 1.0
    saturation: float = 1.5
    body_length: float = 0.75
    defined_length: float = 0.5
    path_length: float = 0.3
    discount: float = 0.4
    symbol: float = 0.2
    place: float = 0.2
    imports: int = 5
    learned: bool = True


HAND_SET = Weights()
