"""Untrusted text in a prompt: where it is in a type, and what keeps it in its form."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from contextlib import suppress
from typing import get_args, get_origin

from foldline.prompts.forms.annotations import declared_hint
from foldline.prompts.forms.forms import UNTRUSTED, FenceForm, WrapForm
from foldline.prompts.specialise import dataclass_of, field_names

# What Python or Markdown takes for the end of a line.
_BREAKS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# What begins a line, inside of lists and quotations, too. Possessive: linear in hostile texts.
_IN_TAG = re.compile(
    r"<(?=\s*[\w/!?|])"
    r"|^(?:[ \t]*+(?:(?:[-*+]|\d++[.)])[ \t]++(?=\S)|>[ \t]*+)*+)"
    r"(?:#|-(?=-*+[ \t]*+$)|=(?==*+[ \t]*+$)|`(?=``)|~(?=~~))",
    re.MULTILINE,
)
_IN_JSON = re.compile("[<\x7f-\x9f\u2028\u2029]")


def guarded(text: str, form: WrapForm) -> str:
    """Return untrusted text for the form around it: no line of it begins anything."""
    text = _BREAKS.sub("\n", text)
    if isinstance(form, FenceForm):
        return text
    return _IN_TAG.sub(lambda m: "&lt;" if m[0] == "<" else f"{m[0][:-1]}&#{ord(m[0][-1])};", text)


def guarded_json(text: str) -> str:
    """Return the JSON of untrusted values without tags and breaks of lines; it means the same."""
    return _IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def is_untrusted(hint: object, seen: tuple[object, ...] = ()) -> bool:
    """Return True if a type, or anything in it, is `Untrusted`."""
    return any(p is UNTRUSTED or untrusted_fields(get_origin(p) or p, seen) for p in parts_of(hint))


def untrusted_fields(kind: object, seen: tuple[object, ...] = ()) -> list[str]:
    """Return the fields of a class whose types are or hold `Untrusted` ones."""
    if not isinstance(kind, type) or kind in seen:
        return []
    hints = {name: declared_hint(kind, name) for name in field_names(dataclass_of(kind))}
    with suppress(NameError):  # Python 3.14 evaluates them here.
        hints = hints or inspect.get_annotations(kind)
    return [name for name, hint in hints.items() if is_untrusted(hint, (*seen, kind))]


def parts_of(hint: object) -> Iterator[object]:
    """Yield what a type is made of: its members, their arguments and the metadata."""
    yield hint
    alias = get_origin(hint) or hint
    inner = (hint.__supertype__,) if isinstance(hint, typing.NewType) else get_args(hint)
    if type(alias).__name__ == "TypeAliasType":
        inner = (*inner, alias.__value__)  # type: ignore[union-attr]  # New in Python 3.12.
    elif isinstance(hint, (str, typing.ForwardRef)) and "Untrusted[" in str(hint):
        yield UNTRUSTED  # Quoted inside of a type, where nothing resolves it.
    for part in inner:
        yield from parts_of(part)
