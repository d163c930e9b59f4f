"""Conservative conversion of parsed JSON to the types of dataclasses.

A value of the right type stays as it is. Otherwise only lossless conversions are made:

- an integer to a float, and a float without a fraction to an integer (`3.0` is 3, `3.9` is not);
- a string in canonical form to a number or boolean (`"3"`, `"2.5"`, `"true"`, not `"03"`);
- a string or number to the member of an enum that has this value;
- a string to a `datetime`, `date`, `UUID` or `Decimal`, a number to a `Decimal`;
- an array to a tuple of the right length, or to a set if no item is repeated;
- null, for a field that is not optional but has a default, to that default: providers' strict
  modes cannot leave a field out.

`true` and `false` aren't numbers, nor are infinity and not-a-number; null isn't an empty value, and
nothing becomes a string. For a union, the first member that fits exactly is used, else the first
that a conversion fits.
"""

from __future__ import annotations

import contextlib
import enum
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from foldline.prompts.errors import did_you_mean, near_names
from foldline.prompts.forms.fields import fields_of, is_optional, plain, union_members
from foldline.prompts.output.schema import FORMATS, MAPPINGS, SETS
from foldline.prompts.specialise import dataclass_of, is_model, type_name

__all__ = ["Mismatch", "convert"]

KindT = TypeVar("KindT")
_SCALARS = (str, bool, int, float)


@dataclass(eq=False)
class Mismatch(Exception):  # noqa: N818 - Becomes an error that has the whole answer.
    """A value that doesn't fit; `path` is its location, such as `$.steps[2]`."""

    path: str
    message: str
    expected: type | None = None
    near: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def convert(
    value: object, hint: object, *, path: str = "$", allow_extra_keys: bool, coerce: bool = True
) -> object:
    """Convert the value to an instance of the type `hint`.

    Args:
        value: Parsed JSON.
        hint: A dataclass, or any type with a JSON schema.
        path: The location of the value, for errors.
        allow_extra_keys: Let objects have keys that the dataclass doesn't have.
        coerce: Make the conversions above.

    Raises:
        Mismatch: The value doesn't fit the type.
    """
    return _Converter(allow_extra_keys=allow_extra_keys, coerce=coerce).value(value, hint, path)


def read_json(text: str, kind: type[KindT], name: str, version: int) -> KindT:
    """Return the instance of a dataclass with a field `format` from its JSON.

    Raises:
        ValueError: The text has another form; the message has the location.
    """
    try:
        value = convert(json.loads(text), kind, allow_extra_keys=False)
    except Mismatch as mismatch:
        raise ValueError(f"This is not a {name}: {mismatch}") from mismatch
    format_name = getattr(value, "format", None)
    if format_name != version:
        raise ValueError(f"The {name} has the format {format_name}; this reads format {version}.")
    return cast("KindT", value)


class _Converter:
    def __init__(self, *, allow_extra_keys: bool, coerce: bool) -> None:
        self._allow_extra_keys = allow_extra_keys
        self._coerce = coerce

    def value(self, value: object, hint: object, path: str) -> object:
        hint = plain(hint)
        members = union_members(hint)
        if len(members) > 1:
            return self._union(value, members, path)
        if hint is object or hint is Any:
            return value
        if hint is None or hint is type(None):
            if value is None:
                return None
            raise Mismatch(path, f"expected null, got {abbreviated(value)}")
        if hint in _SCALARS:
            return self._scalar(value, hint, path)
        if get_origin(hint) is Literal:
            return self._literal(value, get_args(hint), path)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return self._enum(value, hint, path)
        if dataclass_of(hint) is not None:
            return self._dataclass(value, hint, path)
        return self._container(value, hint, path)

    def _union(self, value: object, members: tuple[object, ...], path: str) -> object:
        failures: list[Mismatch] = []
        for coerce in (False, True) if self._coerce else (False,):
            converter = _Converter(allow_extra_keys=self._allow_extra_keys, coerce=coerce)
            failures.clear()
            for member in members:
                try:
                    return converter.value(value, member, path)
                except Mismatch as mismatch:
                    failures.append(mismatch)
        # The failure furthest into the value is the most informative.
        deepest = max(failures, key=lambda failure: len(failure.path))
        if deepest.path != path:
            raise deepest
        names = " or ".join(type_name(member) for member in members)
        raise Mismatch(path, f"expected {names}, got {abbreviated(value)}")

    def _scalar(self, value: object, kind: object, path: str) -> object:
        if type(value) is kind and (kind is not float or math.isfinite(value)):  # type: ignore[arg-type]  # A float.
            return value
        if self._coerce:
            coerced = _COERCIONS[kind](value) if kind in _COERCIONS else None
            if coerced is not None:
                return coerced
        raise Mismatch(
            path,
            f"expected {_JSON_NAMES[kind]}, got {abbreviated(value)}",
            kind if isinstance(kind, type) else None,
        )

    def _literal(self, value: object, options: tuple[object, ...], path: str) -> object:
        for option in options:
            raw = option.value if isinstance(option, enum.Enum) else option
            if type(raw) is type(value) and raw == value:
                return option
        listed = ", ".join(repr(option) for option in options)
        raise Mismatch(path, f"expected one of {listed}, got {abbreviated(value)}")

    def _enum(self, value: object, kind: type[enum.Enum], path: str) -> object:
        for member in kind:
            if member.value == value and isinstance(member.value, bool) == isinstance(value, bool):
                return member
        values = [member.value for member in kind]
        near = near_names(str(value), [str(v) for v in values]) if isinstance(value, str) else ()
        listed = ", ".join(repr(v) for v in values)
        raise Mismatch(path, f"expected one of {listed}, got {abbreviated(value)}", kind, near)

    def _dataclass(self, value: object, kind: object, path: str) -> object:
        base = dataclass_of(kind)
        assert base is not None
        if not isinstance(value, dict):
            raise Mismatch(
                path, f"expected an object for {type_name(kind)}, got {abbreviated(value)}", base
            )
        fields = {field.keyword: field for field in fields_of(kind)}
        for key in value:
            if key not in fields and not self._allow_extra_keys:
                near = near_names(str(key), fields)
                hint = did_you_mean(near)
                raise Mismatch(
                    f"{path}.{key}", f"{type_name(kind)} has no field {key!r}{hint}", base, near
                )
        if is_model(base):
            return _of_model(value, base, path)
        arguments: dict[str, object] = {}
        for name, field in fields.items():
            if name not in value:
                if field.required:
                    raise Mismatch(f"{path}.{name}", f"required by {type_name(kind)}", base)
                continue
            item = value[name]
            if item is None and not field.required and not is_optional(field.hint):
                if not self._coerce or plain(field.hint) in (object, Any):
                    arguments[name] = self.value(item, field.hint, f"{path}.{name}")
                continue
            arguments[name] = self.value(item, field.hint, f"{path}.{name}")
        try:
            return base(**arguments)
        except Exception as error:
            raise Mismatch(
                path, f"{type_name(kind)} refused the values: {type(error).__name__}: {error}", base
            ) from error

    def _container(self, value: object, hint: object, path: str) -> object:
        origin = get_origin(hint) or hint
        arguments = get_args(hint)
        named = (getattr(hint, "__module__", ""), getattr(hint, "__qualname__", ""))
        if named in FORMATS:
            return self._formatted(value, hint, named, path)
        if origin in MAPPINGS:
            return self._mapping(value, arguments, path)
        if not isinstance(value, list):
            raise Mismatch(path, f"expected an array, got {abbreviated(value)}")
        if origin is tuple and arguments and arguments[-1] is not Ellipsis:
            if len(value) != len(arguments):
                raise Mismatch(
                    path, f"expected an array of {len(arguments)} items, got {len(value)}"
                )
            return tuple(
                self.value(item, argument, f"{path}[{index}]")
                for index, (item, argument) in enumerate(zip(value, arguments, strict=True))
            )
        item_hint = arguments[0] if arguments else object
        items = [self.value(item, item_hint, f"{path}[{i}]") for i, item in enumerate(value)]
        if origin in SETS:
            unique: set[object] = set(items)
            if len(unique) != len(items):
                raise Mismatch(path, "expected items that are not repeated")
            return frozenset(unique) if origin is not set else unique
        return items if origin is list else tuple(items)

    def _mapping(self, value: object, arguments: tuple[object, ...], path: str) -> object:
        if not isinstance(value, dict):
            raise Mismatch(path, f"expected an object, got {abbreviated(value)}")
        hint = arguments[1] if arguments else object
        return {key: self.value(item, hint, f"{path}.{key}") for key, item in value.items()}

    def _formatted(self, value: object, hint: object, named: tuple[str, str], path: str) -> object:
        usable = isinstance(value, str) or (named[1] == "Decimal" and type(value) in (int, float))
        if usable and self._coerce:
            parse: Callable[[str], object] = getattr(hint, "fromisoformat", hint)  # type: ignore[arg-type]
            with contextlib.suppress(ValueError, ArithmeticError):
                parsed = parse(str(value))
                if getattr(parsed, "is_finite", lambda: True)():
                    return parsed
        raise Mismatch(path, f"expected a {named[1]} as a string, got {abbreviated(value)}")


def _of_model(value: object, kind: type, path: str) -> object:
    """Return the instance of a Pydantic model that it makes of its JSON, by its own rules."""
    try:
        return getattr(kind, "model_validate_json")(json.dumps(value))  # noqa: B009 - Not typed.
    except Exception as error:
        first = next(iter(getattr(error, "errors", list)()), {"loc": (), "msg": str(error)})
        steps = (f"[{at}]" if isinstance(at, int) else f".{at}" for at in first["loc"])
        raise Mismatch("".join([path, *steps]), str(first["msg"]), kind) from error


def _to_int(value: object) -> int | None:
    # Above 2**53 a float stands for several integers.
    if type(value) is float and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    if isinstance(value, str) and len(value) <= 20:
        digits = value.removeprefix("-")
        if digits.isascii() and digits.isdecimal() and str(int(value)) == value:
            return int(value)
    return None


def _to_float(value: object) -> float | None:
    if type(value) is int:
        try:
            return float(value) if int(float(value)) == value else None
        except OverflowError:
            return None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return None
        if not math.isfinite(number):
            return None
        return number if value in (repr(number), repr(number).removesuffix(".0")) else None
    return None


def _to_bool(value: object) -> bool | None:
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else None


_COERCIONS: Mapping[object, Callable[[object], object]] = {
    int: _to_int,
    float: _to_float,
    bool: _to_bool,
}
_JSON_NAMES: Mapping[object, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
}


def abbreviated(value: object) -> str:
    """Return a value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
