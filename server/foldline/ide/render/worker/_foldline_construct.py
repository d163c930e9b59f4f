"""Constructs params dataclasses from JSON and TOML values, or from their types alone."""

import collections.abc
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any

from _foldline_failures import RequestError
from foldline.prompts.fields import fields_of, plain

_ABSTRACT = (
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Iterable,
)
_DEEPEST = 8
"""The most levels of values that are made up: a type may hold itself."""


def construct(
    kind: type,
    values: Mapping[str, object],
    generated: list[str],
    where: str,
    source: str = "params",
) -> object:
    """Return an instance of the dataclass `kind` with `values`, which may have come as JSON.

    `kind` may have type arguments. Missing required fields are generated, and their paths appended
    to `generated`. `source` says in errors where the values come from.
    """
    values = convert_fields(kind, values, generated, where, source)
    for field in fields_of(kind):
        if field.name not in values and field.required:
            place = f"{where}.{field.name}"
            values[field.name] = _generate(field.hint, generated, place, source)
    base = typing.get_origin(kind) or kind
    try:
        made: object = base(**values)
    except (TypeError, ValueError) as error:
        raise RequestError("prompt", f"{source}: {base.__name__}: {error}") from error
    return made


def convert_fields(
    kind: type, values: Mapping[str, object], generated: list[str], where: str, source: str
) -> dict[str, object]:
    """Return the values converted to the types of the fields of the dataclass `kind`.

    Raises:
        RequestError: There is no such field, or a value doesn't fit.
    """
    hints = {field.name: field.hint for field in fields_of(kind)}
    names = list(hints)
    unknown = ", ".join(sorted(values.keys() - set(names)))
    if unknown:
        name = (typing.get_origin(kind) or kind).__name__
        message = f"{source}: {name} has no field {unknown}; it has {', '.join(names)}"
        raise RequestError("prompt", message, near=names)
    return {
        name: _convert(hints[name], value, generated, f"{where}.{name}", source)
        for name, value in values.items()
    }


def is_required(field: Field[Any]) -> bool:
    return field.init and field.default is MISSING and field.default_factory is MISSING


def init_values(instance: Any) -> dict[str, object]:
    return {field.name: getattr(instance, field.name) for field in fields(instance) if field.init}


def _convert(hint: Any, value: object, generated: list[str], where: str, source: str) -> object:
    """Convert `value` to the type `hint`, if JSON has no such type."""
    hint = plain(hint)
    kind = typing.get_origin(hint) or hint
    if kind in (typing.Union, UnionType):
        options = [option for option in typing.get_args(hint) if option is not NoneType]
        return value if value is None else _convert(options[0], value, generated, where, source)
    if isinstance(value, list) and kind in (tuple, set, frozenset, list, *_ABSTRACT):
        item = next(iter(typing.get_args(hint)), object)
        made = list if kind in _ABSTRACT else kind
        return made(_convert(item, element, generated, where, source) for element in value)
    if isinstance(value, Mapping) and is_dataclass(kind) and isinstance(kind, type):
        return construct(hint, value, generated, where, source)
    if isinstance(kind, type) and issubclass(kind, Enum) and not isinstance(value, kind):
        try:
            return kind(value)
        except ValueError as error:
            raise RequestError("prompt", f"{source}: {where}: {error}") from error
    return value


def _generate(hint: Any, generated: list[str], where: str, source: str) -> object:
    """Return a made-up value of the type `hint` that is recognizable as such."""
    hint = plain(hint)
    kind = typing.get_origin(hint) or hint
    generated.append(where)
    if kind in (typing.Union, UnionType):
        options = typing.get_args(hint)
        return None if NoneType in options else _generate(options[0], generated, where, source)
    if kind is typing.Literal:
        return typing.get_args(hint)[0]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if isinstance(kind, type) and is_dataclass(kind):
        return construct(hint, {}, generated, where, source)
    if kind in (list, tuple, *_ABSTRACT):
        made = tuple if kind is tuple else list
        item = plain(next(iter(typing.get_args(hint)), object))
        shown = is_dataclass(typing.get_origin(item) or item) and where.count(".") < _DEEPEST
        # One item of a list shows what the others would look like.
        return made([_generate(item, generated, f"{where}.0", source)] if shown else [])
    if kind in (str, object, Any):
        return f"\u2039{where.rpartition('.')[2]}\u203a"
    try:
        return kind()
    except Exception as error:
        raise RequestError(
            "prompt", f"{source}: {where} needs a value; none can be made up for {hint}"
        ) from error
