"""Dataclasses from and to JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from cattrs import Converter
from cattrs.gen import make_dict_unstructure_fn, override

from foldline.backends.base.reading import read
from foldline.ide.errors import ArgumentsError

T = TypeVar("T")

_converter = Converter(prefer_attrib_converters=True)


def _dataclass_unstructure(kind: Any) -> Callable[[Any], dict[str, Any]]:
    overrides: dict[str, Any] = {
        one.name: override(
            rename=one.metadata.get("renamed"), omit_if_default=one.metadata.get("omitted")
        )
        for one in fields(kind)
        if one.metadata
    }
    return make_dict_unstructure_fn(kind, _converter, **overrides)


_converter.register_unstructure_hook_factory(is_dataclass, _dataclass_unstructure)


def structure(value: object, kind: type[T]) -> T:
    """Return parsed JSON as a `kind`.

    Raises:
        ArgumentsError: A field is missing, unknown or of the wrong type.
    """
    result, problems = read(value, kind)
    if result is None:
        raise ArgumentsError(problems)
    return result


def unstructure(value: object) -> object:
    """Convert a value made of dataclasses, enums and collections to JSON."""
    return _converter.unstructure(value)


def unstructured(model: object) -> dict[str, Any]:
    """The JSON object of a dataclass."""
    value = unstructure(model)
    assert isinstance(value, dict)
    return value
