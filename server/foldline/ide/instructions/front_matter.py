"""The front matter of skills and rules: what it says, and what a client can't read in it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from foldline.backends.base.near_names import near_names
from foldline.backends.parsers.markdown import Range
from foldline.ide.checks.diagnostic import Code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import PurePath

    from foldline.ide.instructions.document import InstructionFile

SKILL = "SKILL.md"
# https://agentskills.io/specification
_SKILL_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_LONGEST = {"name": 64, "description": 1024, "compatibility": 500}
# https://cursor.com/docs/context/rules
_RULE_FIELDS = ("description", "globs", "alwaysApply")

_FIELD = re.compile(r"""(["']?)([\w.-]+)\1[ \t]*:(?=\s|$)[ \t]*""")
_BLOCK = re.compile(r"([|>])[-+\d]*[ \t]*(?:#.*)?\n")


class Field(NamedTuple):
    """A field: the range of its name, its value as YAML reads a text, and as it's written."""

    place: Range
    value: str
    is_text: bool
    written: str

    @property
    def items(self) -> tuple[str, ...]:
        """The items of a list in lines; else the value, which may be a list with commas."""
        lines = [line.strip() for line in self.written.strip().splitlines()]
        if not lines or not lines[0].startswith("- "):
            return (self.value,) if self.value else ()
        return tuple(re.sub(r"\s#.*", "", line[2:]) for line in lines if line.startswith("- "))


class Fault(NamedTuple):
    """What is wrong in the front matter, and where."""

    code: Code
    message: str
    place: Range


def fields(file: InstructionFile) -> Mapping[str, Field]:
    """Return the fields of the front matter by their names."""
    return {name: field for name, field in _lines(file) if field is not None}


def faults(file: InstructionFile, path: PurePath) -> Iterator[Fault]:
    """Yield what is wrong in the front matter of a skill or a rule of Cursor's.

    That of others is free: their clients document no such rules.
    """
    if path.name != SKILL and path.suffix != ".mdc":
        return
    first = Range(0, len(file.text.partition("\n")[0]))
    front = file.markdown.front_matter
    if front is None:
        if file.text.startswith("---"):
            message = "The front matter isn't closed: no line `---` ends it."
            yield Fault(Code.FRONT_MATTER, message, first)
        elif path.name == SKILL:
            message = "A skill begins with front matter: `name` and `description` between `---`."
            yield Fault(Code.FRONT_MATTER, message, first)
        return
    found: dict[str, Field] = {}
    for line, field in _lines(file):
        if field is None:
            start = file.text.index(line, front.start)
            message = "This line isn't a field, `name: value`."
            yield Fault(Code.FRONT_MATTER, message, Range(start, start + len(line)))
        elif line in found:
            yield Fault(Code.FRONT_MATTER, f"`{line}` is there twice.", field.place)
        else:
            found[line] = field
    yield from _unknown(found, _SKILL_FIELDS if path.name == SKILL else _RULE_FIELDS)
    if path.name == SKILL:
        yield from _skill_faults(found, path, first)
    elif "alwaysApply" in found and found["alwaysApply"].value not in ("true", "false", ""):
        message = "`alwaysApply` is `true` or `false`."
        yield Fault(Code.FRONT_MATTER, message, found["alwaysApply"].place)


def _unknown(found: Mapping[str, Field], known: tuple[str, ...]) -> Iterator[Fault]:
    for name in found.keys() - set(known):
        near = near_names(name, known)
        hint = f"did you mean `{near[0]}`?" if near else "only some clients read it."
        message = f"`{name}` isn't a field of the specification: {hint}"
        yield Fault(Code.UNKNOWN_FRONT_MATTER, message, found[name].place)


def _skill_faults(found: Mapping[str, Field], path: PurePath, first: Range) -> Iterator[Fault]:
    for name in ("name", "description"):
        if name not in found:
            yield Fault(Code.FRONT_MATTER, f"A skill needs a `{name}`.", first)
        elif not found[name].value:
            yield Fault(Code.FRONT_MATTER, f"`{name}` is empty.", found[name].place)
    for name, longest in _LONGEST.items():
        if name in found and len(found[name].value) > longest:
            length = len(found[name].value)
            message = f"`{name}` has {length:,} characters; {longest:,} are allowed."
            yield Fault(Code.FRONT_MATTER, message, found[name].place)
    for name in ("name", "description", "compatibility"):
        field = found.get(name)
        if field is not None and not field.is_text:
            yield Fault(Code.FRONT_MATTER, _NO_TEXT.format(name), field.place)
    if "name" in found and found["name"].value:
        value, folder = (normalize("NFKC", one) for one in (found["name"].value, path.parent.name))
        words = value.split("-")
        if value != value.lower() or not all(word.isalnum() for word in words):
            message = f"`{value}` isn't a name: small letters, digits, and single hyphens between."
            yield Fault(Code.FRONT_MATTER, message, found["name"].place)
        elif folder and folder != value:
            message = f"The skill is `{value}` and its folder `{folder}`: give both one name."
            yield Fault(Code.FRONT_MATTER, message, found["name"].place)


_NO_TEXT = (
    "`{}` isn't a text as YAML reads it: put it between quotes, or begin it with `>-` and a new "
    "line."
)


def _lines(file: InstructionFile) -> Iterator[tuple[str, Field | None]]:
    """Yield the fields by their names, and each other line that is none with None."""
    front = file.markdown.front_matter
    if front is None:
        return
    at, text = front.start, file.text
    while at < front.end:
        end = text.find("\n", at, front.end) + 1 or front.end
        line = text[at:end].strip()
        found = _FIELD.match(text, at, end)
        if found is None:
            if line and not line.startswith("#"):
                yield line, None
            at = end
            continue
        # A value goes on in lines that are indented, and in those of its list.
        while end < front.end and text[end] in " \t\r\n-":
            end = text.find("\n", end, front.end) + 1 or front.end
        value, is_text = _value(text[found.end() : end])
        place = Range(found.start(2), found.end(2))
        yield found[2], Field(place, value, is_text, text[found.end() : end])
        at = end


def _value(written: str) -> tuple[str, bool]:
    """Return the value of a scalar; False with it if YAML reads something else, or nothing."""
    block = _BLOCK.match(written)
    if block is not None:
        lines = [line.strip() for line in written[block.end() :].strip().split("\n")]
        return ("\n" if block[1] == "|" else " ").join(lines).strip(), True
    value = " ".join(written.split())
    if value[:1] == "'":
        return value[1:-1].replace("''", "'"), len(value) > 1 and value[-1] == "'"
    if value[:1] == '"':
        try:
            return str(json.loads(value)), True
        except ValueError:
            return value[1:-1], len(value) > 1 and value[-1] == '"'
    value = re.sub(r"(^|\s)#.*", "", value)
    return value, not re.match(r"[\[{&*!%@`]|- ", value) and ": " not in value
