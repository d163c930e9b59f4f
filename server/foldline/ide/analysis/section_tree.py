"""The section tree of a template: paths, numbers and source locations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from foldline.ide.analysis.model import SourceSpan, StaticSection, Visibility
from foldline.ide.analysis.values import (
    Dataclass,
    Item,
    Items,
    Nothing,
    SectionValue,
    TemplateValue,
    kept,
)
from foldline.prompts import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.evaluator import Evaluator
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


def sections_of(
    template: TemplateValue, evaluator: Evaluator
) -> tuple[tuple[StaticSection, ...], bool]:
    """Return a template's sections, chapters last, and True if they are certainly all."""
    del evaluator
    sections, chapters = template.rows, template.items("chapters")
    both = Items((*sections.items, *chapters.items), sections.complete and chapters.complete)
    built = tuple(_built(both, (), "", 0))
    return built, _complete(both) and not template.maybe


def described(section: SectionValue) -> StaticSection:
    """Return a section on its own: its path starts with its own key."""
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
    items: Items, path: tuple[str, ...], number: str | None, depth: int
) -> Iterator[StaticSection]:
    """Yield the sections of one level; `number` is their parent's, None if that is unknown.

    A chapter dissolves when it opens, so its sections get the paths of the chapter's siblings.
    Chapters are closed here: a chapter has no number, and doesn't count in its siblings' numbers.
    """
    if depth > _DEPTH:
        return
    place = 0
    for item in items.items:
        value = item.value
        if is_gone(item.node) or (isinstance(value, SectionValue) and is_gone(value.node)):
            continue
        chapter = isinstance(value, SectionValue) and value.kind == "chapter"
        place += not chapter
        if isinstance(value, SectionValue):
            # If unknown items may precede it, a number would be a guess.
            known = number is not None and items.complete and not chapter
            own = layout.section_number(number, place) if known and number is not None else None
            yield _section(value, item, path, own, depth)


def _section(
    value: SectionValue, item: Item, path: tuple[str, ...], number: str | None, depth: int
) -> StaticSection:
    declared = kept(value, "declared", _Declared.by)
    own = (*path, declared.key or "?")
    source = span_of(value.node)
    return StaticSection(
        path=own,
        key=declared.key,
        title=declared.title,
        number=number or "",
        depth=depth,
        visibility=declared.visibility,
        kind=value.kind,
        params=declared.params,
        source=source,
        selection=span_of(declared.selected),
        use=source if item.node is value.node else span_of(item.node),
        children=tuple(
            _built(value.children, path, None, depth)
            if value.kind == "chapter"
            else _built(value.children, own, number, depth + 1)
        ),
    )


class _Declared(NamedTuple):
    """What a section's own arguments tell of it."""

    key: str
    title: str
    visibility: Visibility
    params: str
    selected: Node

    @classmethod
    def by(cls, value: SectionValue) -> _Declared:
        selected: Node = value.class_node
        for name in ("key", "title"):
            argument = value.arguments.get(name)
            if argument is not None and argument.name is not None:
                selected = argument.node
                break
        params = value.params
        name = params.name if isinstance(params, Dataclass) else ""
        shown = "None" if isinstance(params, Nothing) else name
        return cls(value.key, value.title, value.visibility, shown, selected)
