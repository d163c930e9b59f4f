"""Untrusted text in a prompt: where it is in a type, and what keeps it in its form."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable
from typing import Annotated, get_args, get_origin

from foldline.prompts.forms.annotations import declared_hint
from foldline.prompts.forms.forms import UNTRUSTED, FenceForm, WrapForm
from foldline.prompts.specialise import dataclass_of, field_names

# What Python or Markdown takes for the end of a line.
_BREAKS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# What begins a line, inside of lists and quotations, too. Possessive: linear in hostile texts.
_IN_TAG = re.compile(
    r"(?P<tag><)(?=\s*[\w/!?|])"
    r"|^(?P<before>[ \t]*+(?:(?:[-*+]|\d++[.)])[ \t]++(?=\S)|>[ \t]*+)*+)"
    r"(?P<mark>#|-(?=-*+[ \t]*+$)|=(?==*+[ \t]*+$)|`(?=``)|~(?=~~))",
    re.MULTILINE,
)
_IN_JSON = re.compile("[<\x7f-\x9f\u2028\u2029]")


def guarded(text: str, form: WrapForm) -> str:
    """Return untrusted text for the form around it: no line of it begins anything."""
    text = _BREAKS.sub("\n", text)
    return text if isinstance(form, FenceForm) else _IN_TAG.sub(_escaped, text)


def guarded_json(text: str) -> str:
    """Return the JSON of untrusted values without tags and breaks of lines; it means the same."""
    return _IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escaped(match: re.Match[str]) -> str:
    return "&lt;" if match["tag"] else f"{match['before']}&#{ord(match['mark'])};"


def is_marked(hint: object) -> bool:
    """Return True for `Untrusted[…]` itself, also among other metadata, aliases and unions."""
    return any(part is UNTRUSTED for part in _parts(hint))


def is_untrusted(hint: object, seen: tuple[object, ...] = ()) -> bool:
    """Return True if a type, or anything in it, is `Untrusted`."""
    for part in _parts(hint):
        if part is UNTRUSTED or any(is_untrusted(inner, seen) for inner in get_args(part)):
            return True
        kind = dataclass_of(part)
        if kind is not None and kind not in seen and untrusted_fields(kind, (*seen, kind)):
            return True
    return False


def untrusted_fields(kind: type | None, seen: tuple[object, ...] = ()) -> list[str]:
    """Return the fields of a dataclass whose types are or hold `Untrusted` ones."""
    names = () if kind is None else field_names(kind)
    return [name for name in names if is_untrusted(declared_hint(kind, name), seen or (kind,))]  # type: ignore[arg-type]


def _parts(hint: object) -> Iterable[object]:
    """Yield the members of a type without what is around them, and the metadata around them."""
    if get_origin(hint) is Annotated:
        inner, *metadata = get_args(hint)
        yield from metadata
        yield from _parts(inner)
    elif isinstance(hint, typing.NewType):
        yield from _parts(hint.__supertype__)
    elif type(hint).__name__ == "TypeAliasType":
        yield from _parts(hint.__value__)  # type: ignore[attr-defined]  # New in Python 3.12.
    elif get_origin(hint) in (typing.Union, type(int | str), typing.ClassVar, typing.Final):
        for member in get_args(hint):
            yield from _parts(member)
    elif isinstance(hint, (str, typing.ForwardRef)) and repr(UNTRUSTED) in str(hint):
        yield UNTRUSTED  # Quoted inside of a type, where nothing resolves it.
    else:
        yield hint


def attachment_in(hint: object) -> type | None:
    """Return the class of an image or a file in a type, on its own or as an item."""
    for part in _parts(hint):
        if isinstance(part, type) and getattr(part, "is_attachment", False) is True:
            return part
        for inner in get_args(part):
            if (kind := attachment_in(inner)) is not None:
                return kind
    return None
