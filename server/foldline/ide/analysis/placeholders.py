"""The placeholders of template text, with their source locations."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from foldline.ide.analysis.source_map import MappedText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.analysis.values import SectionValue


@dataclass(frozen=True, slots=True, eq=False)
class TemplateText:
    """A section's `template` or `summary` (its `role`), dedented and stripped as it renders."""

    section: SectionValue
    role: str
    mapped: MappedText
    written: MappedText
    """The text before it is dedented and stripped."""
    placeholders: tuple[Placeholder, ...]


@dataclass(frozen=True, slots=True, eq=False)
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
    def file(self) -> str:
        return self.mapped.file_at(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class ShownText:
    """A text as a section shows it, dedented and stripped, and its placeholders."""

    mapped: MappedText
    placeholders: tuple[Placeholder, ...]


def shown(written: MappedText) -> ShownText:
    """Return what a section shows of a text; made once, as long as the text stays."""
    found = written.shown
    if found is None:
        mapped = written.dedent().strip()
        if mapped is written:
            # In a circle, texts would wait for the garbage collector.
            mapped = MappedText(written.text, written.runs)
        found = ShownText(mapped, tuple(placeholders(mapped)))
        object.__setattr__(written, "shown", found)
    return found


def texts_of(section: SectionValue) -> Iterator[TemplateText]:
    """Yield a section's template texts."""
    if section.kind == "chapter":
        return
    for role in ("template", "summary"):
        written = section.text(role)
        if written is not None:
            text = shown(written)
            yield TemplateText(section, role, text.mapped, written, text.placeholders)


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
