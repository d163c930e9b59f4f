"""How headings look: one function from a section's place to a line of Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Heading", "HeadingFormatter", "dotted_heading", "undotted_heading"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's place in its template; `depth` is 0 for root sections."""

    number: str
    title: str
    depth: int
    path: tuple[str, ...]

    @property
    def marks(self) -> str:
        """The number signs of this depth: `##` for root sections."""
        return "#" * (self.depth + 2)


HeadingFormatter: TypeAlias = Callable[[Heading], str]
"""Gives the heading line; an empty string leaves the heading out."""


def dotted_heading(heading: Heading) -> str:
    """The default form: `## 1. Title`, `### 1.1. Subtitle`."""
    return f"{heading.marks} {heading.number}. {heading.title}"


def undotted_heading(heading: Heading) -> str:
    """The older form: `## 1 Title`, `### 1.1 Subtitle`."""
    return f"{heading.marks} {heading.number} {heading.title}"
