r"""Forms of fields: how a value that isn't a text becomes one in a prompt.

A form is declared in the field's type, as metadata of `Annotated`:

>>> from typing import Annotated
>>> from foldline.prompts import MarkdownSection
>>> from foldline.prompts.dataclasses import FrozenDataclass
>>> @FrozenDataclass()
... class Review:
...     rules: Annotated[tuple[str, ...], bullets]
...     code: Annotated[str, limit(tokens=200), xml("code")]
...     branch: Annotated[str | None, or_else("unknown")] = None
>>> section = MarkdownSection[Review](
...     title="Review", key="review", template="Branch ${branch}:\n${rules}\n${code}"
... )
>>> print(section.render(Review(rules=("Be brief.", "Be kind."), code="x = 1")))
Branch unknown:
- Be brief.
- Be kind.
<code>
x = 1
</code>

Forms apply from left to right, so they stand in this order:

1. One that makes a text of a value: `bullets`, `numbered` or `joined` for a collection, `as_json`
   for anything. Text, numbers and enums (their values) need none. The items of a collection may
   have forms of their own: `Annotated[tuple[Annotated[str, xml("quote")], ...], joined("\n")]`.
2. `limit`, which shortens the text.
3. `fenced` and `xml`, which put something around it.

`or_else` stands after the first of these, or anywhere later. A value that is None or empty skips
all forms before it, and its text passes those after it: `or_else("none"), fenced()` fences the
`none`, `fenced(), or_else("none")` doesn't. A composition that makes no sense, such as a limit that
would cut a fence's end, is refused when a section that shows the field is made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import Annotated, TypeAlias, TypeVar

from foldline.prompts.cache.tokens import estimated_tokens, longest_prefix
from foldline.prompts.errors import PromptValidationError

__all__ = [
    "ForeignSyntaxWarning",
    "Form",
    "ReprPlaceholderWarning",
    "Untrusted",
    "as_json",
    "bullets",
    "fenced",
    "joined",
    "limit",
    "numbered",
    "or_else",
    "xml",
]

NAMES = tuple(name for name in __all__ if name.islower())
"""The names of the forms and of the functions that make them."""

CUT = "…"
"""The end of a text that `limit` cut."""

FENCE = 3
"""The fewest backticks of a fence."""

# Compiled at first use: most prompts have none of these forms.
_BACKTICKS = "`+"
_TAG = r"[A-Za-z_][\w.-]*"


T = TypeVar("T")


class _Mark(Enum):
    UNTRUSTED = "Untrusted"


UNTRUSTED = _Mark.UNTRUSTED

Untrusted: TypeAlias = Annotated[T, UNTRUSTED]
"""The type of values that others wrote, such as a mail or a page: `Untrusted[str]` is a `str`.

A template shows one only in a form that no text can leave, `xml`, `fenced` or `as_json`, and never
in a message of the system or the developer; anything else is refused when the section or the
template is made. `Annotated[Untrusted[str], xml("mail")]` also escapes all other tags in the text,
and what could begin a heading or a fence.
"""


class ReprPlaceholderWarning(UserWarning):
    """A placeholder shows a value as Python writes it, such as `('a', 'b')` or `None`.

    It's about the section that is made, and says which form to declare.
    """


class ForeignSyntaxWarning(UserWarning):
    """A template has a field as another template language writes it, such as `{name}`."""


# Plain classes: dataclasses would take as long to make as the rest of the module takes to import.


class Form:
    """A form of a field, for the metadata of `Annotated`.

    `str` writes it as an author would, such as `joined(', ')`; forms written alike are equal.
    """

    __slots__ = ("description", "written")

    def __init__(self, written: str, description: str) -> None:
        self.written = written
        self.description = description

    def __repr__(self) -> str:
        return self.written

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.written == other.written

    def __hash__(self) -> int:
        return hash(self.written)


class ListForm(Form):
    """Makes one text of the texts of items; `{}` in the marker is an item's number."""

    __slots__ = ("marker", "separator")

    def __init__(self, written: str, description: str, separator: str, marker: str = "") -> None:
        super().__init__(written, description)
        self.separator = separator
        self.marker = marker

    def join(self, items: Sequence[str]) -> str:
        """Return the items as one text."""
        if not self.marker:
            return self.separator.join(items)
        numbered_items = enumerate(items, start=1)
        marked = [_marked(self.marker.format(number), item) for number, item in numbered_items]
        return self.separator.join(marked)


class JsonForm(Form):
    """Writes a value as JSON."""

    __slots__ = ()

    def write(self, value: object) -> str:
        """Return the JSON of a value, in one line.

        Raises:
            ValueError: A number is infinite or not a number.
        """
        # Loads `json`, which most prompts don't need.
        from foldline.prompts.forms.json_values import encoded

        return encoded(value)


class LimitForm(Form):
    """Shortens a text."""

    __slots__ = ("tokens",)

    def __init__(self, written: str, description: str, tokens: int) -> None:
        super().__init__(written, description)
        self.tokens = tokens

    def apply(self, text: str) -> str:
        """Return the text; one that is too long is cut, after a word where there is one."""
        if estimated_tokens(text) <= self.tokens:
            return text
        end = longest_prefix(text, self.tokens, room=len(CUT))
        # Without blanks, as in Chinese or base64, any place will do.
        blank = max(text.rfind(" ", end // 2, end + 1), text.rfind("\n", end // 2, end + 1))
        return text[: end if blank < 0 else blank].rstrip() + CUT


class WrapForm(Form):
    """Puts something around a text: a fence, or a tag."""

    __slots__ = ("name",)

    def __init__(self, written: str, description: str, name: str) -> None:
        super().__init__(written, description)
        self.name = name

    def apply(self, text: str) -> str:
        """Return the text with what surrounds it."""
        raise NotImplementedError


class FenceForm(WrapForm):
    """A fence, whose name is a language."""

    __slots__ = ()

    def apply(self, text: str) -> str:
        longest = max(map(len, re.findall(_BACKTICKS, text)), default=0)
        fence = "`" * max(FENCE, longest + 1)
        return f"{fence}{self.name}\n{_ended(text)}{fence}"


class TagForm(WrapForm):
    """A tag of that name."""

    __slots__ = ()

    def apply(self, text: str) -> str:
        opening_tag = re.compile(rf"<(?=\s*/?\s*{re.escape(self.name)}(?![\w.:-]))", re.IGNORECASE)
        return f"<{self.name}>\n{_ended(opening_tag.sub('&lt;', text))}</{self.name}>"


class FallbackForm(Form):
    """Replaces a value that is None or empty."""

    __slots__ = ("text",)

    def __init__(self, written: str, description: str, text: str) -> None:
        super().__init__(written, description)
        self.text = text


bullets: Form = ListForm("bullets", "as a list with bullets", "\n", "- ")
"""Each item of a collection on lines of its own, after `- `; for a mapping, `- key: value`.

Further lines of an item are indented below the first. Sets are sorted by their items' texts, so
that equal values give equal prompts.
"""

numbered: Form = ListForm("numbered", "as a numbered list", "\n", "{}. ")
"""A list like `bullets`, numbered `1. `, `2. ` and so on."""

as_json: Form = JsonForm("as_json", "as JSON")
"""Any value as JSON in one line: dataclasses as objects, enums as their values, dates as in ISO."""


def joined(separator: str = ", ") -> Form:
    r"""Return the form that joins the items of a collection.

    Args:
        separator: Between each two of them, such as `", "` or `"\n\n"`.

    Raises:
        PromptValidationError: The separator isn't a text.
    """
    _check(isinstance(separator, str), f"`joined` takes a text, such as `', '`, not {separator!r}.")
    return ListForm(f"joined({separator!r})", f"joined with {separator!r}", separator)


def fenced(language: str = "") -> Form:
    """Return the form that puts a text into a Markdown fence, such as a block of code.

    The fence is longer than any row of backticks in the text, so that no text can close it.

    Args:
        language: The language after the opening fence; none by default.

    Raises:
        PromptValidationError: The language isn't one line without backticks.
    """
    _check(
        isinstance(language, str) and "`" not in language and len(language.splitlines()) <= 1,
        f"`fenced` takes the name of a language, such as `'python'`, not {language!r}.",
    )
    language = language.strip()
    written = f"fenced({language!r})" if language else "fenced()"
    return FenceForm(written, f"in a fence{f' of {language}' if language else ''}", language)


def xml(tag: str) -> Form:
    """Return the form that puts a text between `<tag>` and `</tag>`, on lines of their own.

    In the text, the `<` of that very tag, opening or closing, in any case, becomes `&lt;`, so that
    no text can close it. Everything else stays as it is.

    Args:
        tag: A letter or `_`, then letters, digits, `_`, `-` and `.`.

    Raises:
        PromptValidationError: It can't be the name of a tag.
    """
    _check(
        isinstance(tag, str) and re.fullmatch(_TAG, tag) is not None,
        f"`xml` takes the name of a tag, such as `'passage'`, not {tag!r}.",
    )
    return TagForm(f"xml({tag!r})", f"in `<{tag}>`", tag)


def or_else(text: str) -> Form:
    """Return the form that shows a text in place of a value that is None or empty.

    Zero and False are values; a text, tuple, list, set or mapping without items is empty.

    Args:
        text: The text; `""` leaves the place empty.

    Raises:
        PromptValidationError: It isn't a text.
    """
    _check(isinstance(text, str), f"`or_else` takes a text, such as `'unknown'`, not {text!r}.")
    return FallbackForm(f"or_else({text!r})", f"or else {text!r}", text)


def limit(*, tokens: int) -> Form:
    """Return the form that cuts a text that is too long; it then ends with `…`.

    Args:
        tokens: The most tokens, `…` included, by the library's own estimate: four characters a
            token, or five of East Asian scripts four tokens. It needs no tokenizer, so the same
            value gives the same text everywhere.

    Raises:
        PromptValidationError: It isn't a number above 0.
    """
    _check(
        isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0,
        f"`limit` takes a number of tokens above 0, not {tokens!r}.",
    )
    return LimitForm(f"limit(tokens={tokens})", f"with at most {tokens:,} tokens", tokens)


CALLED: dict[object, str] = {
    joined: "joined(', ')",
    fenced: "fenced('python')",
    xml: "xml('passage')",
    or_else: "or_else('unknown')",
    limit: "limit(tokens=200)",
}
"""The functions that make forms, and a call of each."""


def indented(text: str, indent: str) -> str:
    """Return a text with `indent` before each line but the first; blank lines stay as they are."""
    if not indent or "\n" not in text:
        return text
    first, *rest = text.split("\n")
    return "\n".join([first, *(indent + line if line.strip() else line for line in rest)])


def _marked(marker: str, item: str) -> str:
    return marker + indented(item, " " * len(marker)) if item else marker.rstrip()


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _check(valid: bool, message: str) -> None:
    if not valid:
        raise PromptValidationError(message)
