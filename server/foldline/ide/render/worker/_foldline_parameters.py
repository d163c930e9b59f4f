"""Describes a prompt's parameters and their values, for a form."""

import inspect
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field
from enum import Enum
from json import dumps
from typing import Any

from _foldline_construct import init_values
from _foldline_slots import Slot
from _foldline_values import Values
from foldline.prompts.forms.fields import declared_fields, fields_of, is_required, plain
from foldline.prompts.specialise import dataclass_of

MAX_SHOWN = 200
MAX_VALUE = 4000


class NotJsonError(Exception):
    """JSON can't represent the value, so that no form can edit it."""


def describe(values: Values) -> list[dict[str, object]]:
    """Describe each dataclass and its fields: type, default, value and origin."""
    return [_describe(slot, values) for slot in values.slots]


def _describe(slot: Slot, values: Values) -> dict[str, object]:
    kind = slot.kind
    hints = {field.name: plain(field.hint) for field in fields_of(kind)}
    instance = values.shown.get(slot)
    if instance is None:
        try:
            instance = kind()
        except Exception:
            # Its defaults don't go together; the render reports that at the section.
            instance = None
    return {
        "type": kind.__name__,
        "section": slot.section,
        "doc": _doc(kind),
        "fields": [
            {
                "name": field.name,
                "type": _type_text(hints[field.name]),
                "doc": str(field.metadata.get("description") or ""),
                "required": is_required(field),
                "default": _repr(_default(field)),
                "choices": _choices(hints[field.name]),
                **_value(MISSING if instance is None else getattr(instance, field.name, MISSING)),
                "origin": values.origins.get(slot, {}).get(field.name),
            }
            for field in declared_fields(kind)
            if field.init
        ],
    }


def _doc(kind: type) -> str:
    doc = inspect.cleandoc(kind.__doc__ or "")
    # A dataclass without a docstring gets its signature for one.
    return "" if doc.startswith(f"{kind.__name__}(") else doc


def _type_text(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def _default(field: Field[Any]) -> object:
    if field.default is not MISSING:
        return field.default
    try:
        return MISSING if field.default_factory is MISSING else field.default_factory()
    except Exception:
        return MISSING  # The render reports it where it is used.


def _choices(hint: Any) -> list[object] | None:
    if typing.get_origin(hint) is typing.Literal:
        return list(typing.get_args(hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return [member.value for member in hint if isinstance(member.value, (str, int, float))]
    return [False, True] if hint is bool else None


def _value(value: object) -> dict[str, object]:
    """Describe the value: as JSON for a form to edit, and as a line of text."""
    if value is MISSING:
        return {"value": None, "editable": True, "shown": None}
    try:
        plain = as_json(value)
        editable = len(dumps(plain)) <= MAX_VALUE
    except NotJsonError:
        editable = False
    return {"value": plain if editable else None, "editable": editable, "shown": _repr(value)}


def _repr(value: object) -> str | None:
    if value is MISSING:
        return None
    try:
        shown = repr(value)
    except Exception as error:
        shown = f"<repr raised {type(error).__name__}>"
    return shown if len(shown) <= MAX_SHOWN else f"{shown[: MAX_SHOWN - 1]}…"


def as_json(value: object) -> object:
    """Return the value as JSON, as `prompt.setParams` accepts it.

    Raises:
        NotJsonError: JSON can't represent it.
    """
    if isinstance(value, Enum):
        return as_json(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if dataclass_of(type(value)):
        return {name: as_json(inner) for name, inner in init_values(value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: as_json(item) for key, item in value.items()}
    raise NotJsonError(type(value).__name__)
