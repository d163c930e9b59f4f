"""Values of placeholders: bound, a section's default, or the field's own default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide.analysis.params import number_text
from foldline.ide.analysis.values import (
    EMPTY_RECORD,
    Dataclass,
    InstanceValue,
    Nothing,
    Plain,
    PromptValue,
    SectionValue,
    Text,
)
from foldline.ide.analysis.values import UNKNOWN as NOT_KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.values import Items, TemplateValue, Value

_DEPTH = 32


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field's value as text; `text` is None if only running the code would tell."""

    text: str | None
    bound: bool = False
    is_none: bool = False


UNKNOWN = FieldValue(None)


class ParamValues:
    """The parameters that a prompt renders with, resolved as an executed render does."""

    def __init__(self, prompt: TemplateValue | PromptValue) -> None:
        values: list[Value] = []
        self._own, self._key = EMPTY_RECORD, ""
        if isinstance(prompt, PromptValue):
            values = [item.value for item in prompt.bound]
            self._own = prompt.section_params
            prompt = prompt.template
        self._bound = {
            value.dataclass.identity: value for value in values if isinstance(value, InstanceValue)
        }
        # A bound value that isn't a known instance may be of any type.
        self._all_known = all(isinstance(value, InstanceValue) for value in values)
        self._defaults: dict[object, Value] = {}
        for section in _walk(prompt.rows):
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

    def value(self, section: SectionValue, name: str) -> FieldValue:
        """Return the value of a section's field."""
        params = section.params
        if not isinstance(params, Dataclass):
            return UNKNOWN
        instance, bound = self._instance(section, params)
        if isinstance(instance, InstanceValue):
            return field_value(instance, params, name, bound=bound)
        return _field_default(params, name) if instance is None else UNKNOWN

    def argument(self, section: SectionValue, name: str) -> tuple[Value, bool]:
        """Return what a section's field holds, and True if it is bound."""
        params = section.params
        if not isinstance(params, Dataclass):
            return NOT_KNOWN, False
        instance, bound = self._instance(section, params)
        if isinstance(instance, InstanceValue):
            return argument_of(instance, params, name), bound
        return (_default_of_field(params, name) if instance is None else NOT_KNOWN), bound

    def _instance(self, section: SectionValue, params: Dataclass) -> tuple[Value | None, bool]:
        """Return a section's parameters, and True if they are bound.

        None for those made of the fields' defaults.
        """
        own = self._own.arguments.get(self._key)
        if own is not None:
            return own.value, True
        if not self._own.complete:
            return NOT_KNOWN, False
        instance = self._bound.get(params.identity)
        if instance is not None:
            return instance, True
        if not self._all_known or section.opaque:
            return NOT_KNOWN, False
        return _default_of(section) or self._defaults.get(params.identity), False


def _default_of(section: SectionValue) -> Value | None:
    argument = section.arguments.get("default_params")
    return None if argument is None or isinstance(argument.value, Nothing) else argument.value


def _walk(items: Items, depth: int = 0) -> Iterator[SectionValue]:
    for item in items.items:
        section = item.value
        if isinstance(section, SectionValue) and section.kind != "chapter" and depth < _DEPTH:
            yield section
            yield from _walk(section.children, depth + 1)


def argument_of(instance: InstanceValue, params: Dataclass, name: str) -> Value:
    """Return what a field of an instance holds."""
    argument = instance.arguments.get(name)
    if argument is None:
        return NOT_KNOWN if instance.opaque else _default_of_field(params, name)
    return NOT_KNOWN if params.computed else argument.value


def _default_of_field(params: Dataclass, name: str) -> Value:
    field = params.field(name)
    return NOT_KNOWN if field is None or params.computed else field.default_value


def field_value(
    instance: InstanceValue, params: Dataclass, name: str, *, bound: bool = False
) -> FieldValue:
    """Return the text of a field of an instance."""
    argument = instance.arguments.get(name)
    if argument is None:
        if instance.opaque:
            return UNKNOWN
        found = _field_default(params, name)
        return FieldValue(found.text, bound, found.is_none)
    if params.computed:
        return UNKNOWN
    match argument.value:
        case Text() as text:
            return FieldValue(text.known, bound)
        case Plain() as plain:
            return FieldValue(number_text(plain.value), bound)
        case Nothing():
            return FieldValue("None", bound, is_none=True)
    return UNKNOWN


def _field_default(params: Dataclass, name: str) -> FieldValue:
    field = params.field(name)
    if field is None or params.computed:
        return UNKNOWN
    is_none = field.default_text is not None and field.default == "None"
    return FieldValue(field.default_text, is_none=is_none)
