"""The parts of a rendered text: blocks, one per section, and messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.roles import Role
from foldline.prompts.visibility import SectionPath, SectionVisibility


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code points in `RenderedPrompt.text`."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Block:
    """One section's part of a rendered text, without its children.

    The segments of all blocks, joined in order, are the text. `span` includes the blank line that
    separates this block from the next. A disabled section has no segments and an empty span at
    the position where it would be.
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
    """The tool that the summary's suffix names; None unless summarized."""
    role: Role = Role.USER
    """The role of the message that shows the section."""

    @property
    def key(self) -> str:
        """The section's own key, the last of its path."""
        return self.path[-1]

    @property
    def dotted_key(self) -> str:
        """The path joined with dots, by which models and users name the section."""
        return ".".join(self.path)

    @property
    def text(self) -> str:
        """The block's own text, including the blank line that separates it from the next."""
        return "".join([segment.text for segment in self.segments])


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a rendered prompt: the sections of one role.

    The text lacks the blank line that separates it from the next message in `RenderedPrompt.text`.
    """

    role: Role
    text: str
    span: Span
    """Its range of `RenderedPrompt.text`, in code points."""
    blocks: range
    """The indices of its blocks in `RenderedPrompt.blocks`."""


def messages_of(text: str, blocks: Sequence[Block]) -> tuple[PromptMessage, ...]:
    """Return a rendered text as messages, one for each role that shows any text.

    A prompt that shows no text at all is one empty message of the user.
    """
    messages = []
    first = 0
    for end in range(1, len(blocks) + 1):
        if end < len(blocks) and blocks[end].role is blocks[first].role:
            continue
        shown = [block for block in blocks[first:end] if block.segments]
        if shown:
            stop = shown[-1].span.end
            last = shown[-1].segments[-1]
            if last.kind is SegmentKind.SEPARATOR:
                stop -= len(last.text)
            span = Span(shown[0].span.start, stop)
            messages.append(
                PromptMessage(
                    blocks[first].role, text[span.start : span.end], span, range(first, end)
                )
            )
        first = end
    if messages:
        return tuple(messages)
    return (PromptMessage(Role.USER, text, Span(0, len(text)), range(0)),)
