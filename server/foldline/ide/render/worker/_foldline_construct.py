"""Constructs params dataclasses from JSON and TOML values, or from their types alone."""

import collections.abc
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any

from _foldline_failures import RequestError
from foldline.prompts.forms.fields import declared_fields, fields_of, plain
from foldline.prompts.forms.values import Mismatch, abbreviated, convert
from foldline.prompts.output.schema import FORMATS
from foldline.prompts.specialise import dataclass_of, type_name

_ABSTRACT = (
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Iterable,
)
_DEEPEST = 8
"""The most levels of values that are made up: a type may hold itself."""


@dataclass(frozen=True)
class Place:
    """The path `where` a value goes, and its `source`, as errors name them.

    The paths of values that are made up are appended to `generated`.
    """

    generated: list[str]
    where: str
    source: str = "params"

    def inside(self, name: object) -> "Place":
        return Place(self.generated, f"{self.where}.{name}", self.source)


def construct(kind: type, values: Mapping[str, object], at: Place) -> object:
    """Return an instance of the dataclass `kind` with `values`, which fit its fields.

    `kind` may have type arguments. Missing required fields are generated.
    """
    values, keywords = dict(values), {}
    for field in fields_of(kind):
        keywords[field.name] = field.keyword
        if field.name not in values and field.required:
            values[field.name] = _generate(field.hint, at.inside(field.name))
    base = typing.get_origin(kind) or kind
    try:
        instance: object = base(
            **{keywords.get(name, name): value for name, value in values.items()}
        )
    except (TypeError, ValueError) as error:
        # The class's own sentence, as a person reads it beside the form.
        message = str(error)[:1].upper() + str(error)[1:]
        where = "" if at.source == "params" else f"{at.source}: "
        raise RequestError("prompt", f"{where}{message} ({base.__name__})") from error
    return instance


def convert_fields(kind: type, values: Mapping[str, object], at: Place) -> dict[str, object]:
    """Return the values converted to the types of the fields of the dataclass `kind`.

    Raises:
        RequestError: There is no such field, or a value doesn't fit.
    """
    hints = {field.name: field.hint for field in fields_of(kind)}
    names = list(hints)
    unknown = ", ".join(sorted(values.keys() - set(names)))
    if unknown:
        name = (typing.get_origin(kind) or kind).__name__
        message = f"{at.source}: {name} has no field {unknown}; it has {', '.join(names)}"
        raise RequestError("prompt", message, near=names)
    return {name: _convert(hints[name], value, at.inside(name)) for name, value in values.items()}


def init_values(instance: Any) -> dict[str, object]:
    fields = declared_fields(type(instance))
    return {field.name: getattr(instance, field.name) for field in fields if field.init}


def _convert(hint: Any, value: object, at: Place) -> object:
    """Convert `value`, which may have come as JSON, to the type `hint`.

    Values of types that JSON can't write stay as they are.

    Raises:
        RequestError: It doesn't fit.
    """
    hint = plain(hint)
    kind = typing.get_origin(hint) or hint
    if kind in (typing.Union, UnionType):
        return _convert_to_member(hint, value, at)
    if kind in (tuple, set, frozenset, list, *_ABSTRACT):
        return _convert_items(hint, kind, value, at)
    if kind in (dict, Mapping) and not isinstance(value, Mapping):
        raise _misfit(hint, value, "an object", at)
    if dataclass_of(kind):
        if not isinstance(value, Mapping):
            raise _misfit(hint, value, "an object of its fields", at)
        return construct(hint, convert_fields(hint, value, at), at)
    is_written = kind in (str, bool, int, float, typing.Literal) or (
        isinstance(kind, type)
        and (issubclass(kind, Enum) or (kind.__module__, kind.__qualname__) in FORMATS)
    )
    if not is_written or (isinstance(kind, type) and type(value) is kind):
        return value
    try:
        return convert(value, hint, allow_extra_keys=False)
    except Mismatch as error:
        raise _misfit(hint, value, "", at, error.message) from error


def _convert_to_member(hint: Any, value: object, at: Place) -> object:
    """Convert to the member of a union that has the value's type, else to the first that fits."""
    members = [plain(member) for member in typing.get_args(hint)]
    if type(value) in members:
        return value
    members = [member for member in members if member is not NoneType]
    if len(members) == 1:
        return _convert(members[0], value, at)
    for member in members:
        try:
            return _convert(member, value, at)
        except RequestError:
            continue
    raise _misfit(hint, value, "one of these", at)


def _convert_items(hint: Any, kind: Any, value: object, at: Place) -> object:
    """Convert an array; a tuple of several types takes one item of each."""
    container = list if kind in _ABSTRACT else kind
    if not isinstance(value, (list, container)):
        raise _misfit(hint, value, "an array", at)
    hints = typing.get_args(hint)
    if kind is tuple and hints and hints[-1] is not Ellipsis:
        if len(hints) != len(value):
            raise _misfit(hint, value, f"an array of {len(hints)} items", at)
    else:
        hints = (hints or (object,))[:1] * len(value)
    return container(
        [
            _convert(item, element, at.inside(index))
            for index, (item, element) in enumerate(zip(hints, value, strict=True))
        ]
    )


def _misfit(hint: Any, value: object, expected: str, at: Place, why: str = "") -> RequestError:
    """Return the error of a value that doesn't fit the field `where`."""
    why = why or f"expected {expected}, got {abbreviated(value)}"
    return RequestError("prompt", f"{at.source}: {at.where} takes `{type_name(hint)}`: {why}")


def _generate(hint: Any, at: Place) -> object:
    """Return a made-up value of the type `hint` that is recognizable as such."""
    hint = plain(hint)
    kind = typing.get_origin(hint) or hint
    at.generated.append(at.where)
    if kind in (typing.Union, UnionType):
        options = typing.get_args(hint)
        return None if NoneType in options else _generate(options[0], at)
    if kind is typing.Literal:
        return typing.get_args(hint)[0]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if dataclass_of(kind):
        return construct(hint, {}, at)
    if kind in (list, tuple, *_ABSTRACT):
        container = tuple if kind is tuple else list
        item = plain(next(iter(typing.get_args(hint)), object))
        shown = dataclass_of(item) and at.where.count(".") < _DEEPEST
        # One item of a list shows what the others would look like.
        return container([_generate(item, at.inside(0))] if shown else [])
    if kind in (str, object, Any):
        return f"\u2039{at.where.rpartition('.')[2]}\u203a"
    try:
        return kind()
    except Exception as error:
        message = f"{at.source}: {at.where} needs a value; none can be made up for {hint}"
        raise RequestError("prompt", message) from error
