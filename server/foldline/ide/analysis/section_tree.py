"""The section tree of a template: paths, numbers and source locations."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from foldline.ide.analysis.model import SourceSpan, StaticSection, Visibility
from foldline.ide.analysis.values import ROOTS, Item, Items, SectionValue, TemplateValue, kept
from foldline.prompts.layout import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.syntax import Node

_DEPTH = 32


def span_of(node: Node) -> SourceSpan:
    """Return the location of a node in its file."""
    low, high = node.anchor.range(node.start, node.end)
    return SourceSpan(node.anchor.file, low, max(low, high))


def is_gone(node: Node) -> bool:
    """Return True if an edit deleted the node while its statement keeps its last good nodes."""
    if node.anchor.statement.edit is None:
        return False
    low, high = node.anchor.range(node.start, node.end)
    return low >= high and node.start < node.end


def sections_of(template: TemplateValue) -> tuple[tuple[StaticSection, ...], bool]:
    """Return a template's sections, chapters last, and True if they are certainly all."""
    built = tuple(_built(template.rows, (), "", 0, count(1)))
    return built, _complete(template.rows) and not template.maybe


def described(section: SectionValue) -> StaticSection:
    """Return a section by itself, as a root: its path is its own key."""
    return _section(section, Item(section.node, section), (), None, 0)


def _complete(items: Items, depth: int = 0) -> bool:
    return (
        items.complete
        and depth < _DEPTH
        and all(
            isinstance(item.value, SectionValue)
            and not (item.maybe or item.value.maybe)
            and item.value.known("key") is not None
            and _complete(item.value.children, depth + 1)
            for item in items.items
        )
    )


def _built(
    items: Items, path: tuple[str, ...], number: str | None, depth: int, places: Iterator[int]
) -> Iterator[StaticSection]:
    """Yield the sections of one level; `number` is their parent's, None if that is unknown.

    A chapter dissolves when it opens, so its sections get the paths and the next `places` of the
    chapter's siblings; it has no number itself. Behind one that may stay closed, none is known.
    """
    if depth > _DEPTH:
        return
    if not items.complete:
        # If unknown items may precede it, a number would be a guess.
        number = None
    for item in items.items:
        value = item.value
        if is_gone(item.node) or (isinstance(value, SectionValue) and is_gone(value.node)):
            continue
        if isinstance(value, SectionValue) and value.kind == "chapter":
            number = None if value.gated else number
            yield _section(value, item, path, number, depth, places=places)
            number = number if value.children.complete else None
            continue
        index = next(places)
        if isinstance(value, SectionValue):
            number_here = None if number is None else layout.section_number(number, index)
            yield _section(value, item, path, number_here, depth)


def _section(
    value: SectionValue,
    item: Item,
    path: tuple[str, ...],
    number: str | None,
    depth: int,
    *,
    places: Iterator[int] | None = None,
) -> StaticSection:
    key, title, visibility, selected = kept(value, "declared", _declared)
    own = (*path, key or "?")
    source = span_of(value.node)
    return StaticSection(
        path=own,
        key=key,
        title=title,
        number="" if places else number or "",
        depth=depth,
        visibility=visibility,
        kind=value.kind,
        source=source,
        selection=span_of(selected),
        use=source if item.node is value.node else span_of(item.node),
        children=tuple(
            _built(value.children, path, number, depth, places or count(1))
            if value.kind == "chapter"
            else _built(value.children, own, number, depth + 1, count(1))
        ),
    )


def _declared(value: SectionValue) -> tuple[str, str, Visibility, Node]:
    """Return a section's key, title and visibility, and the node to select."""
    named = (value.arguments.get(name) for name in ("key", "title"))
    nodes = (one.node for one in named if one is not None and one.name is not None)
    return value.key, value.title, value.visibility, next(nodes, value.class_node)


class PlacedSection(NamedTuple):
    """A section of a template, its path, and the sections around it."""

    path: tuple[str, ...]
    section: SectionValue
    parents: tuple[SectionValue, ...]


def in_template(template: TemplateValue) -> Iterator[SectionValue]:
    """Yield all sections of a template, including those in chapters."""
    return (placed.section for placed in sections_with_paths(template))


def sections_with_paths(template: TemplateValue) -> Iterator[PlacedSection]:
    """Yield a template's sections with their paths, including chapters and their sections."""
    for name in ROOTS:
        yield from _placed(template.items(name), (), (), 0)


def _placed(
    items: Items, parent: tuple[str, ...], parents: tuple[SectionValue, ...], depth: int
) -> Iterator[PlacedSection]:
    for item in items.items:
        section = item.value
        if isinstance(section, SectionValue) and depth <= _DEPTH:
            path = (*parent, section.key or "?")
            yield PlacedSection(path, section, parents)
            inner = (path, (*parents, section)) if section.kind != "chapter" else (parent, parents)
            yield from _placed(section.children, *inner, depth + 1)


def below(section: SectionValue, depth: int = 0) -> Iterator[SectionValue]:
    """Yield a section and all below it."""
    yield section
    if depth < _DEPTH:
        for item in section.children.items:
            if isinstance(item.value, SectionValue):
                yield from below(item.value, depth + 1)
