"""Changes one member in JSON with comments and trailing commas, and keeps every other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from foldline.agent.install.files import UnparsableError
from foldline.backends.files.jsonc import without_comments

_BLANK = re.compile(r"\s*")
# The end of a line, with a comment before it.
_LINE_END = re.compile(r"[ \t]*(?://[^\n]*|/\*(?:[^*\n]|\*(?!/))*\*/[ \t]*)?(?=\n)")
_INDENTED = re.compile(r"^([ \t]+)[^\s/*]", re.MULTILINE)
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    key: str
    start: int
    value: int
    end: int


class _Text:
    """A text beside itself as strict JSON: of the same length, with blanks for the rest."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.commented, self.strict = without_comments(text)
        """The text without its comments, and without trailing commas too."""

    def after_blank(self, at: int) -> int:
        """Return where the next token begins."""
        blank = _BLANK.match(self.strict, at)
        return blank.end() if blank else at

    def members(self, at: int) -> list[_Member]:
        """Return the members of the object that begins at an offset."""
        if not self.strict.startswith("{", at):
            line = self.text.count("\n", 0, at) + 1
            raise UnparsableError("an object is expected", line, at - self.text.rfind("\n", 0, at))
        members = []
        at = self.after_blank(at + 1)
        while self.strict[at] != "}":
            key, end = _DECODER.raw_decode(self.strict, at)
            value = self.after_blank(self.after_blank(end) + 1)
            _, end = _DECODER.raw_decode(self.strict, value)
            members.append(_Member(key, at, value, end))
            at = self.after_blank(end)
            at = self.after_blank(at + 1) if self.strict[at] == "," else at
        return members

    def member(self, at: int, key: str) -> _Member | None:
        """Return the member of that name; of several, the last one counts."""
        return next((one for one in reversed(self.members(at)) if one.key == key), None)

    def indent(self, at: int) -> str:
        """Return the white space at the beginning of a line."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]

    @property
    def unit(self) -> str:
        """The white space of the first line that is indented."""
        return indented[1] if (indented := _INDENTED.search(self.text)) else "  "

    def written(self, value: object, indent: str) -> str:
        """Return the value as JSON, indented as the text is."""
        text = json.dumps(value, ensure_ascii=False, indent=self.unit)
        return text.replace("\n", f"\n{indent}")

    def has_nothing_else(self, outer: _Member) -> bool:
        """Return whether an object has one member only, and no comment."""
        inside = slice(outer.start, outer.end)
        return len(self.members(outer.value)) == 1 and self.text[inside] == self.commented[inside]


def read(text: str) -> Any:
    """Return the value in a text, an empty object for one that holds none.

    Raises:
        UnparsableError: It isn't JSON with comments.
    """
    strict = _Text(text).strict
    try:
        return _DECODER.decode(strict) if strict.strip() else {}
    except json.JSONDecodeError as error:
        raise UnparsableError(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise UnparsableError("nested too deep") from error
    except ValueError as error:  # A number of thousands of digits.
        raise UnparsableError(str(error)) from error


def with_value(text: str, keys: Sequence[str], value: object) -> str:
    """Return the text with the value at `keys`; objects on the way are made.

    Raises:
        UnparsableError: The text isn't JSON with comments, or has no object there.
    """
    read(text)
    parsed = _Text(text)
    if not parsed.strict.strip():
        newline = "\n" if text and not text.endswith("\n") else ""
        return f"{text}{newline}{parsed.written(_nested(keys, value), '')}\n"
    at = end = parsed.after_blank(0)
    for depth, key in enumerate(keys):
        member = parsed.member(at, key)
        if member is None:
            return _inserted(parsed, at, key, _nested(keys[depth + 1 :], value))
        at, end = member.value, member.end
    return text[:at] + parsed.written(value, parsed.indent(at)) + text[end:]


def without(text: str, keys: Sequence[str]) -> str:
    """Return the text without the member at `keys`.

    Objects that it leaves without values and comments go, too.

    Raises:
        UnparsableError: As `with_value`.
    """
    if not read(text):
        return text
    parsed = _Text(text)
    members: list[_Member] = []
    at = parsed.after_blank(0)
    for key in keys:
        member = parsed.member(at, key)
        if member is None:
            return text
        members.append(member)
        at = member.value
    while len(members) > 1 and parsed.has_nothing_else(members[-2]):
        members.pop()
    return _removed(parsed, members[-1])


def _inserted(parsed: _Text, at: int, key: str, value: object) -> str:
    """Return the text with a new first member of the object at an offset."""
    text, members = parsed.text, parsed.members(at)
    if members and "\n" not in text[at : members[-1].end]:
        member = json.dumps({key: value}, ensure_ascii=False)[1:-1]
        return f"{text[: at + 1]}{member}, {text[at + 1 :].lstrip(' ')}"
    unit = parsed.indent(at)
    indent = unit + parsed.unit
    if members and "\n" in text[at : members[0].start]:
        indent = parsed.indent(members[0].start)
    member = f"\n{indent}{json.dumps(key, ensure_ascii=False)}: {parsed.written(value, indent)}"
    if members:
        member += ","
    line_end = _LINE_END.match(text, at + 1)
    if line_end is not None:
        return text[: line_end.end()] + member + text[line_end.end() :]
    below = f"\n{indent if members else unit}"
    return text[: at + 1] + member + below + text[at + 1 :].lstrip(" \t")


def _removed(parsed: _Text, member: _Member) -> str:
    """Return the text without a member, its comma, and its line where nothing else is on it."""
    before, after = parsed.text[: member.start], parsed.text[member.end :]
    rest = parsed.commented[member.end :]
    last = parsed.commented[: member.start].rstrip()
    if rest.lstrip().startswith(","):
        comma = rest.index(",")
        after = after[:comma] + after[comma + 1 :]
    elif last.endswith(","):
        before = before[: len(last) - 1] + before[len(last) :]
    if after.lstrip(" \t").startswith("\n") and not before.rpartition("\n")[2].strip():
        before, after = before.rpartition("\n")[0], after.lstrip(" \t")
    else:
        after = after.lstrip(" \t")
    if before.rstrip().endswith("{") and after.lstrip().startswith("}"):
        return before.rstrip() + after.lstrip()
    return before + after


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value
