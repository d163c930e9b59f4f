"""Finds the placeholder, field, section or text at an offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.values import Dataclass, InstanceValue, SectionValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.model import Span
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.placeholders import Placeholder, TemplateText
    from foldline.ide.analysis.syntax import Name
    from foldline.ide.analysis.values import Field


@dataclass(frozen=True, slots=True, eq=False)
class PlaceholderAt:
    """A placeholder and the texts of all sections that share it."""

    placeholder: Placeholder
    texts: tuple[TemplateText, ...]

    @property
    def fields(self) -> tuple[tuple[Dataclass, Field], ...]:
        """The fields that it names, one per params type."""
        found: dict[object, tuple[Dataclass, Field]] = {}
        for text in self.texts:
            owner = text.owner
            if isinstance(owner, Dataclass):
                field = owner.field(self.placeholder.name)
                if field is not None:
                    found.setdefault(field.name or field.id, (owner, field))
        return tuple(found.values())


@dataclass(frozen=True, slots=True, eq=False)
class FieldAt:
    """The declaration of a field, or a keyword argument that sets it."""

    dataclass: Dataclass
    field: Field
    name: Name


def placeholder_at(analysis: ModuleAnalysis, offset: int) -> PlaceholderAt | None:
    """Return the placeholder at an offset."""
    found: Placeholder | None = None
    place: Span | None = None
    texts: list[TemplateText] = []
    for text in text_at(analysis, offset):
        for placeholder in text.placeholders:
            source = placeholder.source
            if source is None or source.file != analysis.file or not source.span.holds(offset):
                continue
            if found is None and placeholder.name:
                found, place = placeholder, source.span
            if found is not None and source.span == place:
                texts.append(text)
    return PlaceholderAt(found, tuple(texts)) if found is not None else None


def field_at(analysis: ModuleAnalysis, offset: int) -> FieldAt | None:
    """Return the field whose declaration or constructor keyword is at an offset."""
    for kind in analysis.dataclasses:
        for field in kind.fields:
            name = field.name
            if name is not None and name.file == analysis.file and _holds(name, offset):
                return FieldAt(kind, field, name)
    for name, kind, field in constructor_keywords(analysis):
        if _holds(name, offset):
            return FieldAt(kind, field, name)
    return None


def _holds(name: Name, offset: int) -> bool:
    return span_of(name).span.holds(offset)


def constructor_keywords(analysis: ModuleAnalysis) -> Iterator[tuple[Name, Dataclass, Field]]:
    """Yield the keywords of the file's constructor calls, with the fields that they set."""
    for facts in analysis.facts:
        for call in facts.calls:
            value = analysis.evaluator.value(call.node, call.scope)
            if not isinstance(value, InstanceValue) or value.node is not call.node:
                continue
            for keyword in call.node.keywords:
                if keyword.name is not None:
                    field = value.dataclass.field(keyword.name.id)
                    if field is not None:
                        yield keyword.name, value.dataclass, field


def sections_at(analysis: ModuleAnalysis, offset: int) -> tuple[SectionValue, ...]:
    """Return the sections that the innermost constructor call around an offset may make."""
    best: Span | None = None
    found: dict[int, SectionValue] = {}
    for facts in analysis.facts:
        if not facts.statement.start <= offset <= facts.statement.end:
            continue
        for section in facts.sections:
            if section.node.file != analysis.file:
                continue
            span = span_of(section.node).span
            if span.holds(offset) and (best is None or best.covers(span)):
                if span != best:
                    found.clear()
                best = span
                found[id(section)] = section
    return tuple(found.values())


def text_at(analysis: ModuleAnalysis, offset: int) -> tuple[TemplateText, ...]:
    """Return the template texts whose literals contain an offset."""
    return tuple(
        text for text in analysis.texts if text.written.offset_of(analysis.file, offset) is not None
    )
