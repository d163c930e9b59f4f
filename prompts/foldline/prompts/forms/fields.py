"""Fields of dataclasses with resolved types: generics, aliases, string annotations."""

from __future__ import annotations

import dataclasses
import operator
import types
import typing
from dataclasses import dataclass
from typing import Annotated, Any, NewType, TypeVar, Union, get_args, get_origin

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.specialise import dataclass_of, is_model, type_name


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field that a dataclass's constructor accepts."""

    name: str
    hint: object
    """The type, with type variables replaced by the dataclass's type arguments."""
    required: bool
    description: str | None
    keyword: str
    """The name for the constructor and in JSON, where a model has an alias for it."""


def declared_fields(kind: type) -> tuple[dataclasses.Field[Any], ...]:
    """Return the fields of a dataclass, and those of a model as a dataclass would have them."""
    if not is_model(kind):
        return dataclasses.fields(kind)
    return tuple(_of_model(name, info) for name, info in getattr(kind, "model_fields", {}).items())


def is_required(field: dataclasses.Field[Any]) -> bool:
    """Return True for a field that the constructor needs."""
    missing = dataclasses.MISSING
    return field.init and field.default is missing and field.default_factory is missing


def fields_of(kind: object) -> tuple[FieldInfo, ...]:
    """Return the fields of a dataclass, or of a generic one with its type arguments.

    Raises:
        PromptValidationError: An annotation can't be resolved.
    """
    base = dataclass_of(kind)
    if base is None:
        raise PromptValidationError(f"{type_name(kind)} is not a dataclass.")
    fields = declared_fields(base)
    hints = {field.name: field.type for field in fields}
    try:
        if not is_model(base):
            hints = typing.get_type_hints(base, localns={base.__name__: base}, include_extras=True)
    except NameError as error:
        raise PromptValidationError(
            f"{type_name(base)}: an annotation cannot be resolved ({error}); define what it names "
            "at the top of its module.",
            dataclass_type=base,
        ) from error
    bindings = type_arguments(kind)
    return tuple(
        FieldInfo(
            name=field.name,
            hint=bound(hints[field.name], bindings),
            required=is_required(field),
            description=field.metadata.get("description"),
            keyword=field.metadata.get("keyword", field.name) if is_model(base) else field.name,
        )
        for field in fields
        if field.init
    )


def plain(hint: object) -> object:
    """Return the type behind `Annotated`, `NewType` and type aliases."""
    while True:
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif isinstance(hint, NewType):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__  # type: ignore[attr-defined]  # New in Python 3.12.
        else:
            return hint


def union_members(hint: object) -> tuple[object, ...]:
    """Return the members of a union, nested aliases flattened; any other type alone."""
    hint = plain(hint)
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(m for member in get_args(hint) for m in union_members(member))
    return (hint,)


def is_optional(hint: object) -> bool:
    """Return True if the type includes None."""
    return any(member in (None, type(None)) for member in union_members(hint))


def type_arguments(kind: object) -> dict[object, object]:
    """Return the type arguments by type variable, for the dataclass and its generic bases."""
    base = get_origin(kind) or kind
    bindings: dict[object, object] = {}
    if get_origin(kind) is not None:
        bindings.update(zip(getattr(base, "__parameters__", ()), get_args(kind), strict=False))
    for ancestor in getattr(base, "__mro__", ()):
        for alias in ancestor.__dict__.get("__orig_bases__", ()):
            parameters = getattr(get_origin(alias), "__parameters__", ())
            for parameter, argument in zip(parameters, get_args(alias), strict=False):
                bindings.setdefault(parameter, bound(argument, bindings))
    return bindings


def _of_model(name: str, info: Any) -> dataclasses.Field[Any]:
    """Return a field of a Pydantic model, from its `FieldInfo`."""
    alias = info.validation_alias
    keyword = alias if isinstance(alias, str) else name
    required, factory = info.is_required(), info.default_factory
    field: dataclasses.Field[Any] = dataclasses.field(
        default=dataclasses.MISSING if required or factory else info.default,
        default_factory=factory or dataclasses.MISSING,
        metadata={"description": info.description, "keyword": keyword},
    )
    field.name = name
    # Pydantic takes the outermost `Annotated` apart.
    hint = info.annotation
    field.type = operator.getitem(Annotated, (hint, *info.metadata)) if info.metadata else hint
    return field


def bound(hint: object, bindings: dict[object, object]) -> object:
    """Return a type with type variables replaced by their arguments, or by `object`."""
    if isinstance(hint, TypeVar):
        argument = bindings.get(hint, hint)
        return object if isinstance(argument, TypeVar) else argument
    parameters = getattr(hint, "__parameters__", ())
    if parameters and not isinstance(hint, type):
        return hint[tuple(bound(p, bindings) for p in parameters)]  # type: ignore[index]
    return hint
