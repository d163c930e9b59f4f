"""Provisional."""

from typing import Final, NamedTuple


class AnswerSize(NamedTuple):
    """Bytes of an answer: the median, and what nine of ten answers don't exceed."""

    median: int
    ninetieth: int


CORPUS: Final = "x"
DATE: Final = "y"
SIZES: Final = {
    "get_tree": AnswerSize(1, 1),
    "search_for_files": AnswerSize(1, 1),
    "grep_in_files": AnswerSize(1, 1),
    "get_file_outline": AnswerSize(1, 1),
    "read_symbol": AnswerSize(1, 1),
    "find_references": AnswerSize(1, 1),
    "read_file": AnswerSize(1, 1),
    "generate_scoped_context": AnswerSize(1, 1),
}
