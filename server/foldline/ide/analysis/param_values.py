"""Values of placeholders: bound, a section's default, or the field's own default."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, get_origin

from foldline.ide.analysis.values import (
    EMPTY_RECORD,
    UNKNOWN,
    Dataclass,
    InstanceValue,
    Items,
    Nothing,
    Plain,
    PromptValue,
    Record,
    SectionValue,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from foldline.ide.analysis.values import Field, TemplateValue, Value

_DEPTH = 32


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field's value as text; `text` is None if only running the code would tell."""

    text: str | None
    bound: bool = False


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
        for section in _walk(prompt.rows, prompt):
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

    def shown(self, section: SectionValue, name: str) -> FieldValue:
        """Return the text of a section's field, in its form."""
        params = section.params
        field = params.field(name) if isinstance(params, Dataclass) else None
        value, bound = self.argument(section, name)
        return FieldValue(None if field is None else text_of(field, value), bound)

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
        """Return a section's parameters, and True if they are bound.

        None for those made of the fields' defaults.
        """
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


def _walk(items: Items, template: TemplateValue, depth: int = 0) -> Iterator[SectionValue]:
    for item in items.items:
        section = item.value
        if isinstance(section, SectionValue) and depth < _DEPTH:
            if section.kind != "chapter":
                yield section
            if section.kind != "chapter" or (template.opens(section) and not section.gated):
                yield from _walk(section.children, template, depth + 1)


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


# Which class of collection it is isn't known, and so isn't its repr.


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
