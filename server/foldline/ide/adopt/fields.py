"""The fields of the dataclasses: their names and types, and the expressions they stand for."""

from __future__ import annotations

import keyword
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foldline.ide.adopt.model import Guess, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

_SKIPPED = {"self", "if", "is", "the", "for", "in", "endif", "endfor", "else", "elif", "set"}
_LONGEST = 32
_WEAK = {"shown": "str", "truth": "bool"}
"""What a field is of which nothing else is known: one that is shown, and one that is tested."""


@dataclass(slots=True)
class Field:
    """A field of a dataclass.

    Attributes:
        source: The expression, or the part of the source, that makes its value.
        is_whole: The source is a part of a Jinja template, not an expression.
    """

    name: str
    source: str
    type: str = "str"
    default: str | None = None
    kind: Kind = Kind.VALUE
    reason: str = ""
    is_whole: bool = False
    items: Items | None = None


@dataclass(slots=True)
class Fields:
    """The fields of one dataclass, in order of appearance."""

    guesses: Mapping[str, Guess] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)
    all: list[Field] = field(default_factory=list)

    def add(
        self,
        source: str,
        *,
        type: str = "str",  # noqa: A002
        kind: Kind = Kind.VALUE,
        reason: str = "",
        hint: str = "",
        is_whole: bool = False,
    ) -> Field:
        """Return the field of an expression, which is made if there is none of this type."""
        for known in self.all:
            if known.source == source and known.is_whole == is_whole:
                joint = _joint(known.type, type)
                if joint is not None:
                    known.type = joint
                    return known
        guess = self.guesses.get(source) if kind is Kind.VALUE else None
        default = None
        if guess is not None and (joint := _joint(guess.type, type)) == guess.type:
            type, default = joint, guess.default  # noqa: A001
        made = Field(
            self._free(hint or source), source, type, default, kind, reason, is_whole=is_whole
        )
        self.all.append(made)
        return made

    def settle(self) -> None:
        """Give the fields whose use says nothing about their type one that fits most values."""
        for known in self.all:
            known.type = _WEAK.get(known.type, known.type)
            if known.items is not None:
                known.items.fields.settle()

    def _free(self, text: str) -> str:
        name = field_name(text)
        taken = {known.name for known in self.all} | self.reserved
        count = 1
        free = name
        while free in taken:
            count += 1
            free = f"{name}_{count}"
        return free


@dataclass(slots=True)
class Items:
    """The items of a list: their dataclass, and the loop over them."""

    class_name: str
    head: str
    fields: Fields


def _joint(known: str, other: str) -> str | None:
    """Return the type of a field that is used in two ways; None if they need two fields."""
    if known == other:
        return known
    if {known, other} <= set(_WEAK):
        return "shown"
    for weak, strong in ((known, other), (other, known)):
        is_list = strong.startswith(("tuple[", "Annotated[tuple["))
        if weak == "truth" or (weak == "shown" and not is_list and "[" not in strong):
            return strong
    # Each loop over a list shows the same items.
    if known.startswith("tuple[") and other.startswith("tuple["):
        return known
    return None


def field_name(source: str) -> str:
    """Return a name of a field for an expression: `user.name` is `user_name`."""
    plain = unicodedata.normalize("NFKD", source).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", plain))
    kept = [word.lower() for word in words if word not in _SKIPPED] or ["value"]
    name = kept[0]
    for word in kept[1:]:
        if len(name) + len(word) >= _LONGEST:
            break
        name += f"_{word}"
    name = name[:_LONGEST].strip("_")
    if source.isidentifier() and source.isascii() and not source.startswith("_"):
        # A variable keeps its name, which is the keyword of its call sites.
        name = source
    if not name[:1].isalpha():
        name = f"value_{name}"
    return f"{name}_" if keyword.iskeyword(name) or keyword.issoftkeyword(name) else name
