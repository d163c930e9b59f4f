"""The files that a question is about, best first: one ranking for every operation that searches."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "in_file": ("line_scores", "with_matches"),
    },
)
