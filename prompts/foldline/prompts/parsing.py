"""Structured answers: finds the JSON in a message and converts it to dataclasses."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeVar, cast

from foldline.prompts.errors import OutputParseError
from foldline.prompts.specialise import type_name
from foldline.prompts.values import Mismatch, convert

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.structured_output import StructuredOutputConfig

__all__ = ["parse_structured_output"]

OutputT = TypeVar("OutputT")

MAX_ATTEMPTS = 1_000
"""The number of brackets in a message that are tried as the start of JSON."""

_CONTAINERS: Mapping[type, str] = {list: "an array", dict: "an object"}
_FENCE = re.compile(r"^[ \t>]*```+[ \t]*json\b[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_BRACKET = re.compile(r"[{\[]")


def parse_structured_output(output_text: str, rendered: RenderedPrompt[OutputT]) -> OutputT:
    """Parse a model's message as the prompt's declared output.

    JSON is searched in fenced `json` blocks, then the whole message is tried, then the message is
    scanned for objects and arrays. The first value that fits the declaration is returned. The
    lossless conversions are listed in `foldline.prompts.values`.

    Args:
        output_text: The model's message.
        rendered: The prompt that it answers.

    Raises:
        OutputParseError: There is no JSON, or it doesn't fit the declared output; the error has the
            location and the whole message.
    """
    config = rendered.structured_output
    if config is None:
        raise OutputParseError(
            "The prompt declares no structured output; specialise its template: "
            "PromptTemplate[Output](…).",
            raw_response=output_text,
        )
    failures: list[Mismatch] = []
    for candidate in _candidates(output_text):
        try:
            return cast("OutputT", _converted(candidate, config))
        except Mismatch as mismatch:
            failures.append(mismatch)
    if not failures:
        raise OutputParseError(
            f"$: the message holds no JSON {config.container} for {type_name(config.output_type)}.",
            raw_response=output_text,
            dataclass_type=config.output_type,
        )
    # A value in the right container was meant as the answer.
    told = next((f for f in failures if not isinstance(f, _WrongContainer)), failures[0])
    raise OutputParseError(
        f"{told}" if str(told).endswith("?") else f"{told}.",
        raw_response=output_text,
        json_path=told.path,
        dataclass_type=told.expected or config.output_type,
        near=told.near,
    ) from told


class _WrongContainer(Mismatch):
    """An object where an array is declared, or the reverse."""


def _converted(value: object, config: StructuredOutputConfig) -> object:
    expected = list if config.container == "array" else dict
    if not isinstance(value, expected):
        found = _CONTAINERS.get(type(value), "a bare value")
        raise _WrongContainer(
            "$",
            f"expected {_CONTAINERS[expected]} for {type_name(config.output_type)}, got {found}",
            config.output_type,
        )
    if isinstance(value, list):
        return [
            convert(item, config.item, path=f"$[{index}]", allow_extra_keys=config.allow_extra_keys)
            for index, item in enumerate(value)
        ]
    return convert(value, config.item, allow_extra_keys=config.allow_extra_keys)


def _candidates(text: str) -> Iterator[object]:
    """Yield the JSON values of the first of the three searches that finds any."""
    found = False
    for fence in _FENCE.finditer(text):
        value = _decoded(text, fence.end())
        if value is not None:
            found = True
            yield value[0]
    if found:
        return
    whole = _decoded(text, 0, whole=True)
    if whole is not None:
        yield whole[0]
        return
    position = attempts = 0
    while attempts < MAX_ATTEMPTS and (bracket := _BRACKET.search(text, position)):
        attempts += 1
        value = _decoded(text, bracket.start())
        if value is None:
            position = bracket.end()
        else:
            position = value[1]
            yield value[0]


def _decoded(text: str, position: int, *, whole: bool = False) -> tuple[object, int] | None:
    """Return the JSON value at `position` and its end; None if there is none."""
    start = position + len(text[position:]) - len(text[position:].lstrip())
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if whole and text[end:].strip():
        return None
    return value, end


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
