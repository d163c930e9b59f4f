"""The new prompt as it will be written."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from foldline.backends.base.near_names import free_name
from foldline.plugins.adopt.model import Field, Fields, Kind, Original
from foldline.plugins.adopt.sections import Section, Splitter, indented

_LONGEST_KEY = 48
_TAKEN = {"dataclass", "heading", "joined", "or_else", "section", "params", *dir(builtins)}
_CLASSES = {
    *("Annotated", "EachSection", "Heading", "MarkdownSection", "PromptTemplate", "HEADINGS"),
    *("None", "True", "False"),
}


@dataclass(slots=True)
class Plan:
    """A prompt to write: its variable, and the dataclass of its parameters."""

    original: Original
    variable: str
    class_name: str
    sections: list[Section]
    fields: list[Field]
    notes: list[str] = field(default_factory=list)
    shared: str = ""
    """The module that it imports sections from."""

    def walk(self) -> Iterator[Section]:
        """Yield all sections, parents first."""
        for section in self.sections:
            yield from section.walk()

    def all_fields(self) -> Iterator[Field]:
        """Yield the fields of all dataclasses."""
        for one in self.fields:
            yield one
            if one.items is not None:
                yield from one.items.fields.all

    def of_kind(self, kind: Kind) -> list[Field]:
        """Return the fields of all dataclasses whose values have this origin."""
        return [one for one in self.all_fields() if one.kind is kind]

    @property
    def remainders(self) -> int:
        """The number of parts that no section can show."""
        return len(self.of_kind(Kind.REMAINDER))

    @property
    def left_out(self) -> int:
        """The number of messages that aren't in it."""
        return sum(lost.startswith("message") for lost in self.original.lost)


def plan(original: Original) -> Plan:
    """Return the new prompt for one that was read."""
    name = original.name.rpartition(".")[2] or original.name
    variable = _variable(name)
    class_name = "".join(map(str.capitalize, variable.split("_"))) + "Params"
    fields = Fields(original.guesses, {"_number"})
    splitter = Splitter(fields, {class_name, *_CLASSES})
    sections: list[Section] = []
    for message in original.messages:
        sections += splitter.split(message.nodes, message.role)
    fields.settle()
    used = {name for section in sections for part in section.walk() for name in _used(part)}
    shown = [one for one in fields.all if one.name in used]
    result = Plan(original, variable, class_name, sections, shown)
    _name_sections(result)
    for section in result.walk():
        for one in indented(section):
            result.notes.append(
                f"`${{{one}}}` is on an indented line: further lines of its value get that "
                "indentation, too"
            )
    return result


def _used(section: Section) -> Iterator[str]:
    """Yield the fields of the parameters that a section needs."""
    yield from re.findall(r"\bparams\.(\w+)", section.enabled)
    yield from section.fields if section.items is None else (section.items.name,)


def _variable(name: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower() or "prompt"
    variable = words if words[0].isalpha() else f"prompt_{words}"
    return f"{variable}_prompt" if keyword.iskeyword(variable) or variable in _TAKEN else variable


def _name_sections(plan: Plan) -> None:
    """Give each section a unique key, by which its heading is looked up."""
    taken: set[str] = set()
    titles: set[str] = set()
    for section in plan.walk():
        if not section.title.strip() or not section.title.isprintable():
            section.title = "Section"
        words = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-") or "section"
        key = words[:_LONGEST_KEY].strip("-")
        section.key = free_name(key, taken, "-")
        taken.add(section.key)
        number = section.key.removeprefix(key).removeprefix("-")
        if section.heading is None and section.title in titles and number:
            section.title = f"{section.title} {number}"
        titles.add(section.title)
