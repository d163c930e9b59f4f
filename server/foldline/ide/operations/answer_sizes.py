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
DATE: Final = "2026-11-22"
SIZES: Final = {
    "get_tree": AnswerSize(545, 2_401),
    "search_for_files": AnswerSize(2_400, 2_467),
    "grep_in_files": AnswerSize(586, 2_444),
    "get_file_outline": AnswerSize(862, 1_426),
    "read_symbol": AnswerSize(400, 1_490),
    "find_references": AnswerSize(538, 2_337),
    "read_file": AnswerSize(4_075, 7_953),
    "generate_scoped_context": AnswerSize(10_985, 11_664),
}
