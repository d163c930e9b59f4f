"""Formatters of headings: from a section's position to a line of Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's position in its template; `depth` is 0 for root sections."""

    number: str
    title: str
    depth: int
    path: tuple[str, ...]

    @property
    def marks(self) -> str:
        """The number signs for this depth: `##` for root sections."""
        return "#" * (self.depth + 2)


HeadingFormatter: TypeAlias = Callable[[Heading], str]
"""Returns the heading line; an empty string omits the heading."""


def dotted_heading(heading: Heading) -> str:
    """The default form: `## 1. Title`, `### 1.1. Subtitle`."""
    return f"{heading.marks} {heading.number}. {heading.title}"


def undotted_heading(heading: Heading) -> str:
    """The older form: `## 1 Title`, `### 1.1 Subtitle`."""
    return f"{heading.marks} {heading.number} {heading.title}"
