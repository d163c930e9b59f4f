"""Values for a prompt's parameters: those given, those of the author, and else generated ones."""

import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any

from _foldline_failures import RequestError
from foldline.prompts import Prompt, Section


def values_for(
    prompt: Prompt[Any], params: Mapping[str, Mapping[str, object]]
) -> tuple[dict[type, object], list[str]]:
    """What to bind besides what the author has bound, by type, and which fields were generated.

    `params` are values for fields by dataclass name. A type that nothing is given for, and that can
    not be made without arguments, has its required fields generated, so that there is a preview.
    """
    given = dict(params)
    bound = {type(value): value for value in prompt.params}
    values: dict[type, object] = {}
    generated: list[str] = []
    sections = list(_walk(prompt.template.sections))
    defaults = {
        type(section.default_params): section.default_params
        for section in reversed(sections)
        if section.default_params is not None
    }
    known_values = {**defaults, **bound}
    for kind in dict.fromkeys(section.params_type for section in sections):
        if kind is None:
            continue
        fields_given = given.pop(kind.__name__, None)
        if fields_given is not None:
            base = _init_values(known_values[kind]) if kind in known_values else {}
            values[kind] = _make(kind, {**base, **fields_given}, generated, kind.__name__)
        elif kind not in known_values and any(map(_is_required, fields(kind))):
            values[kind] = _make(kind, {}, generated, kind.__name__)
    if given:
        known = sorted(
            {section.params_type.__name__ for section in sections if section.params_type}
        )
        raise RequestError(
            "prompt",
            f"params: the prompt has no parameters {', '.join(given)}; it has {', '.join(known)}",
            near=known,
        )
    return values, generated


def _walk(sections: Iterable[Section[object]]) -> Iterable[Section[object]]:
    for section in sections:
        yield section
        yield from _walk(section.children)


def _make(kind: type, given: Mapping[str, object], generated: list[str], where: str) -> object:
    """An instance of the dataclass `kind` with the values `given`, which may have come as JSON."""
    hints = typing.get_type_hints(kind)
    unknown = set(given) - {field.name for field in fields(kind)}
    if unknown:
        names = [field.name for field in fields(kind)]
        raise RequestError(
            "prompt",
            f"params: {kind.__name__} has no field {', '.join(sorted(unknown))}; it has "
            f"{', '.join(names)}",
            near=names,
        )
    values = {}
    for field in fields(kind):
        place = f"{where}.{field.name}"
        if field.name in given:
            values[field.name] = _converted(hints[field.name], given[field.name], generated, place)
        elif _is_required(field):
            values[field.name] = _generated(hints[field.name], generated, place)
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise RequestError("prompt", f"params: {kind.__name__}: {error}") from error


def _is_required(field: Field[Any]) -> bool:
    return field.init and field.default is MISSING and field.default_factory is MISSING


def _init_values(instance: Any) -> dict[str, object]:
    return {field.name: getattr(instance, field.name) for field in fields(instance) if field.init}


def _converted(hint: Any, value: object, generated: list[str], where: str) -> object:
    """`value` in the form that `hint` wants, where JSON has no such form."""
    kind = typing.get_origin(hint) or hint
    if kind in (typing.Union, UnionType):
        options = [option for option in typing.get_args(hint) if option is not NoneType]
        return value if value is None else _converted(options[0], value, generated, where)
    if isinstance(value, list) and kind in (tuple, set, frozenset):
        item = next(iter(typing.get_args(hint)), object)
        return kind(_converted(item, each, generated, where) for each in value)
    if isinstance(value, Mapping) and is_dataclass(kind) and isinstance(kind, type):
        return _make(kind, value, generated, where)
    if isinstance(kind, type) and issubclass(kind, Enum) and not isinstance(value, kind):
        try:
            return kind(value)
        except ValueError as error:
            raise RequestError("prompt", f"params: {where}: {error}") from error
    return value


def _generated(hint: Any, generated: list[str], where: str) -> object:
    """A value of the type `hint` that shows by its look what it stands for."""
    kind = typing.get_origin(hint) or hint
    generated.append(where)
    if kind in (typing.Union, UnionType):
        options = typing.get_args(hint)
        return None if NoneType in options else _generated(options[0], generated, where)
    if kind is typing.Literal:
        return typing.get_args(hint)[0]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if isinstance(kind, type) and is_dataclass(kind):
        return _make(kind, {}, generated, where)
    if kind in (str, object, Any):
        return f"\u2039{where.rpartition('.')[2]}\u203a"
    try:
        return kind()
    except Exception as error:
        raise RequestError(
            "prompt", f"params: {where} needs a value; none can be made up for {hint}"
        ) from error
