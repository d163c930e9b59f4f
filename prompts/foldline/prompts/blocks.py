"""What a rendered text is made of: blocks, one per section, and their segments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.prompts.visibility import SectionPath, SectionVisibility

__all__ = ["Block", "Segment", "SegmentKind", "Span"]


class SegmentKind(StrEnum):
    """Where a stretch of rendered text comes from."""

    HEADING = "heading"
    LITERAL = "literal"
    """Text of the author's template."""
    PARAM = "param"
    """The value of a field of bound parameters."""
    DEFAULT = "default"
    """The value of a field of parameters that nobody bound."""
    DERIVED = "derived"
    """Text that the section computes, such as a task's background."""
    SUFFIX = "suffix"
    """The note below a summary that says how to open it."""
    ERROR = "error"
    """What a render's `on_error` says in place of a section that cannot be rendered."""
    SEPARATOR = "separator"
    """The blank line after a heading or a block."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text from one source; `field` names the placeholder that it replaces."""

    kind: SegmentKind
    text: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code points in `RenderedPrompt.text`."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Block:
    """What one section contributes to a rendered text, without its children.

    The segments of all blocks, joined in order, are the text. `span` includes the blank line that
    separates this block from the next. A disabled section has no segments and an empty span at
    the place where it would stand.
    """

    path: SectionPath
    number: str
    title: str
    depth: int
    visibility: SectionVisibility
    enabled: bool
    span: Span
    segments: tuple[Segment, ...]
    opened_by: str | None = None
    """The tool that the summary suffix names; None where nothing is summarized."""

    @property
    def key(self) -> str:
        """The section's own key, the last of its path."""
        return self.path[-1]

    @property
    def dotted_key(self) -> str:
        """The key by which a model and a user name the section: the path joined with dots."""
        return ".".join(self.path)

    @property
    def text(self) -> str:
        """The block's own text with the blank line that separates it from the next."""
        return "".join([segment.text for segment in self.segments])
