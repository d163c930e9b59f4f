"""JSON Schema from dataclasses, for structured output and tool parameters.

| Python                              | schema                                        |
|-------------------------------------|-----------------------------------------------|
| `str`, `bool`, `int`, `float`, None | `string`, `boolean`, `integer`, `number`, `null` |
| `Literal[…]`, an enum               | `enum` of the values                          |
| a union, `Optional[A]`              | `anyOf`                                       |
| `list[A]`, `tuple[A, …]`, sequences | `array` of `items`                            |
| `tuple[A, B]`                       | `array` of `prefixItems`, exactly as many     |
| `set[A]`, `frozenset[A]`            | `array` of unique `items`                     |
| `dict[str, A]`, mappings            | `object` with `additionalProperties`          |
| a dataclass                         | `object` with `properties`; `$ref` if it recurs |
| `datetime`, `date`, `UUID`          | `string` with a `format`                      |
| `Decimal`                           | `string`                                      |
| `object`, `Any`                     | anything                                      |
"""

from __future__ import annotations

import collections.abc
import enum
import re
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args, get_origin

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms.fields import fields_of, is_optional, plain, union_members
from foldline.prompts.output.structured_output import ARRAY_PROPERTY
from foldline.prompts.specialise import dataclass_of, is_model, type_name

__all__ = ["FORMATS", "MAPPINGS", "SETS", "JsonSchema", "StrictSchema", "schema_of"]

JsonSchema: TypeAlias = dict[str, object]
"""A JSON Schema (2020-12) as plain dictionaries and lists."""

ARRAYS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
SETS = (set, frozenset, collections.abc.Set)
MAPPINGS = (dict, collections.abc.Mapping)

# By name: these modules are slow to import, and most prompts don't need them.
FORMATS: dict[tuple[str, str], JsonSchema] = {
    ("datetime", "datetime"): {"type": "string", "format": "date-time"},
    ("datetime", "date"): {"type": "string", "format": "date"},
    ("uuid", "UUID"): {"type": "string", "format": "uuid"},
    ("decimal", "Decimal"): {"type": "string"},
}

_SHAPE = ("type", "items", "anyOf", "enum")
_RULE = re.compile(r"format|pattern|multipleOf|(min|max|exclusiveM)\w+")
"""Matches the keywords of a Pydantic field's constraints."""

_SCALARS: dict[object, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    None: "null",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class StrictSchema:
    """A schema for providers' strict modes, with an object at the root.

    Every property is required and nothing else is allowed; an array is wrapped in an object.
    """

    schema: JsonSchema
    wrapped_in: str | None
    """The property that holds the array; None for an object."""
    obstacles: tuple[str, ...]
    """Reasons why strict modes would refuse the schema; empty if they wouldn't."""

    @property
    def strict(self) -> bool:
        """True if providers' strict modes can enforce the schema."""
        return not self.obstacles


def schema_of(
    kind: object,
    *,
    allow_extra_keys: bool = False,
    descriptions: Mapping[str, str] | None = None,
) -> JsonSchema:
    """Return the schema of a type, with the fields' `description` metadata.

    >>> @dataclass
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> schema_of(Point)["required"]
    ['x']

    Args:
        kind: A dataclass, or any type in the table above.
        allow_extra_keys: Let objects have properties that the dataclass doesn't have.
        descriptions: Replacements for the descriptions of the root's fields.

    Raises:
        PromptValidationError: A field has a type that JSON can't express.
    """
    return _Writer(allow_extra_keys=allow_extra_keys, strict=False).document(
        kind, descriptions or {}
    )


def strict_schema_of(kind: object, *, array: bool, allow_extra_keys: bool) -> StrictSchema:
    """Return the schema of a dataclass, or of an array of it, for providers' strict modes."""
    writer = _Writer(allow_extra_keys=allow_extra_keys, strict=True)
    if array:
        items = typing.cast("object", list[kind])  # type: ignore[valid-type]  # Built at run time.
        schema = writer.document(items, {})
        definitions = schema.pop("$defs", None)
        schema = {
            "type": "object",
            "properties": {ARRAY_PROPERTY: schema},
            "required": [ARRAY_PROPERTY],
            "additionalProperties": False,
        }
        if definitions is not None:
            schema["$defs"] = definitions
    else:
        schema = writer.document(kind, {})
    return StrictSchema(
        schema, ARRAY_PROPERTY if array else None, tuple(dict.fromkeys(writer.obstacles))
    )


class _Writer:
    """Writes one document; dataclasses that contain themselves become `$defs`."""

    def __init__(self, *, allow_extra_keys: bool, strict: bool) -> None:
        self._allow_extra_keys = allow_extra_keys
        self._strict = strict
        self._open: list[object] = []
        self._recursive: dict[object, str] = {}
        self._definitions: dict[str, JsonSchema] = {}
        self.obstacles: list[str] = []

    def document(self, kind: object, descriptions: Mapping[str, str]) -> JsonSchema:
        if self._strict and self._allow_extra_keys:
            self.obstacles.append("extra keys are allowed")
        schema = (
            self._object(kind, "$", descriptions) if dataclass_of(kind) else self._schema(kind, "$")
        )
        return {**schema, "$defs": self._definitions} if self._definitions else schema

    def _schema(self, hint: object, where: str) -> JsonSchema:
        hint = plain(hint)
        members = union_members(hint)
        if len(members) > 1:
            return {"anyOf": [self._schema(member, where) for member in members]}
        scalar = _SCALARS.get(hint) if _hashable(hint) else None
        if scalar is not None:
            return {"type": scalar}
        if hint is object or hint is Any:
            if self._strict:
                self.obstacles.append(f"{where} takes anything")
            return {}
        if get_origin(hint) is Literal:
            return _enumeration(get_args(hint), where)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _enumeration([member.value for member in hint], where)
        if dataclass_of(hint) is not None:
            return self._object(hint, where, {})
        named = FORMATS.get((getattr(hint, "__module__", ""), getattr(hint, "__qualname__", "")))
        if named is not None:
            return dict(named)
        return self._container(hint, where)

    def _container(self, hint: object, where: str) -> JsonSchema:
        origin = get_origin(hint) or hint
        arguments = get_args(hint)
        if origin is tuple and arguments and arguments[-1] is not Ellipsis:
            if self._strict:
                self.obstacles.append(f"{where} is an array of different items")
            items = [self._schema(a, f"{where}[{i}]") for i, a in enumerate(arguments)]
            size = len(items)
            return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}
        if origin in SETS:
            if self._strict:
                return {"type": "array", "items": self._item(arguments, where)}
            return {"type": "array", "items": self._item(arguments, where), "uniqueItems": True}
        if origin is tuple or origin in ARRAYS:
            return {"type": "array", "items": self._item(arguments, where)}
        if origin in MAPPINGS:
            if arguments and plain(arguments[0]) is not str:
                named = type_name(arguments[0])
                raise PromptValidationError(
                    f"{where}: the keys of a JSON object are strings, not {named}."
                )
            if self._strict:
                self.obstacles.append(f"{where} is a mapping with arbitrary keys")
            values = self._schema(arguments[1], f"{where}.*") if arguments else {}
            return {"type": "object", "additionalProperties": values or True}
        raise PromptValidationError(
            f"{where}: {type_name(hint)} has no JSON form; use a dataclass, a Pydantic model, an "
            "enum, or one of the standard scalars and containers.",
            dataclass_type=hint if isinstance(hint, type) else None,
        )

    def _item(self, arguments: tuple[object, ...], where: str) -> JsonSchema:
        return self._schema(arguments[0] if arguments else object, f"{where}[*]")

    def _object(self, kind: object, where: str, descriptions: Mapping[str, str]) -> JsonSchema:
        if kind in self._open:
            name = self._recursive.setdefault(kind, self._definition_name(kind))
            return {"$ref": f"#/$defs/{name}"}
        self._open.append(kind)
        properties: dict[str, object] = {}
        required: list[str] = []
        of_model = _of_model(kind, where) if is_model(kind) else None
        for field in fields_of(kind):
            name, overrides = field.keyword, (of_model or {}).get(field.keyword, {})
            try:
                schema = self._schema(field.hint, f"{where}.{name}")
            except PromptValidationError:
                if not overrides or "$ref" in str(overrides):
                    raise
                schema = {key: overrides[key] for key in _SHAPE if key in overrides}
            rules = {
                key: overrides[key]
                for key in overrides
                if _RULE.fullmatch(key) and key not in schema
            }
            description = descriptions.get(field.name, field.description)
            if not self._strict:
                schema = {**schema, **rules}
            elif rules:
                # Not all strict modes take them: the model reads them, and Pydantic enforces them.
                told = ", ".join(f"{key}: {value}" for key, value in rules.items())
                description = f"{description or ''} ({told})".strip()
            schema = {**schema, "description": description} if description else schema
            if field.required or self._strict:
                required.append(name)
            nullable = self._strict and of_model is None and not field.required
            if nullable and not is_optional(field.hint):
                # Strict modes require every property, so null means the default.
                schema = _nullable(schema)
            properties[name] = schema
        self._open.pop()
        written: JsonSchema = {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": self._allow_extra_keys,
        }
        if kind in self._recursive:
            name = self._recursive[kind]
            self._definitions[name] = written
            return {"$ref": f"#/$defs/{name}"} if self._open else written
        return written

    def _definition_name(self, kind: object) -> str:
        name = type_name(kind).rpartition(".")[2]
        taken = set(self._recursive.values())
        return name if name not in taken else f"{name}_{len(taken)}"


def _of_model(kind: Any, where: str) -> Mapping[str, JsonSchema]:
    """Return the schemas that a Pydantic model gives its fields, by name."""
    try:
        schema = kind.model_json_schema()
    except Exception as error:
        raise PromptValidationError(
            f"{where}: {type_name(kind)} has no JSON form: {error}"
        ) from error
    # One that holds itself is among the definitions.
    inner = schema.get("$defs", {}).get(str(schema.get("$ref")).rpartition("/")[2], schema)
    properties: Mapping[str, JsonSchema] = inner.get("properties", {})
    return properties


def _enumeration(values: Iterable[object], where: str) -> JsonSchema:
    listed = [value.value if isinstance(value, enum.Enum) else value for value in values]
    for value in listed:
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise PromptValidationError(f"{where}: the value {value!r} has no JSON form.")
    kinds = {_SCALARS[type(value)] for value in listed}
    if len(kinds) == 1:
        return {"type": kinds.pop(), "enum": listed}
    return {"enum": listed}


def _nullable(schema: JsonSchema) -> JsonSchema:
    description = schema.get("description")
    inner = {name: value for name, value in schema.items() if name != "description"}
    members = inner["anyOf"] if isinstance(inner.get("anyOf"), list) else [inner]
    assert isinstance(members, list)
    nullable: JsonSchema = {"anyOf": [*members, {"type": "null"}]}
    return {**nullable, "description": description} if description else nullable


def _hashable(hint: object) -> bool:
    try:
        hash(hint)
    except TypeError:
        return False
    return True
