"""The models of an adoption: what a source is read into, and what is written from it."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from foldline.backends.base.near_names import free_name
from foldline.records import record

if TYPE_CHECKING:
    from foldline.plugins.adopt.find import Candidate

T = TypeVar("T")


class Style(StrEnum):
    """The ways in which people write prompts without foldline."""

    TEXT = "text"
    FSTRING = "f-string"
    FORMAT = "format"
    PERCENT = "percent"
    REPLACE = "replace"
    TEMPLATE = "template"
    JINJA = "jinja"
    MESSAGES = "messages"

    @property
    def label(self) -> str:
        """The style in words."""
        return _LABELS.get(self, self.value)


_LABELS = {
    Style.TEXT: "string",
    Style.FORMAT: "`str.format` text",
    Style.PERCENT: "`%` text",
    Style.REPLACE: "text with `.replace`",
    Style.TEMPLATE: "`string.Template`",
    Style.JINJA: "Jinja template",
    Style.MESSAGES: "chat messages",
}


class Kind(StrEnum):
    """The origin of a field's value."""

    VALUE = "value"
    """The variable of that name."""
    COMPUTED = "computed"
    """An expression, which the call site computes."""
    REMAINDER = "remainder"
    """A part of the source that no section can show; the call site has to make its text."""


@record
class Text:
    """Literal text."""

    text: str


@record
class Slot:
    """A value in the text.

    Attributes:
        source: The expression, or the part of the source, as it was written.
        kind: The origin of the value.
        reason: Why a remainder is one.
        hint: A name for the field; made from the source if it is empty.
        form: The form of the field, such as `joined(', ')`, where the value is a list.
    """

    source: str
    kind: Kind = Kind.VALUE
    reason: str = ""
    hint: str = ""
    form: str = ""


@record
class Test:
    """A condition over fields.

    Attributes:
        source: The condition as it was written.
        parts: It in Python: texts, and between them the expressions and types of the fields.
    """

    source: str
    parts: tuple[str | tuple[str, str], ...]


@record
class If:
    """Parts of which the first with a true condition is shown; the last may have none."""

    source: str
    branches: tuple[tuple[Test | None, tuple[Node, ...]], ...]


@record
class For:
    """A part that is shown for each item of a list.

    Attributes:
        head: The statement that begins it, without its braces: `for x in xs`.
        names: The variables of the loop.
        items: The expression of the list.
        is_plain: The list is shown as it is: no filter, no recursion.
    """

    source: str
    head: str
    names: tuple[str, ...]
    items: str
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...] = ()
    is_plain: bool = True


Node: TypeAlias = Text | Slot | If | For
N = TypeVar("N", bound=Node)


@record
class Message:
    """One message, in the order of the source; the role is None for a prompt that is one text.

    Attributes:
        nodes: The text as sections show it.
        raw: The text as the source makes it, if Python makes it.
        after: The calls that the source makes with the filled text: `dedent`, `strip` …
        source: The Jinja template, if Jinja makes it.
        style: How Python fills it in.
        written: The text that it fills in; empty if code makes parts of that.
    """

    role: str | None
    nodes: tuple[Node, ...]
    raw: tuple[Text | Slot, ...] = ()
    after: tuple[str, ...] = ()
    source: str = ""
    style: Style = Style.TEXT
    written: str = ""


@record
class Guess:
    """A guess at a variable: its type, and its default as Python."""

    type: str = "str"
    default: str | None = None


@record
class Use:
    """A call that fills in a text.

    Attributes:
        style: How the call reads the text.
        source: The call as it is written.
        arguments: Its positional arguments, as they are written.
        keywords: Its keyword arguments; the texts that a `replace` replaces, and with what.
        types: What is known of the types of the keyword arguments.
        file: The file; empty for that of the text.
        owner: The variable that has the text, as the call names it; empty for one in place.
        doubt: Why the variable may have another text.
        once: The texts of which a `replace` replaces so many occurrences only.
    """

    style: Style
    source: str
    line: int
    arguments: tuple[str, ...] = ()
    keywords: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    owner: str = ""
    doubt: str = ""
    once: frozenset[str] = frozenset()


@record
class JinjaOptions:
    """The options of a Jinja environment that change what a template shows."""

    trim_blocks: bool = False
    lstrip_blocks: bool = False


@record
class Original:
    """A prompt as it was found."""

    name: str
    style: Style
    messages: tuple[Message, ...]
    guesses: dict[str, Guess] = field(default_factory=dict)
    jinja: JinjaOptions = field(default_factory=JinjaOptions)
    preamble: str = ""
    """Macros and assignments of a Jinja template, which its expressions may need."""
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """Messages that can't be in a prompt, with the reason in the first line, and comments."""
    uses: tuple[Use, ...] = ()
    """The calls that fill in the text."""


MARK = "\ue000"


def joined(nodes: Iterable[Node]) -> str:
    """Return the text of nodes, with a `MARK` for each that isn't text.

    Raises:
        AdoptError: A text has that character, too.
    """
    texts = [node.text if isinstance(node, Text) else None for node in nodes]
    if any(MARK in text for text in texts if text):
        raise AdoptError("the text has a character for private use, U+E000, which adopting needs")
    return "".join(MARK if text is None else text for text in texts)


def unmarked(text: str, values: Iterable[T]) -> Iterator[str | T]:
    """Yield the texts between `MARK`s, and the next value in place of each."""
    remaining = iter(values)
    for index, part in enumerate(text.split(MARK)):
        if index:
            yield next(remaining)
        if part:
            yield part


def changed(nodes: Iterable[N], change: Callable[[str], str]) -> list[N | Text]:
    """Return nodes after a change of their text, in which each of the others is like a word."""
    nodes = list(nodes)
    values = [node for node in nodes if not isinstance(node, Text)]
    parts = unmarked(change(joined(nodes)), values)
    return [Text(part) if isinstance(part, str) else part for part in parts]


class AdoptError(ValueError):
    """A source can't be adopted; the message says why and what to do.

    Attributes:
        candidates: The prompts that could be meant.
        styles: The styles that the text could have, where the user has to choose.
    """

    def __init__(
        self,
        message: str,
        candidates: tuple[Candidate, ...] = (),
        styles: tuple[Style, ...] = (),
    ) -> None:
        super().__init__(message)
        self.candidates = candidates
        self.styles = styles


_SKIPPED = {"self", "if", "is", "the", "for", "in", "endif", "endfor", "else", "elif", "set"}
_LONGEST = 32
_WEAK = {"shown": "str", "truth": "bool"}
"""The types of fields that are only shown, or only tested."""


@dataclass(slots=True)
class Field:
    """A field of a dataclass; `source` is the expression, or the part of the text, of its value."""

    name: str
    source: str
    type: str = "str"
    default: str | None = None
    kind: Kind = Kind.VALUE
    reason: str = ""
    items: Items | None = None
    is_called_once: bool = False
    """Calls that stand in several places are one field, though each may return something else."""


@dataclass(slots=True)
class Fields:
    """The fields of one dataclass, in order of appearance."""

    guesses: Mapping[str, Guess] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)
    all: list[Field] = field(default_factory=list)

    def add(self, slot: Slot, type: str = "str") -> Field:  # noqa: A002
        """Return the field of a value and type; add it if there is none."""
        source, kind = slot.source, slot.kind
        for existing in self.all:
            is_part = Kind.REMAINDER in (kind, existing.kind)
            is_same = existing.source == source and (existing.kind is kind or not is_part)
            if is_same and (joint := _joint_type(existing.type, type)) is not None:
                existing.type = joint
                existing.is_called_once = "(" in source and kind is Kind.COMPUTED
                return existing
        guess = self.guesses.get(source) if kind is Kind.VALUE else None
        default = None
        if guess is not None and (joint := _joint_type(guess.type, type)) == guess.type:
            type, default = joint, guess.default  # noqa: A001
        name = field_name(slot.hint or source)
        free = free_name(name, {existing.name for existing in self.all} | self.reserved, "_")
        self.all.append(Field(free, source, type, default, kind, slot.reason))
        return self.all[-1]

    def settle(self) -> None:
        """Give fields whose use doesn't tell their type one that fits most values."""
        for existing in self.all:
            existing.type = _WEAK.get(existing.type, existing.type)
            if existing.items is not None:
                existing.items.fields.settle()


@dataclass(slots=True)
class Items:
    """The items of a list: their dataclass, and the loop over them."""

    class_name: str
    head: str
    fields: Fields


def _joint_type(one: str, other: str) -> str | None:
    """Return the type of a field that is used in two ways; None if they need two fields."""
    if one == other:
        return one
    if {one, other} <= set(_WEAK):
        return "shown"
    for weak, strong in ((one, other), (other, one)):
        is_list = strong.startswith(("tuple[", "Annotated[tuple["))
        if weak == "truth" or (weak == "shown" and not is_list and "[" not in strong):
            return strong
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
