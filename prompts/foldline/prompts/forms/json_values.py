"""Values as JSON, as models read and write it."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping

from foldline.prompts.specialise import is_model


def to_json(value: object) -> object:
    """Convert a value for a JSON encoder: dataclasses to objects, enums to their values.

    Sets are sorted, so that equal values give equal texts.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if is_model(type(value)):
        return getattr(value, "model_dump")(mode="json", by_alias=True)  # noqa: B009 - Not typed.
    if isinstance(value, enum.Enum):
        return to_json(value.value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, (set, frozenset)):
        # In an order that is the same in every process.
        return sorted(map(to_json, value), key=json_text)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if callable(isoformat) else str(value)


def encoded(value: object) -> str:
    """Return the JSON of any value, in one line.

    Raises:
        ValueError: A number is infinite or not a number.
    """
    return json.dumps(to_json(value), ensure_ascii=False, allow_nan=False)


def json_text(value: object) -> str:
    """Return JSON as models read and write it: a string as it is, anything else encoded."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
