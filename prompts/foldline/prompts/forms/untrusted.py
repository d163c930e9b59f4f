"""Untrusted text in a prompt: where it is in a type, and what keeps it in its form."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import get_args, get_origin

from foldline.prompts.forms.annotations import declared_hint, parts_of, resolved
from foldline.prompts.forms.forms import UNTRUSTED, FenceForm, WrapForm
from foldline.prompts.specialise import dataclass_of, field_names

# What Python or Markdown takes for the end of a line.
_BREAKS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Blanks, and what a reader doesn't see, either.
_BLANK = (
    r"[\0-\t\v-\x20\x7f-\xa0\xad\u1680\u180e\u2000-\u200f\u202a-\u202f\u205f-\u206f\u3000\ufeff]"
)
# What begins a line, inside of lists and quotations, too. Possessive: linear in hostile texts.
_IN_TAG = re.compile(
    rf"<(?=(?:\n|{_BLANK})*+[\w/!?|])"
    rf"|^(?:{_BLANK}*+(?:(?:[-*+]|\d++[.)]){_BLANK}++(?=\S)|>{_BLANK}*+)*+)"
    rf"(?:#|-(?=-*+{_BLANK}*+$)|=(?==*+{_BLANK}*+$)|`(?=``)|~(?=~~))",
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


def is_untrusted(hint: object) -> bool:
    """Return True if a type, or anything in it, is `Untrusted`."""
    return any(part is UNTRUSTED for part in all_parts_of(hint))


def is_attachment(part: object) -> bool:
    """Return True for an image or a file, which no text shows."""
    return getattr(part, "is_attachment", False) is True


def unshown(hint: object) -> list[object]:
    """Return the parts of a type that no text shows as they are."""
    return [part for part in all_parts_of(hint) if part is UNTRUSTED or is_attachment(part)]


def hides(kind: object) -> bool:
    """Return True if a class has type arguments with what its own fields don't say."""
    return any(unshown(resolved(one, get_origin(kind) or object)) for one in get_args(kind))


def all_parts_of(hint: object) -> Iterator[object]:
    """Yield what a type is made of, and the parts of the fields of all classes in it."""
    seen, hints = set[object](), [hint]
    for inner in hints:
        for part in parts_of(inner):
            yield part
            kind = get_origin(part) or part
            if isinstance(kind, type) and kind not in seen:
                seen.add(kind)
                hints += (of_field for _, of_field in hints_of(part))


def hints_of(kind: object) -> Iterator[tuple[str, object]]:
    """Yield the annotations of a class, resolved; of a dataclass, its fields."""
    if (fields_of := dataclass_of(kind)) is not None:
        yield from ((name, declared_hint(fields_of, name)) for name in field_names(fields_of))
        return
    for base in getattr(get_origin(kind) or kind, "__mro__", ()):
        with suppress(NameError):  # Python 3.14 evaluates them here.
            for name, hint in inspect.get_annotations(base).items():
                yield name, resolved(hint, base)
