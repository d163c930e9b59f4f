"""Shows texts and lists from their source: the segments and items of a render, as far as known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from foldline.ide.analysis.built_in import sentence
from foldline.ide.analysis.param_values import NotKnownError, argument_of, python_of, text_of
from foldline.ide.analysis.params import EXAMPLE
from foldline.ide.analysis.placeholders import Placeholder, shown
from foldline.ide.analysis.values import (
    UNKNOWN,
    Dataclass,
    InstanceValue,
    Items,
    Nothing,
    Plain,
    SectionValue,
    Text,
    Value,
    kept,
)
from foldline.prompts import Segment, SegmentKind
from foldline.prompts.forms.forms import indented
from foldline.prompts.sections.examples import REASONING, guarded, reasoning_block
from foldline.prompts.sections.listing import LEFT_OUT, NUMBER, TOTAL, Listing, item_field
from foldline.prompts.tool_calls import json_text, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foldline.ide.analysis.param_values import ParamValues
    from foldline.ide.analysis.source_map import MappedText


@dataclass(frozen=True, slots=True)
class StaticSegment(Segment):
    """A stretch of text; if its value isn't known, `text` is the placeholder or the code."""

    known: bool = True
    indent: str | None = ""
    """Of a placeholder's line, for a value; None if it isn't known."""


Part: TypeAlias = StaticSegment | Placeholder
"""A part of a section's text."""

Filled: TypeAlias = "Callable[[SectionValue, Part, Mapping[str, StaticSegment]], Segment]"
"""Fills a placeholder of a section's parameters."""


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
    return kept(section, f"{role} parts", partial(_parts_of, text=text))


def _parts_of(_: SectionValue, text: MappedText) -> tuple[Part, ...]:
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


MOST: Final = 2_000_000
"""The most characters that the lists of one render show; a few lines can describe more."""


class StaticLists:
    """The lists of one render.

    Args:
        values: The values of the parameters.
    """

    def __init__(self, values: ParamValues) -> None:
        self._values = values
        self._left = MOST

    def body(self, section: SectionValue, filled: Filled) -> Sequence[Segment] | None:
        """Return the text of a list shown in full; None if code decides more of it than values.

        Args:
            section: The section.
            filled: Fills a placeholder of the section's parameters.
        """
        listing, template = _listing(section), section.text("template")
        if listing is None or template is None:
            return None
        parts = parts_of(section, "template", template)
        items, where, kind = self._items(section)
        if items is None:
            return _unknown(parts, where)
        if not items:
            return _text(section, "empty", filled, {})
        shown: list[list[Segment]] = []
        for index, item in enumerate(items):
            shown.append(
                _Item(section.item, item, index, where, kind, template=template.text).segments(
                    parts
                )
            )
            self._left -= sum(len(segment.text) for segment in shown[-1]) + 1
            if self._left < 0:
                return _unknown(parts, where)
        note = _text(section, "more", filled, {LEFT_OUT: "", TOTAL: ""})
        if listing.max_items is None and listing.budget is None:
            note = []  # It isn't shown.
        if note is None:
            return None
        if listing.budget is not None:
            # The texts that decide how many items fit.
            decisive = (*shown[: listing.max_items], note)
            if not all(_known(segment) for item in decisive for segment in item):
                return _unknown(parts, where)

        def noted(left_out: int) -> Sequence[Segment]:
            counts = {LEFT_OUT: str(left_out), TOTAL: str(len(shown))}
            return _text(section, "more", filled, counts) or ()

        return listing.joined(shown, noted)

    def _items(self, section: SectionValue) -> tuple[Sequence[Value] | None, str, SegmentKind]:
        """Return the items (None if unknown), where they are, and the kind of their segments."""
        argument = section.arguments.get("items")
        value: Value = UNKNOWN if argument is None else argument.value
        if not isinstance(value, Text):
            return _sequence(value), "items", SegmentKind.LITERAL
        name = value.known
        if name is None:
            return None, "items", SegmentKind.PARAM
        held, bound = self._values.argument(section, name)
        kind = SegmentKind.PARAM if bound else SegmentKind.DEFAULT
        return () if isinstance(held, Nothing) else _sequence(held), name, kind


def _text(
    section: SectionValue, role: str, filled: Filled, counts: Mapping[str, str]
) -> list[Segment] | None:
    """Return the segments of a text around the items."""
    is_none = role in section.arguments and section.given(role) is None
    text = sentence(role) if is_none else section.text(role)
    if text is None:
        return None
    derived = {
        name: StaticSegment(SegmentKind.DERIVED, count, name) for name, count in counts.items()
    }
    return [filled(section, part, derived) for part in parts_of(section, role, text)]


def _listing(section: SectionValue) -> Listing | None:
    """Return how a section shows its list; None if code decides that."""
    separator = section.known("separator")
    limits = [_limit(section, name) for name in ("max_items", "budget")]
    if section.opaque or separator is None or _NO_LIMIT_KNOWN in limits:
        return None
    most, budget = limits
    if "count_tokens" in section.arguments and budget is not None:
        return None
    return Listing(separator, most, budget)


_NO_LIMIT_KNOWN = -1


def _limit(section: SectionValue, name: str) -> int | None:
    argument = section.given(name)
    if argument is None:
        return None
    value = argument.value.value if isinstance(argument.value, Plain) else None
    return value if type(value) is int and value > 0 else _NO_LIMIT_KNOWN


def _sequence(value: Value) -> Sequence[Value] | None:
    if not isinstance(value, Items) or not value.complete or any(i.maybe for i in value.items):
        return None
    return [item.value for item in value.items]


def _unknown(parts: Sequence[Part], where: str) -> list[Segment]:
    """Return the template as it is written, for a number of items that isn't known."""
    texts = (
        p.mapped.text[p.start : p.end] if isinstance(p, Placeholder) else p.text for p in parts
    )
    return [StaticSegment(SegmentKind.PARAM, "".join(texts), where, known=False)]


def _known(segment: Segment) -> bool:
    return not isinstance(segment, StaticSegment) or segment.known


class _Item:
    """One item of a list; the section's dataclass of an item has the forms of the fields."""

    def __init__(
        self,
        declared: object,
        value: Value,
        index: int,
        where: str,
        kind: SegmentKind,
        *,
        template: str,
    ) -> None:
        self._declared = declared
        self._value = value
        self._index = index
        self._where = where
        self._kind = kind
        self._template = template

    def segments(self, parts: Sequence[Part]) -> list[Segment]:
        return [self._filled(part) if isinstance(part, Placeholder) else part for part in parts]

    def _filled(self, part: Placeholder) -> StaticSegment:
        name, written = part.name, part.mapped.text[part.start : part.end]
        if name == NUMBER:
            return StaticSegment(SegmentKind.DERIVED, str(self._index + 1), name)
        if name == REASONING and self._is_example:
            text = self._text("reasoning")
            shown = reasoning_block("${reasoning}" if text is None else text)
            return StaticSegment(SegmentKind.DERIVED, shown, name, known=text is not None)
        text = self._text(name)
        field = item_field(self._where, self._index, name)
        return value_segment(self._kind, text, field, written, part.indent)

    @property
    def _is_example(self) -> bool:
        value = self._value
        return isinstance(value, InstanceValue) and value.dataclass is EXAMPLE

    def _text(self, name: str) -> str | None:
        value = self._value
        if not isinstance(value, InstanceValue):
            return None
        if not self._is_example:
            declared = self._declared
            field = declared.field(name) if isinstance(declared, Dataclass) else None
            held = argument_of(value, value.dataclass, name)
            return None if field is None else text_of(field, held)
        held = argument_of(value, EXAMPLE, name)
        if name != "reasoning":
            text = _json_text(held)
        elif isinstance(held, Nothing):
            text = ""
        else:
            text = held.known if isinstance(held, Text) else None
        return None if text is None else guarded(text, self._template)


def _json_text(value: Value) -> str | None:
    """Return a value as examples show it; None if only running the code would tell."""
    try:
        return json_text(to_json(python_of(value)))
    except (NotKnownError, TypeError, ValueError):
        return None
