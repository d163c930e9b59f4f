"""Reads an operation's arguments from JSON, and describes them as a JSON schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.operation import Role, parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.ide.operations.operation import Argument, Operation

ArgumentsT = TypeVar("ArgumentsT")

_JSON_NAMES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    tuple: "array",
    dict: "object",
}
_PHRASES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    tuple: "a list of texts",
    dict: "an object",
}


def read_arguments(
    operation: Operation[ArgumentsT, object],
    values: Mapping[str, object],
    *,
    from_model: bool = False,
) -> ArgumentsT:
    """Return the operation's arguments from a JSON object; see `read_fields`."""
    return read_fields(operation.arguments, values, from_model=from_model)


def read_fields(
    arguments: type[ArgumentsT], values: Mapping[str, object], *, from_model: bool = False
) -> ArgumentsT:
    """Return an instance of a dataclass of arguments from a JSON object.

    With `from_model`, an empty text for an optional argument counts as absent, and digits in a text
    as a number, JSON in a text as an object: models mean them so.

    Raises:
        ArgumentsError: Some are wrong; it names each with what is expected.
    """
    known = {argument.name: argument for argument in parameters_of(arguments)}
    problems = {name: _unknown(name, known) for name in values if name not in known}
    read: dict[str, object] = {}
    for name, argument in known.items():
        value = values.get(name)
        if from_model and value == "" and not argument.required:
            value = None
        if value is None and not (argument.optional and name in values and not from_model):
            if argument.required:
                problems[name] = "is required"
            continue
        try:
            read[name] = _convert(argument, value, from_model=from_model)
        except ValueError as error:
            problems[name] = str(error)
    if problems:
        raise ArgumentsError(problems)
    return arguments(**read)


def input_schema(operation: Operation[ArgumentsT, object]) -> dict[str, object]:
    """Return the JSON schema of the operation's arguments; see `fields_schema`."""
    return fields_schema(operation.arguments)


def fields_schema(arguments: type[Any]) -> dict[str, object]:
    """Return the JSON schema of arguments for models, in as few bytes as possible."""
    parameters = parameters_of(arguments)
    offered = [argument for argument in parameters if Role.PEOPLE not in argument.roles]
    return {
        "type": "object",
        "properties": {argument.name: _property(argument) for argument in offered},
        "required": [argument.name for argument in offered if argument.required],
        "additionalProperties": False,
    }


def _property(argument: Argument) -> dict[str, object]:
    written: dict[str, object] = {"type": _JSON_NAMES[argument.kind]}
    if argument.kind is tuple:
        written["items"] = {"type": "string"}
    if argument.doc.tool:
        written["description"] = argument.doc.tool
    return written


def _convert(argument: Argument, value: object, *, from_model: bool) -> object:
    """Return the value as the argument's type; raise ValueError with what is expected."""
    if value is None:
        return None
    kind = argument.kind
    if from_model and isinstance(value, str) and kind in (int, float):
        value = _number(value)
    if from_model and isinstance(value, str) and kind is dict:
        value = _object(value)
    if kind is tuple and isinstance(value, (list, tuple)):
        if all(isinstance(item, str) for item in value):
            return tuple(value)
    elif kind is float and type(value) in (int, float):
        value = float(str(value))
    if kind is tuple or type(value) is not kind:
        raise ValueError(f"expected {_PHRASES[kind]}, got {_abbreviated(value)}")
    if argument.bounds and isinstance(value, (int, float)):
        refusal = argument.bounds.refusal(value)
        if refusal:
            raise ValueError(refusal)
    return value


def _number(text: str) -> object:
    """Return the number that `text` spells in canonical form, else the text."""
    digits = text.removeprefix("-")
    return int(text) if len(digits) < 10 and digits.isascii() and digits.isdecimal() else text


def _object(text: str) -> object:
    """Return the object that `text` is as JSON, else the text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, dict) else text


def _abbreviated(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _unknown(name: str, known: Mapping[str, object]) -> str:
    # Imported late: the prompt library is slow to load, and few calls have unknown arguments.
    from foldline.prompts import errors

    near = errors.near_names(name, known)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"unknown argument; {hint}"
