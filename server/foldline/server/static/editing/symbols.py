"""Symbols: each prompt with its section tree, and sections and params that stand by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from foldline.server.static.model import Span, Visibility
from foldline.server.static.trees import span_of
from foldline.server.static.values import SectionValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.server.static.analysis import ModuleAnalysis
    from foldline.server.static.model import StaticPrompt, StaticSection


class SymbolKind(StrEnum):
    """What a symbol is."""

    PROMPT = "prompt"
    SECTION = "section"
    SUMMARY = "summary"
    CHAPTER = "chapter"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A prompt or a section; `selection` lies within `range`, and children may lie anywhere."""

    name: str
    detail: str
    kind: SymbolKind
    range: Span
    selection: Span
    children: tuple[Symbol, ...] = ()

    def walk(self) -> Iterator[Symbol]:
        yield self
        for child in self.children:
            yield from child.walk()


def symbols(analysis: ModuleAnalysis) -> tuple[Symbol, ...]:
    """The outline of a file's prompts; of nothing else, which other servers know better."""
    return tuple(_symbols(analysis))


def _symbols(analysis: ModuleAnalysis) -> Iterator[Symbol]:
    inside: set[Span] = set()
    for prompt in analysis.module.prompts:
        first = prompt.sections[0].range if prompt.sections else prompt.range
        if prompt.bound and not prompt.range.covers(first):
            # The tree is that of the template, which is listed itself.
            yield _prompt(prompt, analysis.file, ())
            continue
        inside.update(section.range for section in prompt.walk())
        yield _prompt(prompt, analysis.file, prompt.sections)
    for facts in analysis.facts:
        for section in facts.sections:
            own = span_of(section.node)
            loose = own.file == analysis.file and own.span not in inside
            if loose and _is_outermost(section, facts.sections):
                yield _loose(section)


def _is_outermost(section: SectionValue, others: tuple[SectionValue, ...]) -> bool:
    span = span_of(section.node).span
    return not any(
        other is not section and (outer := span_of(other.node).span) != span and outer.covers(span)
        for other in others
    )


def _prompt(prompt: StaticPrompt, file: str, sections: tuple[StaticSection, ...]) -> Symbol:
    return Symbol(
        name=prompt.name,
        detail=f"{prompt.ns}/{prompt.key}" if prompt.ns or prompt.key else "",
        kind=SymbolKind.PROMPT,
        range=prompt.range,
        selection=prompt.name_range,
        children=tuple(_section(section, file) for section in sections),
    )


def _section(section: StaticSection, file: str) -> Symbol:
    whole, selection = section.source.span, section.selection.span
    if section.source.file != file:
        whole = selection = section.use.span
    elif section.selection.file != file or not whole.covers(selection):
        selection = whole
    kind = SymbolKind.SECTION
    if section.kind == "chapter":
        kind = SymbolKind.CHAPTER
    elif section.visibility is Visibility.SUMMARY:
        kind = SymbolKind.SUMMARY
    title = section.title or section.key or "section"
    return Symbol(
        name=f"{section.number}. {title}" if section.number else title,
        detail=".".join(section.path),
        kind=kind,
        range=whole,
        selection=selection,
        children=tuple(_section(child, file) for child in section.children),
    )


def _loose(section: SectionValue) -> Symbol:
    whole = span_of(section.node)
    selection = span_of(section.class_node)
    for name in ("key", "title"):
        argument = section.arguments.get(name)
        if argument is not None:
            place = span_of(argument.node)
            if place.file == whole.file and whole.span.covers(place.span):
                selection = place
                break
    return Symbol(
        name=section.title or section.key or section.class_name,
        detail=section.key,
        kind=SymbolKind.CHAPTER if section.kind == "chapter" else SymbolKind.SECTION,
        range=whole.span,
        selection=selection.span,
        children=tuple(
            _loose(item.value)
            for item in section.children.items
            if isinstance(item.value, SectionValue) and item.value.node.file == whole.file
        ),
    )
