"""The messages that a rendered prompt is sent as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.prompts.layout.blocks import SegmentKind, Span
from foldline.prompts.roles import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.prompts.layout.blocks import Block

__all__ = ["PromptMessage", "messages_of"]


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
