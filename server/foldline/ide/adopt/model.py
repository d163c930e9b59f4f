"""The models of an adoption: what a source is read into, and what is written from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldline.ide.adopt.find import Candidate


class Style(StrEnum):
    """The ways in which people write prompts without foldline."""

    TEXT = "text"
    FSTRING = "f-string"
    FORMAT = "format"
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


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A value in the text.

    Attributes:
        source: The expression, or the part of the source, as it was written.
        kind: The origin of the value.
        reason: Why a remainder is one.
        hint: A name for the field; made from the source if it is empty.
        is_whole: The source is a part of a Jinja template, not an expression.
        form: The form of the field, such as `joined(', ')`, where the value is a list.
    """

    source: str
    kind: Kind = Kind.VALUE
    reason: str = ""
    hint: str = ""
    is_whole: bool = False
    form: str = ""


@dataclass(frozen=True, slots=True)
class Test:
    """A condition over fields.

    Attributes:
        source: The condition as it was written.
        text: An expression in which `{0}`, `{1}` … stand for the fields.
        fields: The expressions of those fields, and their types.
    """

    source: str
    text: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class If:
    """Parts of which the first with a true condition is shown; the last may have none."""

    source: str
    branches: tuple[tuple[Test | None, tuple[Node, ...]], ...]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Message:
    """One message, in the order of the source; the role is None for a prompt that is one text."""

    role: str | None
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """A guess at a variable: its type, its default as Python, and where they are from."""

    type: str = "str"
    default: str | None = None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class JinjaOptions:
    """The options of a Jinja environment that change what a template shows."""

    trim_blocks: bool = False
    lstrip_blocks: bool = False


@dataclass(frozen=True, slots=True)
class Original:
    """A prompt as it was found."""

    name: str
    style: Style
    line: int
    messages: tuple[Message, ...]
    guesses: dict[str, Guess] = field(default_factory=dict)
    jinja: JinjaOptions = field(default_factory=JinjaOptions)
    preamble: str = ""
    """Macros and assignments of a Jinja template, which its expressions may need."""
    sources: tuple[str, ...] = ()
    """The Jinja templates of the messages."""
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """Messages that can't be in a prompt, with the reason in the first line, and comments."""


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


class AdoptError(ValueError):
    """A source can't be adopted; the message says why and what to do.

    Attributes:
        candidates: The prompts that could be meant.
    """

    def __init__(self, message: str, candidates: tuple[Candidate, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates
