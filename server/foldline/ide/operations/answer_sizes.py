"""The sizes of the tools' answers under their default budgets.

Written by `python -m tests.benchmarks.measure_answers`; don't edit it.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class AnswerSize(NamedTuple):
    """Bytes of an answer: the median, and what nine of ten answers don't exceed."""

    median: int
    ninetieth: int


CORPUS: Final = "the package of Django 5.2"
DATE: Final = "2026-11-23"
SIZES: Final = {
    "get_tree": AnswerSize(545, 2_401),
    "search_for_files": AnswerSize(844, 1_044),
    "grep_in_files": AnswerSize(586, 2_444),
    "get_file_outline": AnswerSize(916, 1_494),
    "read_symbol": AnswerSize(402, 1_537),
    "find_references": AnswerSize(470, 2_481),
    "read_file": AnswerSize(4_075, 7_953),
    "generate_scoped_context": AnswerSize(10_890, 12_000),
}
