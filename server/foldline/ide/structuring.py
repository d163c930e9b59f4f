"""Strict conversion of dataclasses from and to JSON; errors name every problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

from cattrs import BaseValidationError, Converter, ForbiddenExtraKeysError, transform_error
from cattrs.errors import IterableValidationError, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from foldline.ide.errors import ArgumentsError

if TYPE_CHECKING:
    from cattrs.types import SimpleStructureHook

T = TypeVar("T")

_converter = Converter(forbid_extra_keys=True, prefer_attrib_converters=True)


def _structure_exactly(value: object, kind: type[T]) -> T:
    """Return `value` if it is a `kind`: nothing is coerced, and `True` isn't a number."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def _structure_number(value: object, _: type[float]) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"expected a number, got {type(value).__name__}")
    return float(value)


def _structure_choice(value: object, kind: type[StrEnum]) -> StrEnum:
    if not isinstance(value, str) or value not in list(kind):
        raise ValueError(f"expected one of {', '.join(kind)}, got {value!r}")
    return kind(value)


def _structure_array(value: object, kind: type[tuple[T, ...]]) -> tuple[T, ...]:
    """Convert the items of a JSON array; a string isn't an array of characters."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"expected an array, got {type(value).__name__}")
    item = get_args(kind)[0]
    items: list[T] = []
    errors: list[Exception] = []
    for index, element in enumerate(value):
        try:
            items.append(_converter.structure(element, item))
        except (ValueError, TypeError, BaseValidationError) as error:
            error.add_note(IterableValidationNote("", index, item))
            errors.append(error)
    if errors:
        raise IterableValidationError("", errors, kind)
    return tuple(items)


def _is_array(kind: Any) -> bool:
    return get_origin(kind) is tuple and get_args(kind)[1:] == (...,)


OMITTED = {"omitted": True}
"""Metadata of a dataclass field that JSON lacks where it has its default."""


def renamed(name: str) -> dict[str, str]:
    """Metadata of a dataclass field that JSON has under another name."""
    return {"renamed": name}


def _overrides(kind: type) -> dict[str, Any]:
    return {
        one.name: override(
            rename=one.metadata.get("renamed"), omit_if_default=one.metadata.get("omitted")
        )
        for one in fields(kind)
        if one.metadata
    }


def _dataclass_structure(kind: type[T]) -> SimpleStructureHook[Mapping[str, Any], T]:
    return make_dict_structure_fn(kind, _converter, **_overrides(kind))


def _dataclass_unstructure(kind: type[T]) -> Callable[[T], dict[str, Any]]:
    return make_dict_unstructure_fn(kind, _converter, **_overrides(kind))


_converter.register_structure_hook_factory(is_dataclass, _dataclass_structure)
_converter.register_unstructure_hook_factory(is_dataclass, _dataclass_unstructure)
for _kind in (str, int, bool):
    _converter.register_structure_hook(_kind, _structure_exactly)
_converter.register_structure_hook(float, _structure_number)
_converter.register_structure_hook(StrEnum, _structure_choice)
_converter.register_structure_hook_func(_is_array, _structure_array)


def structure(value: object, kind: type[T]) -> T:
    """Convert parsed JSON to the dataclass `kind`.

    Raises:
        ArgumentsError: A field is missing, unknown or of the wrong type.
    """
    if not isinstance(value, Mapping):
        raise ArgumentsError({"": f"expected one JSON object, got {type(value).__name__}"})
    try:
        return _converter.structure(value, kind)
    except BaseValidationError as error:
        problems = transform_error(error, path="", format_exception=_problem)
        found = [problem.partition(" @ ") for problem in problems]
        raise ArgumentsError(
            {path.lstrip(".") or _quoted(what): what for what, _, path in found}
        ) from error


def _quoted(what: str) -> str:
    """Return the first quoted name in a problem about a whole object, else an empty text."""
    return "".join(what.split("'")[1:2])


def _problem(error: BaseException, _: type | None) -> str:
    """Describe what is wrong with one value, in terms of the JSON."""
    if isinstance(error, ForbiddenExtraKeysError):
        unknown = ", ".join(map(repr, sorted(error.extra_fields)))
        return f"unknown {unknown}; known are {', '.join(field.name for field in fields(error.cl))}"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    if isinstance(error, AttributeError):
        # The converter asks what should be an object for its items.
        return f"expected an object, got {type(error.obj).__name__}"
    return str(error)


def unstructure(value: object) -> object:
    """Convert a value made of dataclasses, enums and collections to JSON."""
    return _converter.unstructure(value)


def unstructured(model: object) -> dict[str, Any]:
    """The JSON object of a dataclass."""
    value = unstructure(model)
    assert isinstance(value, dict)
    return value
