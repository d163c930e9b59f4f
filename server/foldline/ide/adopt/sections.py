"""Splits nodes into sections: by headings, conditions and loops."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from foldline.ide.adopt.model import (
    MARK,
    Field,
    Fields,
    For,
    If,
    Items,
    Kind,
    Node,
    Slot,
    Test,
    Text,
    changed,
    field_name,
    free_name,
    joined,
    unmarked,
)
from foldline.ide.adopt.write import expression, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<title>\S[^\n]*?)[ \t]*\Z")
_TAG = re.compile(r"<(?P<title>[A-Za-z][\w-]*)>[ \t]*\Z")
_MARKED = re.compile(
    r"(?:\*\*(?P<bold>[^*\n]{2,60})\*\*:?|~~~(?P<tildes>[^~\n`]{2,60})~~~|"
    r"={3,}[ ]*(?P<equals>[^=\n]{2,60}?)[ ]*={3,})[ \t]*\Z"
)
_BELOW_HEADINGS = 8
"""The level of what isn't a Markdown heading: below all of those, beside its like."""
_FENCE = re.compile(r"[ ]{0,3}(```+|~~~+)")

IN_ITEM = "it is within the text of an item, and that has no conditions or loops"
INLINE_IF = "the condition is within a line, and sections are whole lines"
INLINE_FOR = "the loop is within a line, and sections are whole lines"
INDENTED = "its text is indented, and that of a section begins in the first column"
OTHERWISE = "its `{% else %}` has more than text"
OTHER_ITEMS = "another loop over the same list names its items differently"


@dataclass(frozen=True, slots=True)
class Condition:
    """A test over the fields, and how the source has it."""

    text: str
    source: str


Conditions: TypeAlias = tuple[Condition, ...]
Edges: TypeAlias = tuple[bool, bool]
"""A line begins before some nodes; a line ends after them."""


@dataclass(slots=True)
class Section:
    """A section of the new prompt.

    Attributes:
        heading: The line of the source that is the section's heading; None without one.
        text: The template.
        fields: The names of the fields in the template.
        each: The list that the section shows, the text between two items, and that without any.
    """

    title: str
    heading: str | None = None
    level: int = 9
    text: str = ""
    fields: tuple[str, ...] = ()
    conditions: Conditions = ()
    each: tuple[Field, str, str] | None = None
    role: str | None = None
    key: str = ""
    children: list[Section] = field(default_factory=list)
    shared: str = ""
    """The constant that has it, for several prompts."""

    def walk(self) -> Iterator[Section]:
        """Yield this section and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(slots=True)
class Splitter:
    """Makes sections, and registers the fields that they need."""

    fields: Fields
    class_names: set[str]
    found: list[Section] = field(default_factory=list)

    def split(self, nodes: Sequence[Node], role: str | None) -> list[Section]:
        """Return the sections of one message, nested by the levels of their headings."""
        self.found = []
        self._blocks(nodes, (), (True, True))
        found = _merged(self.found)
        for section in found:
            section.role = role
        return _nested(found)

    # Blocks

    def _blocks(self, nodes: Sequence[Node], conditions: Conditions, edges: Edges) -> None:
        """Add the sections of nodes.

        Raises:
            NotRepresentableError: No section can show their text.
        """
        kept: set[int] = set()
        saved = self._saved()
        while (last := self._attempt(nodes, conditions, edges, kept)) is not None:
            # The text below a block can't begin a section: the block stays in the text.
            self._restore(saved)
            if last < 0:
                raise NotRepresentableError(INDENTED)
            kept.add(last)
            saved = self._saved()

    def _attempt(
        self, nodes: Sequence[Node], conditions: Conditions, edges: Edges, kept: set[int]
    ) -> int | None:
        """Add the sections of nodes; return the block (-1: none) below which no section can begin.

        The blocks at the places `kept` stay in the text around them.
        """
        body: list[Text | Slot] = []
        last = -1
        for place, node in enumerate(nodes):
            shown = _listed(node) or node
            if isinstance(shown, Text | Slot):
                body.append(shown)
                continue
            before = _is_clear(nodes[:place], edges[0], after=True)
            after = _is_clear(nodes[place + 1 :], edges[1], after=False)
            saved, reason = self._saved(), INDENTED
            if place not in kept:
                if not self._flush(body, conditions):
                    return last
                try:
                    if isinstance(shown, If):
                        self._if(shown, conditions, (before, after))
                    else:
                        self._for(shown, conditions, (before, after))
                    body, last = [], place
                    continue
                except NotRepresentableError as error:
                    reason = str(error)
            # Undo the partial sections: the block becomes a field of the text around it.
            self._restore(saved)
            body = _with_remainder(body, shown, reason)
        return None if self._flush(body, conditions) else last

    def _saved(self) -> tuple[int, set[str], list[Field]]:
        return len(self.found), set(self.class_names), [replace(one) for one in self.fields.all]

    def _restore(self, saved: tuple[int, set[str], list[Field]]) -> None:
        length, self.class_names, self.fields.all = saved
        del self.found[length:]

    def _if(self, node: If, conditions: Conditions, around: Edges) -> None:
        """Add the sections of a condition.

        Raises:
            NotRepresentableError: There can't be any, with the reason.
        """
        earlier: Conditions = ()
        for test, nodes in node.branches:
            edges = _edges(nodes, around)
            if nodes and not all(edges):
                raise NotRepresentableError(INLINE_IF)
            own = earlier
            if test is not None:
                condition = self._condition(test)
                own = (*earlier, condition)
                earlier = (*earlier, _negated(condition))
            self._blocks(nodes, (*conditions, *own), edges)
        if not any(around):
            raise NotRepresentableError(INLINE_IF)

    def _for(self, node: For, conditions: Conditions, around: Edges) -> None:
        """Add the section of a loop.

        Raises:
            NotRepresentableError: There can't be one, with the reason.
        """
        text, separator = self._item_nodes(node.body)
        if not (all(_edges(node.body, around)) and any(around) and separator):
            raise NotRepresentableError(INLINE_FOR)
        if not _is_representable(text):
            raise NotRepresentableError(INDENTED)
        plain = _stripped(node.otherwise)
        if not all(isinstance(part, Text) for part in plain) or not _is_representable(plain):
            raise NotRepresentableError(OTHERWISE)
        name = self._class_name(node)
        items = Items(name, node.head, Fields(reserved={"_number"}))
        shown = Slot(node.items, Kind.VALUE if node.is_plain else Kind.COMPUTED)
        owner = self.fields.add(shown, f"tuple[{name}, ...]")
        if owner.items is not None:
            # Another loop over the same list: its items have what both show.
            if owner.items.head != node.head:
                raise NotRepresentableError(OTHER_ITEMS)
            items, name = owner.items, owner.items.class_name
        owner.items = items
        template, used = _template(text, partial(_item_name, items.fields, node.names))
        self.class_names.add(name)
        self.found.append(
            Section(
                _titled(owner.name),
                text=template,
                fields=tuple(used),
                conditions=conditions,
                each=(owner, separator, escaped(joined(plain))),
            )
        )

    def _item_nodes(self, body: Sequence[Node]) -> tuple[list[Node], str]:
        """Return an item's nodes as texts and slots, and the text between two items."""
        parts: list[Text | Slot] = []
        for node in body:
            if isinstance(node, Text | Slot):
                parts.append(node)
            else:
                parts = _with_remainder(parts, node, IN_ITEM)
        text = joined(parts)
        rest = re.sub(r"\A(?:[ \t]*\n)*", "", text)
        lead = text[: len(text) - len(rest)].count("\n")
        trail = len(rest) - len(rest.rstrip("\n"))
        return _stripped(parts), "\n" * (lead + trail)

    def _class_name(self, node: For) -> str:
        word = node.names[0] if len(node.names) == 1 else node.items
        name = "".join(part.title() for part in field_name(word).split("_")) or "Item"
        return free_name(name, self.class_names, "")

    def _condition(self, test: Test) -> Condition:
        text = ""
        for part in test.parts:
            if isinstance(part, str):
                text += part
                continue
            source, kind = part
            slot = Slot(source, Kind.VALUE if source.isidentifier() else Kind.COMPUTED)
            text += f"params.{self.fields.add(slot, kind).name}"
        return Condition(expression(text), test.source)

    # Texts

    def _flush(self, body: Sequence[Text | Slot], conditions: Conditions) -> bool:
        """Add the sections of a text; False if no section can show it."""
        if all(isinstance(node, Text) and not node.text.strip() for node in body):
            return True
        plain = _stripped(body)
        parts = list(_by_heading(plain))
        if not all(_is_representable(part) for _, part in parts):
            if not _is_representable(plain):
                return False
            parts = [(None, plain)]
        for place, (heading, part) in enumerate(parts):
            text, used = _template(part, self._name)
            section = Section("", text=text, fields=tuple(used), conditions=conditions)
            if heading is not None:
                tag = _TAG.match(heading)
                named = (_BELOW_HEADINGS, _titled(tag["title"])) if tag else _heading_of(heading)
                assert named is not None
                section.heading = heading
                section.level, section.title = named
            else:
                section.title = _untitled(section, len(self.found))
                # Below a closed tag, it stands beside what the tag enclosed.
                section.level = _BELOW_HEADINGS if place else section.level
            self.found.append(section)
        return True

    def _name(self, slot: Slot) -> str:
        """Return the name of a value in the prompt's own text."""
        kind = "shown" if slot.kind is Kind.VALUE else "str"
        if slot.form:
            shown = "tuple[str, ...]" if slot.form.startswith("joined(") else "str | None"
            kind = f"Annotated[{shown}, {slot.form}]"
        return self.fields.add(slot, kind).name


class NotRepresentableError(Exception):
    """No section can show this text; the message says why."""


def _item_name(fields: Fields, variables: tuple[str, ...], slot: Slot) -> str:
    """Return the name of a value in the text of a list's items."""
    if slot.source == "loop.index":
        return "_number"
    hint = slot.hint or slot.source
    for variable in variables:
        if hint.startswith(f"{variable}."):
            hint = hint[len(variable) + 1 :]
        elif hint == variable and len(variables) == 1:
            hint = "text"
    kind = slot.kind if slot.kind is Kind.REMAINDER else Kind.COMPUTED
    return fields.add(replace(slot, kind=kind, hint=hint)).name


def escaped(text: str) -> str:
    """Return a text as a template shows it."""
    return text.replace("$", "$$")


def _template(nodes: Sequence[Node], name_of: Callable[[Slot], str]) -> tuple[str, list[str]]:
    text, used = "", []
    for node in nodes:
        if isinstance(node, Text):
            text += escaped(node.text)
        elif isinstance(node, Slot):
            used.append(name_of(node))
            text += f"${{{used[-1]}}}"
    return text, used


def _listed(node: Node) -> Slot | None:
    """Return `${xs}` for a loop that does what `joined` does, within a line."""
    body = [part for part in node.body if part != Text("")] if isinstance(node, For) else []
    match node, body:
        case (
            For(names=(name,), items=items, otherwise=(), is_plain=True),
            [
                Slot(source=source),
                If(branches=((Test(source=test), (Text(text=separator),)),)),
            ],
        ) if source == name and test.split() == ["not", "loop.last"]:
            return Slot(items, form=f"joined({one_line(separator)})")
    return None


def _with_remainder(body: Sequence[Text | Slot], node: If | For, reason: str) -> list[Text | Slot]:
    """Return a text with a block below it that stays as it is, the blanks in front included."""
    last, blanks = body[-1] if body else None, ""
    if isinstance(last, Text):
        line = last.text[last.text.rfind("\n") + 1 :]
        if not line.strip() and (len(body) == 1 or "\n" in last.text):
            blanks = line
            body = [*body[:-1], Text(last.text.removesuffix(line))]
    if isinstance(node, For):
        hint = f"each {node.items}"
    else:
        hint = f"if_{next(test for test, _ in node.branches if test is not None).source}"
    return [*body, Slot(blanks + node.source, Kind.REMAINDER, reason, hint)]


def _is_clear(nodes: Sequence[Node], is_outside: bool, *, after: bool) -> bool:
    """Return True if a line begins after the nodes, or else ends before them, whatever they show.

    `is_outside` says so of the text beyond them.
    """
    for place in reversed(range(len(nodes))) if after else range(len(nodes)):
        node = nodes[place]
        if isinstance(node, Text):
            if text := node.text.strip(" \t"):
                return (text[-1] if after else text[0]) == "\n"
        elif isinstance(node, Slot):
            return False
        else:
            rest = nodes[:place] if after else nodes[place + 1 :]
            is_beyond = _is_clear(rest, is_outside, after=after)
            parts = [part for _, part in node.branches] if isinstance(node, If) else [node.body]
            return is_beyond and all(_is_clear(part, is_beyond, after=after) for part in parts)
    return is_outside


def _edges(nodes: Sequence[Node], around: Edges) -> Edges:
    """Return `Edges` of what a block encloses."""
    starts = around[0] or _is_clear(nodes, False, after=False)
    return starts, around[1] or _is_clear(nodes, False, after=True)


def _stripped(nodes: Iterable[Node]) -> list[Node]:
    """Return nodes without the empty lines around them, and without blanks at their end."""
    return changed(nodes, lambda text: re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip())


def _is_representable(nodes: Sequence[Node]) -> bool:
    """Return True if a template of these nodes is what a section shows."""
    text = joined(nodes)
    lines = [line if line.strip() else "" for line in text.split("\n")]
    return textwrap.dedent(text).strip() == "\n".join(lines)


def _by_heading(nodes: list[Node]) -> Iterator[tuple[str | None, list[Node]]]:
    """Yield the headings and what is below each, without the empty lines between them."""
    slots = iter([node for node in nodes if not isinstance(node, Text)])

    def nodes_of(lines: list[str]) -> list[Node]:
        parts = unmarked("\n".join(lines), slots)
        return _stripped(Text(part) if isinstance(part, str) else part for part in parts)

    parts: list[tuple[str | None, list[str]]] = [(None, [])]
    fence, closing = "", -1
    every = joined(nodes).split("\n")
    for place, line in enumerate(every):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)) and not _heading_of(line):
            fence = "" if fence else mark[1][:3]
        tag_end = -1 if fence or place < closing else _closing(every, place)
        if tag_end > 0 or (not fence and place > closing and _heading_of(line)):
            parts.append((line.rstrip(), []))
            closing = max(closing, tag_end)
            continue
        parts[-1][1].append(line)
        if place == closing:
            parts.append((None, []))
    for heading, lines in parts:
        if heading is not None or any(line.strip() for line in lines):
            yield heading, nodes_of(lines)


def _heading_of(line: str) -> tuple[int, str] | None:
    """Return the level and the title of a line that is a heading; None for another line."""
    if MARK in line:
        return None
    if (match := _HEADING.match(line)) is not None:
        title = match["title"].rstrip("#").strip() or match["title"]
        return (len(match["marks"]), title) if match["title"].strip("# \t") else None
    if (match := _MARKED.match(line)) is not None:
        title = next(filter(None, match.groups())).strip(": ")
        return (_BELOW_HEADINGS, title) if title else None
    return None


def _closing(lines: list[str], place: int) -> int:
    """Return the line that closes the tag of a line, if there are no headings between; or -1."""
    tag = _TAG.match(lines[place])
    if tag is None:
        return -1
    end = f"</{tag['title']}>"
    for number, line in enumerate(lines[place + 1 :], place + 1):
        if line.rstrip() == end:
            return number if number > place + 1 else -1
        if _HEADING.match(line):
            return -1
    return -1


def indented(section: Section) -> list[str]:
    """Return the fields of a section whose values get the indentation of their line."""
    names = dict.fromkeys(section.fields)
    return [name for name in names if re.search(rf"^[ \t][^\n]*\$\{{{name}\}}", section.text, re.M)]


def _untitled(section: Section, place: int) -> str:
    if section.conditions:
        words = re.sub(r"[^A-Za-z0-9]+", " ", section.conditions[-1].source).strip()
        return _titled(field_name(words)) if words else "Condition"
    return "Task" if place == 0 else "More"


def _titled(name: str) -> str:
    return name.replace("_", " ").strip().capitalize()


_OPPOSITE = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}


def _negated(condition: Condition) -> Condition:
    text = f"not ({condition.text})"
    match ast.parse(condition.text, mode="eval").body:
        case ast.Compare(ops=[sign]) as node if opposite := _OPPOSITE.get(type(sign)):
            node.ops = [opposite()]
            text = ast.unparse(node)
    return Condition(expression(text), f"not ({condition.source})")


def _merged(sections: list[Section]) -> list[Section]:
    """Give a list the heading right above it."""
    found: list[Section] = []
    for section in sections:
        above = found[-1] if found else section
        is_heading = above.heading is not None and not above.text and above.each is None
        if section.each is not None and is_heading and above.conditions == section.conditions:
            section.heading, section.level = above.heading, above.level
            section.title = above.title
            found[-1] = section
        else:
            found.append(section)
    return found


def _nested(sections: list[Section]) -> list[Section]:
    top: list[Section] = []
    open_: list[Section] = []
    for section in sections:
        while open_ and not (
            open_[-1].level < section.level
            and open_[-1].heading is not None
            and section.conditions[: len(open_[-1].conditions)] == open_[-1].conditions
        ):
            open_.pop()
        (open_[-1].children if open_ else top).append(section)
        open_.append(section)
    return top
