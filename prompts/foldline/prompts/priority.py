"""Priorities: what goes first where not everything has room."""

from __future__ import annotations

from enum import StrEnum


class Priority(StrEnum):
    """Priority of a tool result, or of a section that may not fit; `LOW` goes first."""

    HIGH = "high"
    """Navigation: searches and outlines tell a model where it has been."""
    MEDIUM = "medium"
    """Targeted reads, such as a symbol or references."""
    LOW = "low"
    """Whole files: the most bytes, and easily read again."""

    @property
    def rank(self) -> int:
        """Its place in the order of removal, from 0."""
        return (Priority.LOW, Priority.MEDIUM, Priority.HIGH).index(self)

    def __lt__(self, other: str) -> bool:
        return self.rank < Priority(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Priority(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Priority(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Priority(other).rank
