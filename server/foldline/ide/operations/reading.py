"""Reads an operation's arguments from JSON, and describes them as a JSON schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

from foldline.backends.base.reading import read, unknown
from foldline.backends.errors import shown
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.operation import Argument, Role, parameters_of

ArgumentsT = TypeVar("ArgumentsT")

# Names that models have for arguments of other tools, or of other programs'.
_ALIASES = {
    **dict.fromkeys(("file", "file_path", "filename", "folder"), "path"),
    **dict.fromkeys(("regex", "query"), "pattern"),
    **dict.fromkeys(("start_line", "lines"), "start"),
    "path": "glob",
    "symbol": "name",
    "keywords": "query",
    "end_line": "end",
}
_RANGE = re.compile(r"(\d{1,9})\s*[-:,]\s*(\d{1,9})")
_PLACE = re.compile(r"(.+):(\d[\d-]*)")

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


def taken(arguments: type[Any], values: Mapping[str, object]) -> tuple[dict[str, object], str]:
    """Return a model's arguments, also those that can only mean one thing, and what was taken."""
    given, notes = dict(values), list[str]()
    known = {argument.name: argument for argument in parameters_of(arguments)}
    for name in [name for name in values if name not in known]:
        clear = name != "lines" or _RANGE.fullmatch(str(values[name]))  # 10 may be how many.
        if clear and (meant := _ALIASES.get(name)) in known and meant not in values:
            given[meant] = given.pop(name)
            notes.append(f"{name} taken as {meant}")
    if given.get("relation") in ("callers", "callees"):
        given["relation"] = "calls"
    if "end" in known:
        if given.get("start") is None and (place := _PLACE.fullmatch(str(given.get("path")))):
            given |= {"path": place[1], "start": place[2]}
        both = map(str, filter(None, (given.get("start"), given.get("end"))))
        if lines := _RANGE.fullmatch("-".join(both)):
            given["start"], given["end"] = sorted(map(int, lines.groups()))
    for name, argument in known.items():
        number, bounds = given.get(name), argument.bounds
        if type(number) is int and bounds is not None and bounds.refusal(number):
            given[name] = int(bounds.least if number < bounds.least else bounds.most or number)
            notes.append(f"{name} {shown(number)} taken as {given[name]}")
    return given, "; ".join(notes)


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
