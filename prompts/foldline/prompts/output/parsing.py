"""Structured answers: finds the JSON in a message and converts it to dataclasses."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from types import GenericAlias
from typing import Generic, TypeVar, cast

from foldline.prompts import refusals
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import OutputParseError
from foldline.prompts.forms.fields import fields_of
from foldline.prompts.forms.values import Mismatch, abbreviated, convert
from foldline.prompts.output.structured_output import StructuredOutputConfig
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.specialise import type_name

OutputT = TypeVar("OutputT")
OutputT_co = TypeVar("OutputT_co", covariant=True)

MAX_ATTEMPTS = 1_000
"""The number of brackets in a message that are tried as the start of JSON."""
MAX_REPAIRS = 20
"""The number of values in a message of which trailing commas are removed."""

_CONTAINERS: Mapping[type, str] = {list: "an array", dict: "an object"}
_FENCE = re.compile(r"^[ \t>]*```+[ \t]*json\b[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_BLANK = re.compile(r"\s*")
_BRACKET = re.compile(r"[{\[]")
_BRACKET_OR_STRING = re.compile(r'"(?:\\.|[^"\\\n])*+"?|[][{}]')
# An empty value of the prose is an answer only where a sentence or a line of its own says so: it
# isn't the box of a task, a type's `[]`, a function's `{}` or a link.
_SAYS_EMPTY = re.compile(r"(?:\A|[:,\n]|\w\s)[\s`>]*\Z")
_ENDS_MESSAGE = re.compile(r"[\s`.>]*\Z")
_QUOTED = re.compile(r"^[ \t]*>[ \t>]*", re.MULTILINE)
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

    The whole message counts if it is JSON, then the last fenced `json` block that fits, then of the
    objects and arrays in the text the one that fills most of the declared type; `<think>` blocks
    before the answer are left out. An empty value counts only where no other fits, and one in the
    text only at its end. Two different values that fill as much are an error, not a guess. Trailing
    commas are removed and the last of repeated keys counts, which `repairs` says. The lossless
    conversions are listed in `foldline.prompts.forms.values`.

    Args:
        output_text: The model's message.
        rendered: The prompt that it answers.

    Raises:
        OutputParseError: There is no JSON, it is broken or cut off, it doesn't fit the declared
            output, or two values fit equally; the error has the location and the whole message.
    """
    config = rendered.structured_output
    if config is None:
        raise OutputParseError(refusals.UNDECLARED_OUTPUT, raw_response=output_text)
    failures: list[Mismatch] = []
    text = _QUOTED.sub(lambda found: " " * len(found[0]), output_text)
    search = _Search(_THOUGHT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text))
    fitting: list[tuple[int, _Candidate, object]] = []
    for candidate in search.candidates():
        try:
            value = converted(candidate.value, config)
        except Mismatch as mismatch:
            failures.append(mismatch)
            continue
        filled = _filled(config.unwrapped(candidate.value), config)
        if filled or search.may_be_empty(candidate):
            # Of fenced ones, it's the first that counts.
            fitting.append((min(filled, 1) if candidate.fenced else filled, candidate, value))
    if fitting:
        filled, best, value = max(fitting, key=itemgetter(0))
        for weight, other, _ in fitting:
            if weight == filled and not (other.fenced or _equal(other.value, best.value)):
                raise OutputParseError(
                    f"$: two values of the message fit {type_name(config.output_type)} equally: "
                    f"{search.told(best)} and {search.told(other)}. "
                    "Answer with one of them, in a fenced `json` block.",
                    raw_response=output_text,
                    dataclass_type=config.output_type,
                )
        return ParsedOutput(cast("OutputT", value), (*best.repairs, *search.limits))
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


def converted(value: object, config: StructuredOutputConfig) -> object:
    """Return an answer's JSON as a value of the declared type; raises a `Mismatch`."""
    value = config.unwrapped(value)
    expected = list if config.container == "array" else dict
    if not isinstance(value, expected):
        container = _CONTAINERS.get(type(value), "a bare value")
        raise _WrongContainer(
            "$",
            f"expected {_CONTAINERS[expected]} for {type_name(config.output_type)}, "
            f"got {container}",
            config.output_type,
        )
    hint = GenericAlias(list, config.item) if expected is list else config.item
    return convert(value, hint, allow_extra_keys=config.allow_extra_keys)


def _filled(value: object, config: StructuredOutputConfig) -> int:
    """Count the values that an answer gives to fields of the declared type."""
    names = {field.keyword for field in fields_of(config.item)}
    objects = cast("list[Mapping[str, object]]", value if isinstance(value, list) else [value])
    values = [item[name] for item in objects for name in item if name in names]
    for item in values:  # The list grows by what is below.
        if isinstance(item, (dict, list)):
            values.extend(item.values() if isinstance(item, dict) else item)
    return len(values)


def _equal(one: object, other: object) -> bool:
    """Compare two JSON values; to Python, `true` is 1."""
    pending = [(one, other)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            pending += [(one[key], other[key]) for key in one]
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            pending += zip(one, other, strict=True)
        elif one != other or isinstance(one, bool) is not isinstance(other, bool):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A JSON value of a message that may be the answer."""

    value: object
    start: int
    end: int
    repairs: tuple[str, ...]
    fenced: bool = False
    """In a fenced `json` block, or the whole message."""


class _Search:
    """Finds the JSON values of a message, and where the best attempt at one broke."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._repairs_left = MAX_REPAIRS
        self.furthest: tuple[int, json.JSONDecodeError] | None = None
        """The start and the error of the broken value of which most was read."""
        self.limits: tuple[str, ...] = ()
        """Notes on parts of the message that weren't searched."""
        self._begun = -1
        """The start of the last value that broke after its bracket."""
        self._repeated: list[str] = []
        self._decoder = json.JSONDecoder(
            parse_constant=refuse_constant, object_pairs_hook=self._object
        )

    def candidates(self) -> Iterator[_Candidate]:
        """Yield the whole message, else the fenced blocks from the last, else what the text has."""
        text = self._text
        value = self._decoded(0)
        if value is not None and not text[value.end :].strip():
            yield replace(value, fenced=True)
            return
        blocks = [self._decoded(fence.end()) for fence in _FENCE.finditer(text)]
        if fenced := [replace(block, fenced=True) for block in blocks if block is not None]:
            yield from reversed(fenced)
            return
        position = attempts = 0
        while bracket := _BRACKET.search(text, position):
            attempts += 1
            if attempts > MAX_ATTEMPTS:
                self.limits = (f"looked at the first {MAX_ATTEMPTS:,} brackets alone",)
                return
            decoded = self._decoded(bracket.start())
            if decoded is None:
                # What is inside of a broken value is no answer.
                begun = self._begun == bracket.start()
                position = self._end(bracket.start()) if begun else bracket.end()
            else:
                position = decoded.end
                yield decoded

    def may_be_empty(self, candidate: _Candidate) -> bool:
        """Return True if an empty object or array there can be meant as the answer."""
        before = self._text[max(0, candidate.start - 200) : candidate.start]
        ends = _ENDS_MESSAGE.match(self._text, candidate.end)
        return candidate.fenced or bool(ends and _SAYS_EMPTY.search(before))

    def told(self, candidate: _Candidate) -> str:
        """Return a candidate, shortened, with its place."""
        return f"{abbreviated(candidate.value)} at {_place(self._text, candidate.start)}"

    def _end(self, position: int) -> int:
        """The end of the brackets that open at or behind a position; the text's, if none is."""
        depth = 0
        for token in _BRACKET_OR_STRING.finditer(self._text, position):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
            if not depth and token[0] in "}]":
                return token.end()
        return len(self._text)

    def broken(self) -> str:
        """Return where the JSON broke; there must be a `furthest`."""
        assert self.furthest is not None
        start, error = self.furthest
        kind = "array" if self._text[start] == "[" else "object"
        begins = f"the JSON {kind} that begins at {_place(self._text, start)}"
        if error.msg.startswith("Unterminated string") or not self._text[error.pos :].strip("`\n "):
            return f"{begins} is cut off: the message ends before it does."
        return f"{begins} is broken at {_place(self._text, error.pos)}: {error.msg.lower()}."

    def _decoded(self, position: int) -> _Candidate | None:
        """Return the JSON value at `position`; None if there is none."""
        text = self._text
        blank = _BLANK.match(text, position)
        start = blank.end() if blank else position
        try:
            return self._read(text, start)
        except json.JSONDecodeError as error:
            read_something = error.pos > start + 1 or error.msg.startswith("Unterminated")
            if not read_something or text[start : start + 1] not in ("{", "["):
                return None
            if text[start + 1 : error.pos].strip() or error.msg.startswith("Unterminated"):
                self._begun = start
            if (repaired := self._without_trailing_commas(start)) is not None:
                return repaired
            if self.furthest is None or error.pos > self.furthest[1].pos:
                self.furthest = (start, error)
        except (ValueError, RecursionError):
            pass
        return None

    def _read(self, text: str, start: int, *repairs: str) -> _Candidate:
        self._repeated.clear()
        value, end = self._decoder.raw_decode(text, start)
        repeated = (f"{key!r} was given more than once" for key in dict.fromkeys(self._repeated))
        return _Candidate(value, start, end, (*repairs, *repeated))

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        if len(value) < len(pairs):
            counted = Counter(key for key, _ in pairs)
            self._repeated += [key for key, count in counted.items() if count > 1]
        return value

    def _without_trailing_commas(self, start: int) -> _Candidate | None:
        if not self._repairs_left or not _TRAILING_COMMA.search(self._text, start):
            return None
        self._repairs_left -= 1
        # Blanks keep every position.
        text = self._text[:start] + _COMMA_OR_STRING.sub(
            lambda found: " " if found[0] == "," else found[0], self._text[start:]
        )
        try:
            return self._read(text, start, "removed a trailing comma")
        except (ValueError, RecursionError):
            return None


def _place(text: str, offset: int) -> str:
    line = text.count("\n", 0, offset) + 1
    return f"line {line}, column {offset - text.rfind(chr(10), 0, offset)}"


def refuse_constant(name: str) -> object:
    """Raise a ValueError for `NaN` and its like, which Python's parser takes."""
    raise ValueError(f"{name} is not JSON")
