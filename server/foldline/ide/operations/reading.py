"""Reads an operation's arguments from JSON, and describes them as a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

from foldline.backends.base.reading import read, unknown
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.operation import Argument, Role, parameters_of

ArgumentsT = TypeVar("ArgumentsT")

_JSON_NAMES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    tuple: "array",
    dict: "object",
}


def read_arguments(
    arguments: type[ArgumentsT], values: Mapping[str, object], *, from_model: bool = False
) -> ArgumentsT:
    """Return an instance of a dataclass of arguments from a JSON object.

    With `from_model`, an empty text for an optional argument counts as absent, and digits in a text
    as a number, JSON in a text as an object: models mean them so.

    Raises:
        ArgumentsError: Some are wrong; it names each with what is expected.
    """
    raw = dict(values)
    parameters = parameters_of(arguments)
    for argument in parameters:
        value = raw.get(argument.name)
        if from_model and isinstance(value, str):
            value = raw[argument.name] = _meant(argument, value)
        if value is None and not (argument.optional and not from_model):
            raw.pop(argument.name, None)
    arguments_read, problems = read(raw, arguments)
    if arguments_read is None:
        # In the order of the documentation.
        names = [argument.name for argument in parameters]
        unknowns = {name: unknown(name, names, "argument") for name in values if name not in names}
        raise ArgumentsError(problems | unknowns)
    return arguments_read


def input_schema(arguments: type[Any]) -> dict[str, object]:
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


def _meant(argument: Argument, text: str) -> object:
    """Return what a model means by a text for an argument of another type."""
    if not text and not argument.required:
        return None
    digits = text.removeprefix("-")
    is_number = len(digits) < 10 and digits.isascii() and digits.isdecimal()
    if argument.kind in (int, float) and is_number:
        return int(text)
    if argument.kind is dict:
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    return text
