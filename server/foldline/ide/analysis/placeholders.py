"""The placeholders of template text, with their source locations."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.analysis.source_map import MappedText
from foldline.prompts import EachSection, ExamplesSection
from foldline.prompts.forms.templating import line_indent
from foldline.prompts.sections.listing import LEFT_OUT, TOTAL
from foldline.prompts.sections.task import TASK_BLOCKS
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.values import Dataclass, Nothing, SectionValue, Unknown


TEXT_ROLES = ("template", "summary")
"""The arguments of a section that are template texts."""

LIST_ROLES = ("empty", "more")
"""The template texts of a section that shows a list, besides those."""

ITEMS = "items"
"""The role of the name of a list's field: as a whole, it is like a placeholder."""


@record(eq=False)
class TemplateText:
    """A template text of a section, dedented and stripped as it renders; `role` is its argument."""

    section: SectionValue
    role: str
    mapped: MappedText
    written: MappedText
    """The text before it is dedented and stripped."""
    placeholders: tuple[Placeholder, ...]

    @property
    def owner(self) -> Dataclass | Nothing | Unknown:
        """The dataclass whose fields the placeholders name."""
        return self.section.named_by(self.role)

    @property
    def computed(self) -> tuple[str, ...]:
        """The placeholders that the section computes."""
        return computed_by(self.section.kind, self.role)


@record(eq=False)
class Placeholder:
    """`${name}` or `$name`; a `$` that starts neither has an empty name.

    The offsets count code points of the mapped text.
    """

    name: str
    mapped: MappedText
    start: int
    end: int
    name_start: int
    name_end: int

    @property
    def source(self) -> SourceSpan | None:
        """Source location of the placeholder; None in the library's own text."""
        return self.mapped.place(self.start, self.end)

    @property
    def name_source(self) -> SourceSpan | None:
        """Source location of the name, without `$` and braces."""
        return self.mapped.place(self.name_start, self.name_end)

    @property
    def indent(self) -> str | None:
        """The blanks that its line begins with; None if code decides what stands before it."""
        indent = line_indent(self.mapped.text, self.start)
        line = self.mapped.text.rfind("\n", 0, self.start) + 1
        return None if self.mapped.dynamic_in(line, self.start) else indent

    @property
    def file(self) -> str:
        return self.mapped.file_at(self.start)


@record(eq=False)
class ShownText:
    """A text as a section shows it, dedented and stripped, and its placeholders."""

    mapped: MappedText
    placeholders: tuple[Placeholder, ...]


def shown(written: MappedText) -> ShownText:
    """Return a text as a section shows it; computed once in the lifetime of the text."""
    shown_text = written.shown
    if shown_text is None:
        mapped = written.dedent().strip()
        if mapped is written:
            # Avoid a cycle, which only the garbage collector frees.
            mapped = MappedText(written.text, written.runs)
        shown_text = ShownText(mapped, tuple(placeholders(mapped)))
        object.__setattr__(written, "shown", shown_text)
    return shown_text


def parts(text: ShownText) -> Iterator[Placeholder | Span]:
    """Yield the placeholders of a text, and the spans around them, in order."""
    at = 0
    for placeholder in text.placeholders:
        if placeholder.name:
            if placeholder.start > at:
                yield Span(at, placeholder.start)
            yield placeholder
            at = placeholder.end
    if at < len(text.mapped.text):
        yield Span(at, len(text.mapped.text))


def texts_of(section: SectionValue) -> Iterator[TemplateText]:
    """Yield a section's template texts, and the name of a list's field."""
    if section.kind == "chapter":
        return
    for role in roles_of(section):
        written = section.text(role)
        if written is not None:
            text = shown(written)
            yield TemplateText(section, role, text.mapped, written, text.placeholders)
    name = section.text(ITEMS) if section.item is not None else None
    if name is not None and not name.dynamic:
        end = len(name.text)
        placeholder = Placeholder(name.text, name, 0, end, 0, end)
        yield TemplateText(section, ITEMS, name, name, (placeholder,))


def roles_of(section: SectionValue) -> tuple[str, ...]:
    """Return the arguments of a section that are template texts."""
    return TEXT_ROLES if section.item is None else (*TEXT_ROLES, *LIST_ROLES)


def computed_by(kind: str, role: str) -> tuple[str, ...]:
    """Return the placeholders that a section of this kind computes for one of its texts."""
    if kind == "task":
        return tuple(TASK_BLOCKS)
    if role == "template":
        return _OF_ITEMS.get(kind, ())
    return (LEFT_OUT, TOTAL) if role == "more" and kind in _OF_ITEMS else ()


_OF_ITEMS = {
    "each": EachSection.derived_item_placeholders,
    "examples": ExamplesSection.derived_item_placeholders,
}


def placeholders(mapped: MappedText) -> Iterator[Placeholder]:
    """Yield the placeholders of a text in order; `$$` and dynamic parts have none."""
    for match in Template.pattern.finditer(mapped.text):
        if match["escaped"] is not None:
            continue
        start, end = match.span()
        if mapped.dynamic_in(start, end + 1):
            continue
        if match["invalid"] is not None:
            yield Placeholder("", mapped, start, start + 1, start, start + 1)
            continue
        group = "named" if match["named"] else "braced"
        yield Placeholder(match[group], mapped, start, end, *match.span(group))
