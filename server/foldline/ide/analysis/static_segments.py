"""The segments of a text that is shown from its source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from foldline.ide.analysis.placeholders import Placeholder, shown
from foldline.ide.analysis.values import kept
from foldline.prompts import Segment, SegmentKind
from foldline.prompts.forms.forms import indented

if TYPE_CHECKING:
    from foldline.ide.analysis.source_map import MappedText
    from foldline.ide.analysis.values import SectionValue


@dataclass(frozen=True, slots=True)
class StaticSegment(Segment):
    """A stretch of text; if its value isn't known, `text` is the placeholder or the code."""

    known: bool = True
    indent: str | None = ""
    """Of a placeholder's line, for a value; None if it isn't known."""


Part: TypeAlias = StaticSegment | Placeholder
"""A part of a section's text."""


def value_segment(
    kind: SegmentKind, value: str | None, field: str, written: str, indent: str | None
) -> StaticSegment:
    """Return the segment of a field's value.

    Args:
        kind: The kind of the segment.
        value: The text; None if it isn't known.
        field: The field, for the segment.
        written: The placeholder, which shows in place of an unknown value.
        indent: The indentation of the placeholder's line; None if it isn't known.
    """
    if value is None:
        return StaticSegment(kind, written, field, known=False, indent=indent)
    known = indent is not None or "\n" not in value
    return StaticSegment(kind, indented(value, indent or ""), field, known, indent)


def parts_of(section: SectionValue, role: str, text: MappedText) -> tuple[Part, ...]:
    """Return the literal segments and the placeholders that a section's `text` for a role shows."""
    return kept(section, f"{role} parts", partial(_parts, text=text))


def _parts(_: SectionValue, text: MappedText) -> tuple[Part, ...]:
    mapped, found = shown(text).mapped, shown(text).placeholders
    parts: list[Part] = []
    at = 0
    for placeholder in found:
        if not placeholder.name:
            continue
        if placeholder.start > at:
            parts.append(_literal(mapped, at, placeholder.start))
        parts.append(placeholder)
        at = placeholder.end
    if at < len(mapped.text):
        parts.append(_literal(mapped, at, len(mapped.text)))
    return tuple(parts)


def _literal(mapped: MappedText, start: int, end: int) -> StaticSegment:
    text = mapped.text[start:end].replace("$$", "$")
    return StaticSegment(SegmentKind.LITERAL, text, known=not mapped.dynamic_in(start, end))
