"""Splits nodes into sections: by headings, conditions and loops.

Sections are whole lines. `_sections` gathers text and values in a body. A condition or a loop that
fills whole lines ends the body, and is sections of its own; any other stays in the body as a
remainder, code that fills in its text. `Splitter` then gives sections their fields, and nests them.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from foldline.backends.base.near_names import free_name
from foldline.backends.base.python_ast import parse_expression
from foldline.plugins.adopt import model
from foldline.plugins.adopt.write import expression, one_line
from foldline.records import record

_HEADING = re.compile(
    r"(?:(?P<marks>#{1,6})[ \t]+(?P<title>\S[^\n]*?)|<(?P<tag>[A-Za-z][\w-]*)>|"
    r"\*\*(?P<bold>[^*\n]{2,60})\*\*:?|~~~(?P<tildes>[^~\n`]{2,60})~~~|"
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


@record
class Condition:
    """A test that has to be true, or false."""

    test: model.Test
    is_negated: bool = False

    @property
    def source(self) -> str:
        """The condition in the words of the source."""
        return f"not ({self.test.source})" if self.is_negated else self.test.source


Conditions: TypeAlias = tuple[Condition, ...]
Edges: TypeAlias = tuple[bool, bool]
"""True if a line begins before some nodes, and True if a line ends after them."""
Body: TypeAlias = list[model.Text | model.Slot]


@dataclass(slots=True)
class Section:
    """A section of the new prompt.

    Attributes:
        nodes: What it shows.
        heading: The line of the source that is the section's heading; None without one.
        level: Of its heading, 1 to 8; 9 without one, so that it goes below any heading.
        loop: The list that it shows, the text between two items, and that without any.
        text: The template.
        fields: The names of the fields in the template.
        enabled: The conditions in Python; empty without any.
        items: The field of the list.
        shared: The constant that has it, for several prompts.
    """

    nodes: Sequence[model.Node]
    conditions: Conditions = ()
    heading: str | None = None
    level: int = 9
    title: str = ""
    loop: tuple[model.For, str, str] | None = None
    text: str = ""
    fields: tuple[str, ...] = ()
    enabled: str = ""
    items: model.Field | None = None
    role: str | None = None
    key: str = ""
    children: list[Section] = field(default_factory=list)
    shared: str = ""

    def walk(self) -> Iterator[Section]:
        """Yield this section and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(slots=True)
class Splitter:
    """Makes sections, and registers the fields that they need."""

    fields: model.Fields
    class_names: set[str]
    tests: dict[int, str] = field(default_factory=dict)

    def split(self, nodes: Sequence[model.Node], role: str | None) -> list[Section]:
        """Return the sections of one message, nested by the levels of their headings.

        Raises:
            NotRepresentableError: No section can show its text.
        """
        sections: list[Section] = []
        for index, section in enumerate(_sections(nodes, (), (True, True))):
            above = sections[-1] if sections else section
            is_bare = above.heading is not None and not above.nodes and above.loop is None
            if section.loop and is_bare and above.conditions == section.conditions:
                # A list has the heading right above it.
                section.heading, section.level = above.heading, above.level
                section.title = above.title
                sections.pop()
            section.role = role
            self._fill(section, index)
            sections.append(section)
        return _nested(sections)

    def _fill(self, section: Section, place: int) -> None:
        """Give a section the fields that it needs, its text, and a title if it has none."""
        tests = " and ".join(f"({self._test(one)})" for one in section.conditions)
        section.enabled = expression(tests) if tests else ""
        name_of = self._name
        if section.loop is not None:
            section.items = self._items(section.loop[0])
            assert section.items.items is not None
            name_of = partial(_item_name, section.items.items.fields, section.loop[0].names)
            section.title = section.title or _titled(section.items.name)
        for node in section.nodes:
            if isinstance(node, model.Text):
                section.text += escaped(node.text)
            elif isinstance(node, model.Slot):
                section.fields += (name_of(node),)
                section.text += f"${{{section.fields[-1]}}}"
        section.title = section.title or _untitled(section, place)

    def _test(self, condition: Condition) -> str:
        # One test may be that of several sections.
        if (text := self.tests.get(id(condition.test))) is None:
            text = "".join(
                part if isinstance(part, str) else f"params.{self._tested(*part)}"
                for part in condition.test.parts
            )
            self.tests[id(condition.test)] = text
        return _negated(text) if condition.is_negated else text

    def _tested(self, source: str, kind: str) -> str:
        slot = model.Slot(
            source, model.Kind.VALUE if source.isidentifier() else model.Kind.COMPUTED
        )
        return self.fields.add(slot, kind).name

    def _items(self, loop: model.For) -> model.Field:
        """Return the field of a list; loops with the same head show the same items."""
        for existing in self.fields.all:
            if existing.items is not None and existing.items.head == loop.head:
                return existing
        word = loop.names[0] if len(loop.names) == 1 else loop.items
        name = "".join(part.title() for part in model.field_name(word).split("_")) or "Item"
        name = free_name(name, self.class_names, "")
        self.class_names.add(name)
        shown = model.Slot(loop.items, model.Kind.VALUE if loop.is_plain else model.Kind.COMPUTED)
        added = self.fields.add(shown, f"tuple[{name}, ...]")
        added.items = model.Items(name, loop.head, model.Fields(reserved={"_number"}))
        return added

    def _name(self, slot: model.Slot) -> str:
        """Return the name of a value in the prompt's own text."""
        kind = "shown" if slot.kind is model.Kind.VALUE else "str"
        if slot.form:
            shown = "tuple[str, ...]" if slot.form.startswith("joined(") else "str | None"
            kind = f"Annotated[{shown}, {slot.form}]"
        return self.fields.add(slot, kind).name


def _sections(nodes: Sequence[model.Node], conditions: Conditions, edges: Edges) -> list[Section]:
    """Return the sections of nodes, in order; `NotRepresentableError` where none shows a text."""
    done: list[tuple[Body, model.If | model.For, list[Section]]] = []
    body: Body = []

    def closed(body: Body) -> tuple[Body, list[Section]]:
        """Return a text and its sections; while none can show it, the block above becomes text."""
        while (by_text := _text_sections(body, conditions)) is None:
            if not done:
                raise NotRepresentableError(INDENTED)
            above, block, _ = done.pop()
            body = [*_with_remainder(above, block, INDENTED), *body]
        return body, by_text

    for index, node in enumerate(nodes):
        shown = _listed(node) or node
        if isinstance(shown, model.Text | model.Slot):
            body.append(shown)
            continue
        before = _is_clear(nodes[:index], edges[0], after=True)
        after = _is_clear(nodes[index + 1 :], edges[1], after=False)
        around = before, after
        try:
            if isinstance(shown, model.If):
                inner = _if_sections(shown, conditions, around)
            else:
                inner = _for_sections(shown, conditions, around)
        except NotRepresentableError as error:
            body = _with_remainder(body, shown, str(error))
        else:
            body, above = closed(body)
            done.append((body, shown, [*above, *inner]))
            body = []
    _, last = closed(body)
    return [*(section for _, _, sections in done for section in sections), *last]


def _if_sections(node: model.If, conditions: Conditions, around: Edges) -> list[Section]:
    """Return the sections of a condition; `NotRepresentableError` says why there are none."""
    earlier, sections = conditions, list[Section]()
    for test, nodes in node.branches:
        edges = _edges(nodes, around)
        if not any(around) or (nodes and not all(edges)):
            raise NotRepresentableError(INLINE_IF)
        conditions_here = earlier if test is None else (*earlier, Condition(test))
        sections += _sections(nodes, conditions_here, edges)
        earlier = earlier if test is None else (*earlier, Condition(test, is_negated=True))
    return sections


def _for_sections(node: model.For, conditions: Conditions, around: Edges) -> list[Section]:
    """Return the section of a loop; `NotRepresentableError` says why there is none."""
    parts: Body = []
    for part in node.body:
        if isinstance(part, model.Text | model.Slot):
            parts.append(part)
        else:
            parts = _with_remainder(parts, part, IN_ITEM)
    text, plain, shown = model.joined(parts), _stripped(node.otherwise), _stripped(parts)
    # The line breaks around an item are what separates it from the next.
    rest = re.sub(r"\A(?:[ \t]*\n)*", "", text)
    breaks = (text[: len(text) - len(rest)] + rest[len(rest.rstrip()) :]).count("\n")
    if not (all(_edges(node.body, around)) and any(around) and breaks):
        raise NotRepresentableError(INLINE_FOR)
    if not _is_representable(shown):
        raise NotRepresentableError(INDENTED)
    if not all(isinstance(part, model.Text) for part in plain) or not _is_representable(plain):
        raise NotRepresentableError(OTHERWISE)
    return [Section(shown, conditions, loop=(node, "\n" * breaks, escaped(model.joined(plain))))]


def _text_sections(body: Body, conditions: Conditions) -> list[Section] | None:
    """Return the sections of a text; None if no section can show it."""
    plain = _stripped(body)
    by_heading = list(_by_heading(plain, conditions))
    if all(_is_representable(section.nodes) for section in by_heading):
        return by_heading
    return [Section(plain, conditions)] if _is_representable(plain) else None


class NotRepresentableError(Exception):
    """No section can show this text; the message says why."""


def _item_name(fields: model.Fields, variables: tuple[str, ...], slot: model.Slot) -> str:
    """Return the name of a value in the text of a list's items."""
    if slot.source == "loop.index":
        return "_number"
    hint = slot.hint or slot.source
    for variable in variables:
        if hint.startswith(f"{variable}."):
            hint = hint[len(variable) + 1 :]
        elif hint == variable and len(variables) == 1:
            hint = "text"
    kind = slot.kind if slot.kind is model.Kind.REMAINDER else model.Kind.COMPUTED
    return fields.add(replace(slot, kind=kind, hint=hint)).name


def escaped(text: str) -> str:
    """Return a text as a template shows it."""
    return text.replace("$", "$$")


def _listed(node: model.Node) -> model.Slot | None:
    """Return `${xs}` for a loop that does what `joined` does, within a line."""
    body = (
        [part for part in node.body if part != model.Text("")]
        if isinstance(node, model.For)
        else []
    )
    match node, body:
        case (
            model.For(names=(name,), items=items, otherwise=(), is_plain=True),
            [
                model.Slot(source=source),
                model.If(branches=((model.Test(source=test), (model.Text(text=separator),)),)),
            ],
        ) if source == name and test.split() == ["not", "loop.last"]:
            return model.Slot(items, form=f"joined({one_line(separator)})")
    return None


def _with_remainder(
    body: Sequence[model.Text | model.Slot], node: model.If | model.For, reason: str
) -> list[model.Text | model.Slot]:
    """Return a text with a block below it that stays as it is, the blanks in front included."""
    last, blanks = body[-1] if body else None, ""
    if isinstance(last, model.Text):
        line = last.text[last.text.rfind("\n") + 1 :]
        if not line.strip() and (len(body) == 1 or "\n" in last.text):
            blanks = line
            body = [*body[:-1], model.Text(last.text.removesuffix(line))]
    if isinstance(node, model.For):
        hint = f"each {node.items}"
    else:
        hint = f"if_{next(test for test, _ in node.branches if test is not None).source}"
    return [*body, model.Slot(blanks + node.source, model.Kind.REMAINDER, reason, hint)]


def _is_clear(nodes: Sequence[model.Node], is_outside: bool, *, after: bool) -> bool:
    """Return True if a line begins after the nodes (with `after`), or ends before them.

    Blanks don't tell, and a block may show nothing: then the next node tells, and at last
    `is_outside`, which says so of the text beyond.
    """
    for index in reversed(range(len(nodes))) if after else range(len(nodes)):
        node = nodes[index]
        if isinstance(node, model.Text):
            if text := node.text.strip(" \t"):
                return (text[-1] if after else text[0]) == "\n"
        elif isinstance(node, model.Slot):
            return False
        else:
            # If it may show nothing, what is beyond it tells.
            parts = (
                [part for _, part in node.branches] if isinstance(node, model.If) else [node.body]
            )
            if not all(_is_clear(part, True, after=after) for part in parts):
                return False
    return is_outside


def _edges(nodes: Sequence[model.Node], around: Edges) -> Edges:
    """Return `Edges` of what a block encloses."""
    starts = around[0] or _is_clear(nodes, False, after=False)
    return starts, around[1] or _is_clear(nodes, False, after=True)


def _stripped(nodes: Iterable[model.Node]) -> list[model.Node]:
    """Return nodes without the empty lines around them, and without blanks at their end."""
    return model.changed(nodes, lambda text: re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip())


def _is_representable(nodes: Sequence[model.Node]) -> bool:
    """Return True if a template of these nodes is what a section shows."""
    text = model.joined(nodes)
    lines = [line if line.strip() else "" for line in text.split("\n")]
    return textwrap.dedent(text).strip() == "\n".join(lines)


def _by_heading(nodes: list[model.Node], conditions: Conditions) -> Iterator[Section]:
    """Yield a section for each heading, without the empty lines between them."""
    slots = iter([node for node in nodes if not isinstance(node, model.Text)])
    parts: list[tuple[Section, list[str]]] = [(Section((), conditions), [])]
    fence, closing = "", -1
    lines = model.joined(nodes).split("\n")
    for index, line in enumerate(lines):
        heading = _heading(lines, index)
        mark = _FENCE.match(line) if heading is None else None
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1][:3]
        if heading is not None and not fence and index > closing:
            level, title, closing = heading
            parts.append((Section((), conditions, line.rstrip(), level, title), []))
            continue
        parts[-1][1].append(line)
        if index == closing:
            # Below a closed tag, it stands beside what the tag enclosed.
            parts.append((Section((), conditions, level=_BELOW_HEADINGS), []))
    for section, lines_inside in parts:
        if section.heading is not None or any(line.strip() for line in lines_inside):
            shown = model.unmarked("\n".join(lines_inside), slots)
            section.nodes = _stripped(
                model.Text(one) if isinstance(one, str) else one for one in shown
            )
            yield section


def _heading(lines: Sequence[str], place: int) -> tuple[int, str, int] | None:
    """Return the level and title of a heading, and its last line, which is a tag's closing one.

    None for another line, and for a tag with nothing or with headings in it.
    """
    # A heading is one line by all of Python's line breaks, such as U+2028.
    is_plain = model.MARK not in lines[place] and len(lines[place].splitlines()) == 1
    match = _HEADING.match(lines[place]) if is_plain else None
    if match is None or not (title := match[match.lastgroup or 0].strip("#: \t")):
        return None
    if (tag := match["tag"]) is None:
        return len(match["marks"] or "#" * _BELOW_HEADINGS), title, place
    for number in range(place + 1, len(lines)):
        if lines[number].rstrip() == f"</{tag}>":
            is_empty = number == place + 1
            return None if is_empty else (_BELOW_HEADINGS, _titled(tag), number)
        if lines[number].startswith("#") and _HEADING.match(lines[number]):
            return None
    return None


def indented(section: Section) -> list[str]:
    """Return the fields of a section whose values get the indentation of their line."""
    names = dict.fromkeys(section.fields)
    return [name for name in names if re.search(rf"^[ \t][^\n]*\$\{{{name}\}}", section.text, re.M)]


def _untitled(section: Section, place: int) -> str:
    if section.conditions:
        words = re.sub(r"[^A-Za-z0-9]+", " ", section.conditions[-1].source).strip()
        return _titled(model.field_name(words)) if words else "Condition"
    tag = re.match(r"<(/?)([A-Za-z][\w-]*)>", section.text)
    if tag is not None:
        return f"{'End of ' if tag[1] else ''}{_titled(tag[2])}"
    return "Task" if place == 0 else "More"


def _titled(name: str) -> str:
    return name.replace("_", " ").strip().capitalize()


_OPPOSITE = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}


def _negated(text: str) -> str:
    match parse_expression(text):
        case ast.Compare(ops=[sign]) as node if opposite := _OPPOSITE.get(type(sign)):
            node.ops = [opposite()]
            return ast.unparse(node)
    return f"not ({text})"


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
