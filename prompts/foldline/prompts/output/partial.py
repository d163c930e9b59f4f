"""Structured answers that are still being written, as valid values of the declared type."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING
from typing import Any, Generic, TypeVar, cast, get_args, get_origin

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.forms.fields import fields_of, is_optional, plain, union_members
from foldline.prompts.forms.values import Mismatch
from foldline.prompts.output.parsing import converted, refuse_constant
from foldline.prompts.output.schema import ARRAYS, MAPPINGS, SETS
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.specialise import dataclass_of

OutputT = TypeVar("OutputT")
OutputT_co = TypeVar("OutputT_co", covariant=True)

MAX_DEPTH = 100
"""Levels of an answer that are read."""

_BEGIN = re.compile(
    r"\s*(?:<(think|thinking|reasoning)>.*?</\1>\s*)?(?:```+[ \t]*json\b[^\n]*\n\s*)?(?=[{\[])",
    re.DOTALL | re.IGNORECASE,
)
# A text up to the half of an escape, a mark, or a word: at the end a number may go on.
_TOKEN = re.compile(r'("(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+)("?)|[][{}:,]|[^][{}:,"\s]++(?!\Z)')
_CLOSING = str.maketrans("{[", "}]")
_HALF = re.compile(r"\\ud[89ab]..\Z", re.IGNORECASE)


@FrozenDataclass()
class PartialOutput(Generic[OutputT_co]):
    """An answer that is being written, as a valid value of the declared type.

    Texts and arrays are as far as they have come. A field that hasn't come is an empty text, array
    or object, or None. A number, choice, date or pair has its default until it comes. Without a
    default there is no partial value until then, or an array lacks the item.
    """

    value: OutputT_co


def parse_partial_output(
    output_text: str, rendered: RenderedPrompt[OutputT]
) -> PartialOutput[OutputT] | None:
    """Parse the beginning of a message as far as it fits the prompt's declared output.

    The message must begin with the answer or its fence; `parse_output` finds others, too. Returns
    None where nothing fits, and where the declared type refuses what there is.
    """
    config, begin = rendered.structured_output, _BEGIN.match(output_text)
    if config is None or begin is None:
        return None
    try:
        text, depth = _closed(output_text, begin.end())
        answer = json.loads(text, parse_constant=refuse_constant)
        unwrapped: Any = config.unwrapped(answer)
        depth -= unwrapped is not answer
        hint = list[config.item] if config.container == "array" else config.item  # type: ignore[name-defined]
        value = converted(_valid(unwrapped, hint, depth), config)
    except (ValueError, RecursionError, Mismatch):
        return None
    return PartialOutput(cast("OutputT", value))


def _closed(text: str, start: int) -> tuple[str, int]:
    """Return the JSON from there up to its last value, closed, and how many levels were open."""
    brackets, is_key, end, last, depth = "", False, start, "", 0
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in "{[":
            brackets += mark
        elif mark in "}]":
            brackets, is_key = brackets[:-1], False
        if mark in "{,:":
            is_key = mark != ":" and brackets[-1:] == "{"
        if mark in ",:" or (is_key and mark != "{"):
            continue
        is_open = token[1] is not None and not token[2]
        end, depth = token.start(), len(brackets) + is_open
        last = (_HALF.sub("", mark) + '"' if is_open else mark) + brackets[::-1].translate(_CLOSING)
        if not brackets or is_open or depth > MAX_DEPTH:
            break
    return text[start:end] + last, depth


def _valid(value: Any, hint: object, depth: int) -> Any:
    """Return a value as one of that type, its open levels completed; MISSING if it can't be."""
    members = [plain(member) for member in union_members(hint) if not is_optional(member)]
    if depth < 1:
        return value
    if len(members) != 1:
        return MISSING
    kind, anything = members[0], members[0] in (object, Any)
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if isinstance(value, str):
        return value if kind is str or anything else MISSING
    if isinstance(value, dict) and (dataclass_of(kind) or origin in MAPPINGS or anything):
        fields = {f.keyword: f for f in fields_of(kind)} if dataclass_of(kind) else {}
        other = arguments[1] if origin in MAPPINGS and arguments else object
        if value:
            key, item = value.popitem()
            item = _valid(item, fields[key].hint if key in fields else other, depth - 1)
            value |= {} if item is MISSING else {key: item}
        for key in fields.keys() - value.keys():
            item = _empty(fields[key].hint)
            if item is not MISSING:
                value[key] = item
            elif fields[key].required:
                return MISSING
        return value
    pair = origin is tuple and arguments[1:] not in ((), (Ellipsis,))
    if not isinstance(value, list) or pair or not (anything or origin in (tuple, *ARRAYS, *SETS)):
        return MISSING
    if value and depth > 1:
        # A set's item may become one that is there already.
        item = value.pop()
        item = MISSING if origin in SETS else _valid(item, (*arguments, object)[0], depth - 1)
        value += [] if item is MISSING else [item]
    return value


def _empty(hint: object) -> Any:
    """Return what stands for a value of that type that hasn't come; MISSING if nothing can."""
    if is_optional(hint) or plain(hint) in (object, Any):
        return None
    empty: tuple[object, ...] = ("", {}, [])
    return next((e for e in empty if _valid(e, hint, 1) is not MISSING), MISSING)
