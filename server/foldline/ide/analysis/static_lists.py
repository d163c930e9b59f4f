"""Shows texts, values and lists from their source: the segments of a render, as far as known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Final, NoReturn, TypeAlias, get_origin

from foldline.ide.analysis.instances import sentence
from foldline.ide.analysis.params import EXAMPLE
from foldline.ide.analysis.placeholders import Placeholder, parts, shown
from foldline.ide.analysis.source_map import MappedText
from foldline.ide.analysis.values import (
    UNKNOWN,
    Dataclass,
    Field,
    InstanceValue,
    Items,
    Nothing,
    Plain,
    PromptValue,
    Record,
    SectionValue,
    TemplateValue,
    Text,
    Value,
    kept,
)
from foldline.prompts import Segment, SegmentKind
from foldline.prompts.forms.forms import indented
from foldline.prompts.forms.json_values import json_text, to_json
from foldline.prompts.sections.examples import REASONING, guarded, reasoning_block
from foldline.prompts.sections.listing import LEFT_OUT, NUMBER, TOTAL, Listing, item_field
from foldline.records import record


@dataclass(frozen=True, slots=True)
class StaticSegment(Segment):
    """A segment of text; if its value isn't known, `text` is the placeholder or the code."""

    known: bool = True
    indent: str | None = ""
    """The indentation of a placeholder's line; None if it isn't known."""


Part: TypeAlias = StaticSegment | Placeholder
"""A part of a section's text."""

Filled: TypeAlias = "Callable[[SectionValue, Part, Mapping[str, StaticSegment]], Segment]"
"""Fills a placeholder of a section's parameters."""


def value_segment(
    kind: SegmentKind, value: str | None, field: str, written: str, indent: str | None
) -> StaticSegment:
    """Return the segment of a field's value, which is None if it isn't known.

    The placeholder, as `written`, shows in its place; the indentation of its line may be unknown.
    """
    if value is None:
        return StaticSegment(kind, written, field, known=False, indent=indent)
    known = indent is not None or "\n" not in value
    return StaticSegment(kind, indented(value, indent or ""), field, known, indent)


def parts_of(section: SectionValue, role: str, text: MappedText) -> tuple[Part, ...]:
    """Return the literal segments and the placeholders that a section's `text` for a role shows."""
    return kept(section, f"{role} parts", partial(_parts_of, text=text))


def _parts_of(_: SectionValue, text: MappedText) -> tuple[Part, ...]:
    made = shown(text)
    return tuple(
        part if isinstance(part, Placeholder) else _literal(made.mapped, *part)
        for part in parts(made)
    )


def _literal(mapped: MappedText, start: int, end: int) -> StaticSegment:
    text = mapped.text[start:end].replace("$$", "$")
    return StaticSegment(SegmentKind.LITERAL, text, known=not mapped.dynamic_in(start, end))


MOST: Final = 2_000_000
"""The most characters that the lists of one render show; a few lines can describe more."""


class StaticLists:
    """The lists of one render."""

    def __init__(self, values: ParamValues) -> None:
        self._values = values
        self._left = MOST

    def body(self, section: SectionValue, filled: Filled) -> Sequence[Segment] | None:
        """Return the text of a list shown in full; None if code decides more of it than values.

        `filled` fills a placeholder of the section's parameters.
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
                _Item(section.item, item, index, where, kind, template.text).segments(parts)
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
            segments = chain.from_iterable(decisive)
            if any(isinstance(one, StaticSegment) and not one.known for one in segments):
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
            return sequence_of(value), "items", SegmentKind.LITERAL
        name = value.known
        if name is None:
            return None, "items", SegmentKind.PARAM
        held, bound = self._values.argument(section, name)
        kind = SegmentKind.PARAM if bound else SegmentKind.DEFAULT
        return () if isinstance(held, Nothing) else sequence_of(held), name, kind


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


def sequence_of(value: Value) -> Sequence[Value] | None:
    if not isinstance(value, Items) or not value.complete or any(i.maybe for i in value.items):
        return None
    return [item.value for item in value.items]


def _unknown(parts: Sequence[Part], where: str) -> list[Segment]:
    """Return the template as it is written, for a number of items that isn't known."""
    texts = (
        p.mapped.text[p.start : p.end] if isinstance(p, Placeholder) else p.text for p in parts
    )
    return [StaticSegment(SegmentKind.PARAM, "".join(texts), where, known=False)]


@record
class _Item:
    """One item of a list; the section's dataclass of an item has the forms of the fields."""

    declared: object
    value: Value
    index: int
    where: str
    kind: SegmentKind
    template: str

    def segments(self, parts: Sequence[Part]) -> list[Segment]:
        return [self._filled(part) if isinstance(part, Placeholder) else part for part in parts]

    def _filled(self, part: Placeholder) -> StaticSegment:
        name, written = part.name, part.mapped.text[part.start : part.end]
        if name == NUMBER:
            return StaticSegment(SegmentKind.DERIVED, str(self.index + 1), name)
        if name == REASONING and self._is_example:
            text = self._text("reasoning")
            shown = reasoning_block("${reasoning}" if text is None else text)
            return StaticSegment(SegmentKind.DERIVED, shown, name, known=text is not None)
        text = self._text(name)
        field = item_field(self.where, self.index, name)
        return value_segment(self.kind, text, field, written, part.indent)

    @property
    def _is_example(self) -> bool:
        value = self.value
        return isinstance(value, InstanceValue) and value.dataclass is EXAMPLE

    def _text(self, name: str) -> str | None:
        value = self.value
        if not isinstance(value, InstanceValue):
            return None
        if not self._is_example:
            declared = self.declared
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
        return None if text is None else guarded(text, self.template)


def _json_text(value: Value) -> str | None:
    """Return a value as examples show it; None if only running the code would tell."""
    try:
        return json_text(to_json(python_of(value)))
    except (NotKnownError, TypeError, ValueError):
        return None


_DEPTH = 32


class ParamValues:
    """The parameters that a prompt renders with, resolved as an executed render does."""

    def __init__(self, prompt: TemplateValue | PromptValue) -> None:
        values = [item.value for item in prompt.bound]
        self._own, self._key = prompt.section_params, ""
        self._bound = {
            value.dataclass.identity: value for value in values if isinstance(value, InstanceValue)
        }
        # A bound value that isn't a known instance may be of any type.
        self._all_known = all(isinstance(value, InstanceValue) for value in values)
        self._defaults: dict[object, Value] = {}
        for section in _sections_in(prompt.template.rows, prompt.template):
            default = _default_of(section)
            if default is not None and isinstance(section.params, Dataclass):
                self._defaults.setdefault(section.params.identity, default)

    def enter(self, key: str) -> None:
        """Answer for the section with this dotted key: a `SectionValue` can be in two places."""
        self._key = key

    @property
    def own_key(self) -> str | None:
        """The key of the section, if there are parameters for it alone."""
        return self._key if self._key in self._own.arguments else None

    def shown(self, section: SectionValue, name: str) -> tuple[str | None, bool]:
        """Return the text of a section's field in its form, and True if its value is bound.

        The text is None if only running the code would tell.
        """
        params = section.params
        field = params.field(name) if isinstance(params, Dataclass) else None
        value, bound = self.argument(section, name)
        return None if field is None else text_of(field, value), bound

    def argument(self, section: SectionValue, name: str) -> tuple[Value, bool]:
        """Return what a section's field holds, and True if it is bound."""
        params = section.params
        if not isinstance(params, Dataclass):
            return UNKNOWN, False
        instance, bound = self._instance(section, params)
        if isinstance(instance, InstanceValue):
            return argument_of(instance, params, name), bound
        return (_default_of_field(params, name) if instance is None else UNKNOWN), bound

    def _instance(self, section: SectionValue, params: Dataclass) -> tuple[Value | None, bool]:
        """Return a section's parameters, None for fields' defaults, and True if they are bound."""
        own = self._own.arguments.get(self._key)
        if own is not None:
            return own.value, True
        if not self._own.complete:
            return UNKNOWN, False
        instance = self._bound.get(params.identity)
        if instance is not None:
            return instance, True
        if not self._all_known or section.opaque:
            return UNKNOWN, False
        return _default_of(section) or self._defaults.get(params.identity), False


def _default_of(section: SectionValue) -> Value | None:
    argument = section.given("default_params")
    return None if argument is None else argument.value


def _sections_in(items: Items, template: TemplateValue, depth: int = 0) -> Iterator[SectionValue]:
    for item in items.items:
        section = item.value
        if isinstance(section, SectionValue) and depth < _DEPTH:
            if section.kind != "chapter":
                yield section
            if section.kind != "chapter" or (template.opens(section) and not section.gated):
                yield from _sections_in(section.children, template, depth + 1)


def argument_of(instance: InstanceValue, params: Dataclass, name: str) -> Value:
    """Return what a field of an instance holds."""
    argument = instance.arguments.get(name)
    if argument is None:
        return UNKNOWN if instance.opaque else _default_of_field(params, name)
    return UNKNOWN if params.computed else argument.value


def _default_of_field(params: Dataclass, name: str) -> Value:
    field = params.field(name)
    return UNKNOWN if field is None or params.computed else field.default_value


def text_of(field: Field, value: Value) -> str | None:
    """Return the text of a field's value in its form; None if only running the code would tell."""
    form = field.type.form
    if not field.type.known:
        return None
    if form is None:
        return str_of(value)
    try:
        return form.text(python_of(value))
    except Exception:
        return None  # It isn't known, or isn't what the type says: then the render fails, too.


def text_of_given(field: Field, value: object) -> str | None:
    """Return the text of a field for a value from JSON, in its form; None if the class decides."""
    form = field.type.form
    # A render converts other values to the field's type, such as to a set or a dataclass.
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if not field.type.known or not (isinstance(value, (str, int, float)) or is_list):
        return None
    if form is None:
        return None if is_list else str(value)
    origin = get_origin(form.hint) or form.hint
    if is_list and origin not in (tuple, list):
        return None
    try:
        return form.text(value)
    except Exception:
        return None  # It isn't what the type says: then the render fails, too.


def str_of(value: Value) -> str | None:
    """Return `str()` of a text, a number or None; None for anything else."""
    match value:
        case Text():
            return value.known
        case Plain():
            try:
                return str(value.value)
            except ValueError:
                return None  # It has more digits than Python writes.
        case Nothing():
            return "None"
    return None


# Values as Python objects


class NotKnownError(Exception):
    """Only running the code would tell."""


def _unclear(_: object) -> NoReturn:
    raise NotKnownError


# The class of the collection isn't known, so neither is its repr.


class _List(list[object]):
    __str__ = _unclear


class _Set(frozenset[object]):
    __str__ = _unclear


class _Dictionary(dict[str, object]):
    __str__ = _unclear


def python_of(value: Value, depth: int = 0) -> object:
    """Return the value as a form takes it: an instance as one of a stand-in for its class.

    Raises:
        NotKnownError: It isn't known.
    """
    if depth > _DEPTH:
        raise NotKnownError
    match value:
        case Text() if value.known is not None:
            return value.known
        case Plain():
            return value.value
        case Nothing():
            return None
        case Items() if value.is_set or (value.complete and not any(i.maybe for i in value.items)):
            items = [python_of(item.value, depth + 1) for item in value.items]
            return _Set(items) if value.is_set else _List(items)
        case Record(complete=True):
            named = value.arguments.items()
            return _Dictionary({key: python_of(one.value, depth + 1) for key, one in named})
        case InstanceValue(opaque=False) if _is_plain(value.dataclass):
            fields = value.dataclass.fields
            kind = _stand_in(value.dataclass.name, tuple(field.id for field in fields))
            values = (
                python_of(argument_of(value, value.dataclass, field.id), depth + 1)
                for field in fields
            )
            return kind(*values)
    raise NotKnownError


def _is_plain(info: Dataclass) -> bool:
    """Return True for a dataclass whose instances are what their arguments say."""
    return (
        info.is_dataclass is True
        and info.complete
        and not info.computed
        and all(field.init for field in info.fields)
    )


@lru_cache(maxsize=1024)
def _stand_in(name: str, fields: tuple[str, ...]) -> type:
    return make_dataclass(name, fields, namespace={"__str__": _unclear})
