"""The front matter of skills and rules: what it says, what is wrong in it, and its globs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import PurePath
from typing import NamedTuple
from unicodedata import normalize

from foldline.backends.base.near_names import near_names
from foldline.backends.files.git_patterns import compile_patterns, encoded, subject_of
from foldline.backends.files.globs import alternatives
from foldline.backends.parsers.markdown import Range
from foldline.ide.checks.codes import Code
from foldline.ide.instructions.document import InstructionFile

SKILL = "SKILL.md"
# https://agentskills.io/specification
_SKILL_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_LONGEST = {"name": 64, "description": 1024, "compatibility": 500}
_MOST_GLOBS = 500
_FIELD = re.compile(r"""(["']?)([\w.-]+)\1[ \t]*:(?=\s|$)[ \t]*""")
_REMARK = re.compile(r"""^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s#.*""")
_BLOCK = re.compile(r"([|>])[-+\d]*[ \t]*(?:#.*)?\n")


class Field(NamedTuple):
    """A field: its name, or the line that is none; its value, and whether YAML reads a text."""

    name: str
    place: Range
    value: str
    is_text: bool = True
    written: str = ""

    @property
    def items(self) -> tuple[str, ...]:
        """The items of a list in lines; else the value, which may be a list with commas."""
        every = (line.strip() for line in self.written.splitlines())
        lines = [line for line in every if line and not line.startswith("#")]
        if not lines or not lines[0].startswith("- "):
            return (self.value,) if self.value else ()
        return tuple(re.sub(r"\s#.*", "", line[2:]) for line in lines if line.startswith("- "))

    @property
    def is_open(self) -> bool:
        """True for a list whose bracket nothing closes."""
        return self.value.startswith("[") and self.value.count("[") > self.value.count("]")


def faults(file: InstructionFile, path: PurePath) -> Iterator[tuple[Code, str, Range]]:
    """Yield what is wrong in front matter that clients read as data, and where.

    Which fields there are is looked at in skills alone: rules have their clients'.
    """
    is_skill = path.name == SKILL
    if not file.has_front_matter:
        return
    first = Range(0, len(file.text.partition("\n")[0]))
    if file.markdown.front_matter is None:
        if file.text.startswith("---"):
            yield Code.FRONT_MATTER, "The front matter isn't closed: no line `---` ends it.", first
        elif is_skill:
            message = "A skill begins with front matter: `name` and `description` between `---`."
            yield Code.FRONT_MATTER, message, first
        return
    seen = set[str]()
    for field in fields(file):
        if field.name in seen:
            yield Code.FRONT_MATTER, f"`{field.name}` is there twice.", field.place
        elif (fault := _fault(field, path.parent.name if is_skill else None)) is not None:
            yield Code.FRONT_MATTER, fault, field.place
        seen.add(field.name)
    unknown = unknown_fields(file, _SKILL_FIELDS, "the specification", {})
    for message, place, _ in unknown if is_skill else ():
        yield Code.UNKNOWN_FRONT_MATTER, message, place
    for name in ("name", "description") if is_skill else ():
        if name not in seen:
            yield Code.FRONT_MATTER, f"A skill needs a `{name}`.", first


def unknown_fields(
    file: InstructionFile, known: Sequence[str], whose: str, others: Mapping[str, str]
) -> Iterator[tuple[str, Range, str]]:
    """Yield what to say of fields that aren't known, where, and the one that is meant, if any."""
    more = []
    for field in fields(file):
        if field.name in known or not _FIELD.match(f"{field.name}:"):
            continue
        if near := (*near_names(field.name, known), *filter(None, [others.get(field.name)])):
            message = f"`{field.name}` isn't a field of {whose}: did you mean `{near[0]}`?"
            yield message, field.place, near[0]
        else:
            more.append(field)
    if more:
        # One for all: their authors write for a client that reads them.
        names = ", ".join(f"`{field.name}`" for field in more)
        yield f"Only some clients read {names}, no field of {whose}.", more[0].place, ""


def _fault(field: Field, skill: str | None) -> str | None:
    """Return what is wrong with a field; `skill` is the name of the folder of a skill."""
    name, value = field.name, field.value
    if not _FIELD.match(f"{name}:"):
        return "This line isn't a field, `name: value`."
    if field.is_open:
        return f"The list of `{name}` isn't closed: it ends with `]`."
    if skill is None:
        is_wrong = name == "alwaysApply" and value not in ("true", "false", "")
        return "`alwaysApply` is `true` or `false`." if is_wrong else None
    if name not in _LONGEST:
        return None
    if not field.is_text:
        return (
            f"`{name}` isn't a text as YAML reads it: put it between quotes, or begin it with "
            "`>-` and a new line."
        )
    if not value and name != "compatibility":
        return f"`{name}` is empty."
    if len(value) > _LONGEST[name]:
        return f"`{name}` has {len(value):,} characters; {_LONGEST[name]:,} are allowed."
    value, folder = normalize("NFKC", value), normalize("NFKC", skill)
    if name == "name":
        if value != value.lower() or not all(word.isalnum() for word in value.split("-")):
            return f"`{value}` isn't a name: small letters, digits, and single hyphens between."
        if folder not in ("", value):
            return f"The skill is `{value}` and its folder `{folder}`: give both one name."
    return None


@lru_cache(maxsize=128)
def fields(file: InstructionFile) -> tuple[Field, ...]:
    """Return the fields of the front matter, and each line that is none; read once per file."""
    front, text, every = file.markdown.front_matter, file.text, list[Field]()
    at, last = front or (0, 0)
    while at < last:
        end = text.find("\n", at, last) + 1 or last
        line = text[at:end].strip()
        field = _FIELD.match(text, at, end)
        if field is not None:
            # A value goes on in lines that are indented, and in those of its list, `]` included.
            while end < last and text[end] in " \t\r\n-]":
                end = text.find("\n", end, last) + 1 or last
            written = text[field.end() : end]
            every.append(Field(field[2], Range(*field.span(2)), *_value(written), written))
        elif line and not line.startswith("#"):
            start = text.index(line, at)
            every.append(Field(line, Range(start, start + len(line)), ""))
        at = end
    return tuple(every)


def _value(written: str) -> tuple[str, bool]:
    """Return the value of a scalar; False with it if YAML reads something else, or nothing."""
    block = _BLOCK.match(written)
    if block is not None:
        lines = [line.strip() for line in written[block.end() :].strip().split("\n")]
        return ("\n" if block[1] == "|" else " ").join(lines).strip(), True
    value = _REMARK.sub(r"\1", " ".join(written.split()))
    if value[:1] in ("'", '"'):
        try:
            text = value[1:-1].replace("''", "'") if value[0] == "'" else str(json.loads(value))
        except ValueError:
            text = value[1:-1]
        return text, len(value) > 1 and value[-1] == value[0]
    value = re.sub(r"(^|\s)#.*", "", value)
    return value, not re.match(r"[\[{&*!%@`]|- ", value) and ": " not in value


def globs_of(values: Iterable[str]) -> Iterator[str]:
    """Yield each glob of the items of a field, lists and braces expanded."""
    for value in values:
        listed = value[1:-1] if value[:1] == "[" and value[-1:] == "]" else value
        for one in islice(alternatives(f"{{{listed},}}"), _MOST_GLOBS):
            if glob := one.strip().strip("\"'"):
                yield glob


def matches(glob: str, path: str, *, anchored: bool = True) -> bool:
    """Return whether a glob matches a path; from any folder on unless it's `anchored`."""
    # A bracket that nothing closes stands for itself.
    closed = glob.rfind("]") + 1
    written = glob[:closed] + glob[closed:].replace("[", r"\[")
    head = "/" if anchored or glob.startswith("/") else "**/"
    patterns, _ = compile_patterns((head + written.removeprefix("./").lstrip("/"),))
    folder, slash, name = path.rpartition("/")
    return patterns.last(encoded(folder + slash), subject_of(name, is_folder=False)) is not None
