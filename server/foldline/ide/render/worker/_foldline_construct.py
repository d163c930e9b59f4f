"""Constructs params dataclasses from JSON and TOML values, or from their types alone."""

import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any

from _foldline_failures import RequestError


def construct(
    kind: type,
    values: Mapping[str, object],
    generated: list[str],
    where: str,
    source: str = "params",
) -> object:
    """Return an instance of the dataclass `kind` with `values`, which may have come as JSON.

    Missing required fields are generated, and their paths appended to `generated`. `source` says in
    errors where the values come from.
    """
    hints = typing.get_type_hints(kind)
    values = convert_fields(kind, values, generated, where, source)
    for field in fields(kind):
        if field.name not in values and is_required(field):
            place = f"{where}.{field.name}"
            values[field.name] = _generate(hints[field.name], generated, place, source)
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise RequestError("prompt", f"{source}: {kind.__name__}: {error}") from error


def convert_fields(
    kind: type, values: Mapping[str, object], generated: list[str], where: str, source: str
) -> dict[str, object]:
    """Return the values converted to the types of the fields of the dataclass `kind`.

    Raises:
        RequestError: There is no such field, or a value doesn't fit.
    """
    names = [field.name for field in fields(kind) if field.init]
    unknown = ", ".join(sorted(values.keys() - set(names)))
    if unknown:
        message = f"{source}: {kind.__name__} has no field {unknown}; it has {', '.join(names)}"
        raise RequestError("prompt", message, near=names)
    hints = typing.get_type_hints(kind)
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
    kind = typing.get_origin(hint) or hint
    if kind in (typing.Union, UnionType):
        options = [option for option in typing.get_args(hint) if option is not NoneType]
        return value if value is None else _convert(options[0], value, generated, where, source)
    if isinstance(value, list) and kind in (tuple, set, frozenset, list):
        item = next(iter(typing.get_args(hint)), object)
        return kind(_convert(item, element, generated, where, source) for element in value)
    if isinstance(value, Mapping) and is_dataclass(kind) and isinstance(kind, type):
        return construct(kind, value, generated, where, source)
    if isinstance(kind, type) and issubclass(kind, Enum) and not isinstance(value, kind):
        try:
            return kind(value)
        except ValueError as error:
            raise RequestError("prompt", f"{source}: {where}: {error}") from error
    return value


def _generate(hint: Any, generated: list[str], where: str, source: str) -> object:
    """Return a made-up value of the type `hint` that is recognizable as such."""
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
        return construct(kind, {}, generated, where, source)
    if kind in (str, object, Any):
        return f"\u2039{where.rpartition('.')[2]}\u203a"
    try:
        return kind()
    except Exception as error:
        raise RequestError(
            "prompt", f"{source}: {where} needs a value; none can be made up for {hint}"
        ) from error
