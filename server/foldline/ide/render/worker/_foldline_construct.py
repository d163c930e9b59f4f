"""Makes instances of parameter dataclasses from what JSON and TOML can say, or from their types."""

import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any

from _foldline_failures import RequestError


def make(
    kind: type, given: Mapping[str, object], generated: list[str], where: str, asked: str = "params"
) -> object:
    """An instance of the dataclass `kind` with the values `given`, which may have come as JSON.

    Required fields that nobody gave are generated, and named in `generated`. `asked` says in errors
    where the values come from.
    """
    hints = typing.get_type_hints(kind)
    values = converted(kind, given, generated, where, asked)
    for field in fields(kind):
        if field.name not in given and is_required(field):
            place = f"{where}.{field.name}"
            values[field.name] = _generated(hints[field.name], generated, place, asked)
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise RequestError("prompt", f"{asked}: {kind.__name__}: {error}") from error


def converted(
    kind: type, given: Mapping[str, object], generated: list[str], where: str, asked: str
) -> dict[str, object]:
    """Values for fields of the dataclass `kind`, in the form that the fields want.

    Raises:
        RequestError: There is no such field, or a value does not fit.
    """
    names = [field.name for field in fields(kind) if field.init]
    unknown = ", ".join(sorted(given.keys() - set(names)))
    if unknown:
        message = f"{asked}: {kind.__name__} has no field {unknown}; it has {', '.join(names)}"
        raise RequestError("prompt", message, near=names)
    hints = typing.get_type_hints(kind)
    return {
        name: _converted(hints[name], value, generated, f"{where}.{name}", asked)
        for name, value in given.items()
    }


def is_required(field: Field[Any]) -> bool:
    return field.init and field.default is MISSING and field.default_factory is MISSING


def init_values(instance: Any) -> dict[str, object]:
    return {field.name: getattr(instance, field.name) for field in fields(instance) if field.init}


def _converted(hint: Any, value: object, generated: list[str], where: str, asked: str) -> object:
    """`value` in the form that `hint` wants, where JSON has no such form."""
    kind = typing.get_origin(hint) or hint
    if kind in (typing.Union, UnionType):
        options = [option for option in typing.get_args(hint) if option is not NoneType]
        return value if value is None else _converted(options[0], value, generated, where, asked)
    if isinstance(value, list) and kind in (tuple, set, frozenset, list):
        item = next(iter(typing.get_args(hint)), object)
        return kind(_converted(item, element, generated, where, asked) for element in value)
    if isinstance(value, Mapping) and is_dataclass(kind) and isinstance(kind, type):
        return make(kind, value, generated, where, asked)
    if isinstance(kind, type) and issubclass(kind, Enum) and not isinstance(value, kind):
        try:
            return kind(value)
        except ValueError as error:
            raise RequestError("prompt", f"{asked}: {where}: {error}") from error
    return value


def _generated(hint: Any, generated: list[str], where: str, asked: str) -> object:
    """A value of the type `hint` that shows by its look what it stands for."""
    kind = typing.get_origin(hint) or hint
    generated.append(where)
    if kind in (typing.Union, UnionType):
        options = typing.get_args(hint)
        return None if NoneType in options else _generated(options[0], generated, where, asked)
    if kind is typing.Literal:
        return typing.get_args(hint)[0]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if isinstance(kind, type) and is_dataclass(kind):
        return make(kind, {}, generated, where, asked)
    if kind in (str, object, Any):
        return f"\u2039{where.rpartition('.')[2]}\u203a"
    try:
        return kind()
    except Exception as error:
        raise RequestError(
            "prompt", f"{asked}: {where} needs a value; none can be made up for {hint}"
        ) from error
