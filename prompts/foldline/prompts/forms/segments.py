"""Segments: pieces of rendered text, each from one source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SegmentKind(StrEnum):
    """The source of a piece of rendered text."""

    HEADING = "heading"
    LITERAL = "literal"
    """Literal text of the template."""
    PARAM = "param"
    """A field's value from bound parameters."""
    DEFAULT = "default"
    """A field's value from default parameters."""
    DERIVED = "derived"
    """Text that the section computes, such as a task's background."""
    SUFFIX = "suffix"
    """The note below a summary on how to open it."""
    ERROR = "error"
    """The text from `on_error` in place of a section that can't be rendered."""
    SEPARATOR = "separator"
    """The blank line after a heading or a block."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text from one source; `field` names the placeholder that it replaces."""

    kind: SegmentKind
    text: str
    field: str | None = None
