"""Structured answers: finds the JSON in a message and converts it to dataclasses."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from foldline.prompts import refusals
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import OutputParseError
from foldline.prompts.forms.values import Mismatch, convert
from foldline.prompts.specialise import type_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foldline.prompts.output.structured_output import StructuredOutputConfig
    from foldline.prompts.rendered import RenderedPrompt

OutputT = TypeVar("OutputT")
OutputT_co = TypeVar("OutputT_co", covariant=True)

MAX_ATTEMPTS = 1_000
"""The number of brackets in a message that are tried as the start of JSON."""
MAX_REPAIRS = 20
"""The number of values in a message of which trailing commas are removed."""

_CONTAINERS: Mapping[type, str] = {list: "an array", dict: "an object"}
_FENCE = re.compile(r"^[ \t>]*```+[ \t]*json\b[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_BRACKET = re.compile(r"[{\[]")
_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_TRAILING_COMMA = re.compile(r",\s*[}\]]")
# Strings are matched too, because their commas stay. So are strings without an end: otherwise each
# quote would be searched for its end again, and many quotes would take quadratic time.
_COMMA_OR_STRING = re.compile(r'"(?:\\.|[^"\\\n])*+"?|,(?=\s*[}\]])')


@FrozenDataclass()
class ParsedOutput(Generic[OutputT_co]):
    """A parsed answer; `repairs` says what was wrong with its JSON, and put right."""

    value: OutputT_co
    repairs: tuple[str, ...] = ()


def parse_structured_output(output_text: str, rendered: RenderedPrompt[OutputT]) -> OutputT:
    """Parse a model's message as the prompt's declared output: the value of `parse_output`."""
    return parse_output(output_text, rendered).value


def parse_output(output_text: str, rendered: RenderedPrompt[OutputT]) -> ParsedOutput[OutputT]:
    """Parse a model's message as the prompt's declared output.

    JSON is searched in fenced `json` blocks, then the whole message is tried, then the message is
    scanned for objects and arrays; `<think>` blocks before the answer are left out. The first value
    that fits the declaration is returned. Trailing commas are removed, which `repairs` says; there
    is no other guess. The lossless conversions are listed in `foldline.prompts.forms.values`.

    Args:
        output_text: The model's message.
        rendered: The prompt that it answers.

    Raises:
        OutputParseError: There is no JSON, it is broken or cut off, or it doesn't fit the declared
            output; the error has the location and the whole message.
    """
    config = rendered.structured_output
    if config is None:
        raise OutputParseError(refusals.UNDECLARED_OUTPUT, raw_response=output_text)
    failures: list[Mismatch] = []
    search = _Search(_THOUGHT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), output_text))
    for value, repairs in search.candidates():
        try:
            return ParsedOutput(cast("OutputT", _converted(value, config)), repairs)
        except Mismatch as mismatch:
            failures.append(mismatch)
    if not failures:
        raise OutputParseError(
            f"$: {search.broken()}"
            if search.furthest
            else f"$: the message holds no JSON {config.container} for "
            f"{type_name(config.output_type)}.",
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


class _Search:
    """Finds the JSON values of a message, and where the best attempt at one broke."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._repairs_left = MAX_REPAIRS
        self.furthest: tuple[int, json.JSONDecodeError] | None = None
        """The start and the error of the broken value of which most was read."""

    def candidates(self) -> Iterator[tuple[object, tuple[str, ...]]]:
        """Yield the values of the first of the three searches that finds any, with repairs."""
        text = self._text
        found = False
        for fence in _FENCE.finditer(text):
            decoded = self._decoded(fence.end())
            if decoded is not None:
                found = True
                yield decoded[0], decoded[2]
        if found:
            return
        whole = self._decoded(0)
        if whole is not None and not text[whole[1] :].strip():
            yield whole[0], whole[2]
            return
        position = attempts = 0
        while attempts < MAX_ATTEMPTS and (bracket := _BRACKET.search(text, position)):
            attempts += 1
            decoded = self._decoded(bracket.start())
            if decoded is None:
                position = bracket.end()
            else:
                position = decoded[1]
                yield decoded[0], decoded[2]

    def broken(self) -> str:
        """Return where the JSON broke; there must be a `furthest`."""
        assert self.furthest is not None
        start, error = self.furthest
        kind = "array" if self._text[start] == "[" else "object"
        begins = f"the JSON {kind} that begins at {_place(self._text, start)}"
        if error.msg.startswith("Unterminated string") or not self._text[error.pos :].strip("`\n "):
            return f"{begins} is cut off: the message ends before it does."
        return f"{begins} is broken at {_place(self._text, error.pos)}: {error.msg.lower()}."

    def _decoded(self, position: int) -> tuple[object, int, tuple[str, ...]] | None:
        """Return the JSON value at `position`, its end and its repairs; None if there is none."""
        text = self._text
        start = position + len(text[position:]) - len(text[position:].lstrip())
        try:
            return (*_DECODER.raw_decode(text, start), ())
        except json.JSONDecodeError as error:
            read_something = error.pos > start + 1 or error.msg.startswith("Unterminated")
            if not read_something or text[start : start + 1] not in ("{", "["):
                return None
            repaired = self._without_trailing_commas(start)
            if repaired is not None:
                return repaired
            if self.furthest is None or error.pos > self.furthest[1].pos:
                self.furthest = (start, error)
        except (ValueError, RecursionError):
            pass
        return None

    def _without_trailing_commas(self, start: int) -> tuple[object, int, tuple[str, ...]] | None:
        if not self._repairs_left or not _TRAILING_COMMA.search(self._text, start):
            return None
        self._repairs_left -= 1
        # Blanks keep every position.
        text = self._text[:start] + _COMMA_OR_STRING.sub(
            lambda found: " " if found[0] == "," else found[0], self._text[start:]
        )
        try:
            return (*_DECODER.raw_decode(text, start), ("removed a trailing comma",))
        except (ValueError, RecursionError):
            return None


def _place(text: str, offset: int) -> str:
    line = text.count("\n", 0, offset) + 1
    return f"line {line}, column {offset - text.rfind(chr(10), 0, offset)}"


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
