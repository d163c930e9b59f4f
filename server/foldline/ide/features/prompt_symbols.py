"""Document symbols: prompts with their section trees, and sections outside of prompts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from enum import StrEnum
from operator import itemgetter
from typing import NamedTuple

from foldline.ide.analysis.model import SourceSpan, Span, StaticSection, Visibility
from foldline.ide.analysis.module_analysis import ModuleAnalysis
from foldline.ide.analysis.section_tree import described, is_gone, span_of
from foldline.records import record


class SymbolKind(StrEnum):
    """The kind of a symbol."""

    PROMPT = "prompt"
    SECTION = "section"
    SUMMARY = "summary"
    CHAPTER = "chapter"


class Symbol(NamedTuple):
    """A prompt or a section; `range` contains `selection` and the children.

    A section declared outside of its parent appears in the parent as a `reference`, at the name or
    call that stands for it.
    """

    name: str
    detail: str
    kind: SymbolKind
    range: Span
    selection: Span
    children: tuple[Symbol, ...] = ()
    reference: bool = False

    def walk(self) -> Iterator[Symbol]:
        yield self
        for child in self.children:
            yield from child.walk()


def symbols(analysis: ModuleAnalysis) -> tuple[Symbol, ...]:
    """Return the outline of a file's prompts; other servers list everything else."""
    prompts = tuple(_prompts(analysis))
    inside = {
        symbol.range for prompt in prompts for symbol in prompt.walk() if not symbol.reference
    }
    loose = tuple(_loose(analysis, inside))
    # The tree lacks sections that a prompt holds only perhaps: these are nested by their range.
    within = _Within(loose)
    nested = [
        prompt._replace(children=(*prompt.children, *within.range(prompt.range)))
        for prompt in prompts
    ]
    alone = [symbol for symbol in loose if id(symbol) not in within.nested_ids]
    return tuple(sorted([*nested, *alone], key=lambda symbol: symbol.range))


class _Within:
    """Finds the symbols within a range, in their order; `nested_ids` has those that it found."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._placed = sorted(enumerate(symbols), key=_start)
        self.nested_ids: set[int] = set()

    def range(self, span: Span) -> list[Symbol]:
        low = bisect_left(self._placed, span.start, key=_start)
        high = bisect_right(self._placed, span.end, key=_start)
        inside = [item for item in self._placed[low:high] if span.covers(item[1].range)]
        self.nested_ids.update(id(symbol) for _, symbol in inside)
        return [symbol for _, symbol in sorted(inside, key=itemgetter(0))]


def _start(item: tuple[int, Symbol]) -> int:
    return item[1].range.start


def _prompts(analysis: ModuleAnalysis) -> Iterator[Symbol]:
    for prompt in analysis.module.prompts:
        first = prompt.sections[0].range if prompt.sections else prompt.range
        # A bound prompt has the tree of its template, which is listed itself.
        own_tree = not prompt.bound or prompt.range.covers(first)
        outer = _Outer(analysis.file, prompt.range, prompt.name_range)
        yield Symbol(
            name=prompt.name,
            detail=f"{prompt.ns}/{prompt.key}" if prompt.ns or prompt.key else "",
            kind=SymbolKind.PROMPT,
            range=prompt.range,
            selection=prompt.name_range,
            children=tuple(_section(section, outer) for section in prompt.sections)
            if own_tree
            else (),
        )


@record
class _Outer:
    """The range that a section must be within."""

    file: str
    range: Span
    selection: Span

    def holds(self, place: SourceSpan) -> bool:
        return place.file == self.file and self.range.covers(place.span)


def _section(section: StaticSection, outer: _Outer) -> Symbol:
    kind = SymbolKind.SECTION
    if section.kind == "chapter":
        kind = SymbolKind.CHAPTER
    elif section.visibility is Visibility.SUMMARY:
        kind = SymbolKind.SUMMARY
    title = section.title or section.key or "section"
    name = f"{section.number}. {title}" if section.number else title
    here = outer.holds(section.source)
    if here:
        span = section.source.span
        chosen = section.selection
        inner = chosen.file == outer.file and span.covers(chosen.span)
        selection = chosen.span if inner else span
    else:
        span = selection = section.use.span if outer.holds(section.use) else outer.selection
    # A section declared elsewhere in this file has its own entry, with its children.
    shown = here or section.source.file != outer.file
    within = _Outer(outer.file, span, selection)
    return Symbol(
        name=name,
        detail=".".join(section.path) if section.key else "",
        kind=kind,
        range=span,
        selection=selection,
        children=tuple(_section(child, within) for child in section.children) if shown else (),
        reference=not here,
    )


def _loose(analysis: ModuleAnalysis, inside: set[Span]) -> Iterator[Symbol]:
    """Yield the outermost sections that no prompt of the file contains."""
    for facts in analysis.facts:
        spans: dict[Span, StaticSection] = {}
        for section in facts.sections:
            outer_span = span_of(section.node)
            shown = outer_span.file == analysis.file and outer_span.span not in inside
            if shown and not is_gone(section.node):
                spans.setdefault(outer_span.span, described(section))
        inner = _inner(spans)
        for span, outermost in spans.items():
            if span not in inner:
                yield _section(outermost, _Outer(analysis.file, span, span))


def _inner(spans: Iterable[Span]) -> set[Span]:
    """Return the spans that another one covers."""
    inner_spans: set[Span] = set()
    end = -1
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.end <= end:
            inner_spans.add(span)
        end = max(end, span.end)
    return inner_spans
