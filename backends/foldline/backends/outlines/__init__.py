"""Outlines in any language, from syntax trees, and the places of symbols."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "analysis": ("analysis_of",),
        "locations": ("Position",),
        "own_backend": ("OwnBackend",),
        "symbols": ("find_position", "first_column", "name_at"),
    },
)
