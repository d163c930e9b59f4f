from foldline.backends.ranking.in_file import line_scores, with_matches

__all__ = [
    "line_scores",
    "with_matches",
]
__version__: str
