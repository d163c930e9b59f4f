"""Renders a prompt from its source alone: fidelity `static`.

The library lays the prompt out, as it does for an executed one. This module makes the bodies of the
sections: an unknown value shows as its placeholder. A visibility that code decides is taken as
FULL, and the render isn't `certain` then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from foldline.ide.analysis.model import SourceSpan, Span, Visibility
from foldline.ide.analysis.placeholders import Placeholder
from foldline.ide.analysis.section_tree import in_template, span_of
from foldline.ide.analysis.static_lists import (
    ParamValues,
    Part,
    StaticLists,
    StaticSegment,
    parts_of,
    str_of,
    value_segment,
)
from foldline.ide.analysis.values import (
    LIST_KINDS,
    ROOTS,
    TEXT_KINDS,
    External,
    Items,
    Nothing,
    PromptValue,
    SectionValue,
    TemplateValue,
    Text,
    ToolValue,
    kept,
)
from foldline.prompts import Segment, SegmentKind, dotted_heading, undotted_heading
from foldline.prompts.layout.layout import Place, arrange, assemble, piece
from foldline.prompts.roles import Role
from foldline.prompts.sections.task import TASK_BLOCKS, without_absent_end
from foldline.prompts.visibility import SectionVisibility
from foldline.prompts.wording import ENGLISH
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from foldline.ide.analysis.values import Item
    from foldline.prompts import Block, HeadingFormatter
    from foldline.prompts.layout.layout import Piece

_DEPTH = 32
_LAID_OUT = (SegmentKind.HEADING, SegmentKind.SEPARATOR)
_CODE_SHOWN = 120
_HEADINGS = {shape.__name__: shape for shape in (dotted_heading, undotted_heading)}


@record
class StaticBlock:
    """A rendered section and its span of the text."""

    path: tuple[str, ...]
    number: str
    title: str
    depth: int
    visibility: Visibility
    span: Span
    segments: tuple[StaticSegment, ...]
    section: SectionValue
    opened_by: str | None = None
    """The tool that opens or reads the section while it is summarized."""
    role: Role = Role.USER

    @property
    def source(self) -> SourceSpan:
        """Location of the call that constructs the section."""
        return span_of(self.section.node)

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)

    @property
    def is_code(self) -> bool:
        """True if code stands in place of all the section's own text."""
        body = [segment for segment in self.segments if segment.kind not in _LAID_OUT]
        return bool(body) and not any(segment.known or segment.field for segment in body)

    @property
    def exact(self) -> bool:
        """True if the section certainly shows this very text."""
        return (
            all(segment.known for segment in self.segments)
            and self.visibility is not Visibility.UNKNOWN
            and not (self.section.gated or self.section.maybe)
        )


@record
class SummarizedBlock:
    """A summarized section, and the blocks that replace it when it's opened."""

    block: StaticBlock
    opened: tuple[StaticBlock, ...]

    @property
    def is_known(self) -> bool:
        """False if the source doesn't have the text of a section behind the summary."""
        return not any(inner.is_code for inner in self.opened)

    @property
    def exact(self) -> bool:
        """True if opening the section certainly shows this very text."""
        return all(inner.exact for inner in self.opened)


@record
class StaticRender:
    """A prompt's text and blocks; `certain` if running the prompt would only fill in values."""

    text: str
    blocks: tuple[StaticBlock, ...]
    certain: bool
    undecided: tuple[str, ...] = ()
    """Keys of the chapters that are closed here, and that only running the code may open."""
    unresolved: tuple[str, ...] = ()
    """What the source doesn't show: sections, lists of sections and tools, as it names them."""
    has_optional: bool = False
    """True if code may leave out some of what is shown, or show other in its place."""

    @property
    def made_by_code(self) -> Iterator[str]:
        """Name the parts of the texts that code makes."""
        for block in self.blocks:
            for one in block.segments:
                if not one.known and one.field is None:
                    code = " ".join(one.text.removeprefix("{").removesuffix("}").split())
                    kind = "the unread" if code.startswith("from_file(") else "the text of"
                    more = f"… ({len(code):,})" if len(code) > _CODE_SHOWN else ""
                    shown = f"{code[:_CODE_SHOWN]}{more}"
                    part = "the text that code makes" if code == "…" else f"{kind} `{shown}`"
                    yield f"{part} in `{'.'.join(block.path)}`"

    @property
    def exact(self) -> bool:
        """True if running the prompt gives this very text."""
        return self.certain and all(
            segment.known for block in self.blocks for segment in block.segments
        )

    def block(self, path: tuple[str, ...]) -> StaticBlock | None:
        return next((block for block in self.blocks if block.path == path), None)


def render(
    prompt: TemplateValue | PromptValue,
    overrides: Mapping[tuple[str, ...], Visibility | None] | None = None,
) -> StaticRender:
    """Render a prompt; a chapter whose `enabled` only running the code decides stays closed."""
    made = _Renderer(prompt, overrides).render()
    return made if not prompt.maybe else replace(made, certain=False, has_optional=True)


def rendered(prompt: TemplateValue | PromptValue) -> StaticRender:
    """Return the render without overrides; computed once in the lifetime of the prompt's value."""
    return kept(prompt, "render", render)


def render_opened(
    prompt: TemplateValue | PromptValue,
    blocks: Iterable[StaticBlock],
    overrides: Mapping[tuple[str, ...], Visibility | None] | None = None,
) -> Iterator[tuple[StaticBlock, ...]]:
    """For each of `blocks`, yield the blocks that replace it when its section is opened.

    Each costs what its opened section costs, not the whole prompt.
    """
    renderer = _Renderer(prompt, overrides)
    places = {place.path: place for top in renderer.arranged() for place in top.walk()}
    for block in blocks:
        yield renderer.opened(places[block.path], block)


def summarized_alone(
    prompt: TemplateValue | PromptValue, sections: Container[SectionValue]
) -> Iterator[SummarizedBlock]:
    """Yield those of a prompt's sections that are in `sections`, summarized; renders no others."""
    renderer = _Renderer(prompt)
    for top in renderer.arranged():
        for place in top.walk():
            section = place.section.value
            if section is not None and section in sections:
                renderer.overrides = {place.path: Visibility.SUMMARY}
                block = renderer.alone(place, section)
                yield SummarizedBlock(block, renderer.opened(place, block))


def places_of(prompt: TemplateValue | PromptValue) -> tuple[Place[SectionSource], ...]:
    """Return the places of all sections but those of closed chapters, parents first."""
    return tuple(place for top in _Renderer(prompt).arranged() for place in top.walk())


def summarized_sections(
    prompt: TemplateValue | PromptValue,
) -> Iterator[tuple[tuple[str, ...], SectionValue]]:
    """Yield the paths and sections of a prompt's summarized blocks, without rendering any."""
    waiting = list(reversed(_Renderer(prompt).arranged()))
    while waiting:
        place = waiting.pop()
        section = place.section.value
        if section is None:
            continue
        if section.visibility is Visibility.SUMMARY:
            # A summarized section hides those below it.
            yield place.path, section
        else:
            waiting.extend(reversed(place.children))


def render_section(
    prompt: TemplateValue | PromptValue,
    path: tuple[str, ...],
    overrides: Mapping[tuple[str, ...], Visibility],
) -> StaticRender:
    """Render one section in full, with those below it.

    It's `certain` if running the prompt would only fill in values.
    """
    renderer = _Renderer(prompt, {**overrides, path: Visibility.FULL})
    made = renderer.render_section(path)
    return replace(made, certain=made.certain and not prompt.maybe)


@record(eq=False)
class SectionSource:
    """A section, in the form that the library arranges."""

    value: SectionValue | None
    """None if only running the code would tell."""
    key: str = "?"
    title: str = ""
    tools: tuple[object, ...] = ()
    children: tuple[SectionSource, ...] = ()
    role: Role | None = None
    """The role of a root section; None below, and if only running the code would tell."""
    certain: bool = False
    """True if the section certainly exists under this key."""
    tools_certain: bool = False
    """True if it is known whether the section or those below it have tools."""


class _Place(Place[SectionSource]):
    __slots__ = ()


def _sections(
    items: Items,
    template: TemplateValue,
    depth: int = 0,
    role_of: Callable[[Item], Role | None] = lambda _: None,
) -> Iterator[SectionSource]:
    for item in items.items if depth <= _DEPTH else ():
        value, role = item.value, role_of(item)
        if not (isinstance(value, SectionValue) and value.kind == "chapter"):
            yield _section(item, template, depth, role)
        elif template.opens(value) and not value.gated:
            is_system = value.declares_role or role is Role.SYSTEM
            inner = (lambda _, role=role: role) if is_system else role_of
            for source in _sections(value.children, template, depth + 1, inner):
                yield replace(source, certain=source.certain and not (item.maybe or value.maybe))
            if not value.children.complete:
                yield SectionSource(None, role=role)


def _section(item: Item, template: TemplateValue, depth: int, role: Role | None) -> SectionSource:
    value = item.value
    if not isinstance(value, SectionValue):
        return SectionSource(None, role=role)
    children = tuple(_sections(value.children, template, depth + 1))
    source = kept(value, "source", _Own.from_section)
    certain = not (item.maybe or value.maybe)
    return SectionSource(
        value,
        key=source.key,
        title=source.title,
        tools=source.tools,
        children=children,
        role=role,
        certain=certain and source.certain,
        tools_certain=certain
        and (
            source.has_tools or (source.no_tools and all(child.tools_certain for child in children))
        ),
    )


def _undecided(template: TemplateValue) -> tuple[str, ...]:
    """Return the keys of the chapters of which only running the code tells if they open."""
    return tuple(
        one.key or "?"
        for one in in_template(template)
        if one.kind == "chapter" and one.gated and template.opens(one)
    )


def _unresolved(items: Items, where: str, template: TemplateValue) -> Iterator[str]:
    """Yield what isn't known of a list of sections, and of those of its open chapters."""
    for item in items.items:
        value = item.value
        if not isinstance(value, SectionValue):
            yield f"the section `{item.node.excerpt}`"
            continue
        if value.maybe:
            yield f"what else `{item.node.excerpt}` may be"
        if value.known("title") is None:
            yield f"the title of `{value.key}`"
        if value.kind == "chapter" and template.opens(value) and not value.gated:
            rest = f"the rest of the chapter `{value.key}`"
            yield from _unresolved(value.children, rest, template)
    if not items.complete:
        yield where


def _unresolved_tools(section: SectionValue) -> Iterator[str]:
    for item in section.tools.items:
        if not isinstance(item.value, ToolValue):
            yield f"the tool `{item.node.excerpt}`"
    if not section.tools.complete:
        yield f"the rest of the tools of `{section.key}`"


class _Own(NamedTuple):
    """Facts from a section's own arguments."""

    key: str
    title: str
    tools: tuple[object, ...]
    certain: bool
    has_tools: bool
    """True if it certainly has tools."""
    no_tools: bool
    """True if it certainly has none, and its children are known."""

    @classmethod
    def from_section(cls, value: SectionValue) -> _Own:
        argument = value.arguments.get("tools")
        items = Items((), complete=not value.opaque) if argument is None else argument.value
        tools = items if isinstance(items, Items) else Items((), complete=False)
        return cls(
            key=value.key or "?",
            title=" ".join(value.title.splitlines()).strip(),
            tools=tools.items or (() if tools.complete or argument is None else (argument,)),
            certain=not value.gated and value.known("key") is not None,
            has_tools=not all(tool.maybe for tool in tools.items),
            no_tools=tools.complete and value.children.complete and not tools.items,
        )


class _Renderer:
    """One render: `pieces` and `shown` gather its sections; `certain`, once False, stays so."""

    def __init__(
        self,
        prompt: TemplateValue | PromptValue,
        overrides: Mapping[tuple[str, ...], Visibility | None] | None = None,
    ) -> None:
        self.template = template = prompt.template
        self.overrides = overrides or {}
        self.param_values = ParamValues(prompt)
        self.lists = StaticLists(self.param_values)
        # Another wording's sentences aren't known from the source.
        english = "wording" not in template.arguments
        self.undecided = kept(template, "undecided", _undecided)
        self.certain = english and not (template.opaque or template.maybe or self.undecided)
        self.heading = self._heading()
        self.disclosure = self._disclosure()
        self.values: dict[object, StaticSegment] = {}
        self.pieces: list[Piece[_Place]] = []
        self.shown: list[tuple[SectionValue, Visibility]] = []
        self.unresolved: list[str] = []
        self.has_optional = template.maybe

    def render(self) -> StaticRender:
        template = self.template
        for name in ROOTS:
            self.unresolved += _unresolved(template.items(name), f"the rest of `{name}`", template)
        self._row(template.rows, self.arranged())
        text, blocks = self._assembled()
        unresolved = tuple(dict.fromkeys(self.unresolved))
        return StaticRender(
            text, blocks, self.certain, self.undecided, unresolved, self.has_optional
        )

    def arranged(self) -> tuple[_Place, ...]:
        """Arrange all sections but those of closed chapters; done once for a template."""
        return kept(self.template, "places", self._arranged)

    def _arranged(self, template: TemplateValue) -> tuple[_Place, ...]:
        sections = tuple(_sections(template.rows, template, role_of=template.role_of))
        return arrange(sections, _Place, heading=self.heading, disclosure=self.disclosure)

    def render_section(self, path: tuple[str, ...]) -> StaticRender:
        items, places = self.template.rows, self.arranged()
        while True:
            # Each section before it counts in its number, and those around it can hide it.
            self.certain = self.certain and items.complete
            place = next(placed for placed in places if placed.path == path[: len(placed.path)])
            section = place.section.value
            assert section is not None
            self.certain = self.certain and place.section.certain
            if place.path == path:
                break
            items, places = section.children, place.children
        self._section(place, section)
        text, blocks = self._assembled()
        return StaticRender(text, blocks, self.certain)

    def alone(self, place: _Place, section: SectionValue) -> StaticBlock:
        """Return the block of a summarized section, as if it were the only one."""
        self.pieces, self.shown = [], []
        self._section(place, section)
        return self._assembled()[1][0]

    def opened(self, place: _Place, block: StaticBlock) -> tuple[StaticBlock, ...]:
        """Return the blocks that replace `block` when its section is opened."""
        self.pieces, self.shown = [], []
        overrides = self.overrides
        self.overrides = {**overrides, place.path: Visibility.FULL}
        self._section(place, block.section)
        self.overrides = overrides
        _, blocks = self._assembled()
        if block.segments and block.segments[-1].kind is SegmentKind.SEPARATOR:
            last = blocks[-1]
            blocks = (*blocks[:-1], replace(last, segments=(*last.segments, block.segments[-1])))
        return blocks

    def _assembled(self) -> tuple[str, tuple[StaticBlock, ...]]:
        text, blocks = assemble(self.pieces)
        return text, tuple(map(_static, blocks, self.shown))

    def _heading(self) -> HeadingFormatter:
        argument = self.template.arguments.get("heading")
        if argument is None:
            return dotted_heading
        name = argument.value.library_name if isinstance(argument.value, External) else ""
        self.certain = self.certain and name in _HEADINGS
        return _HEADINGS.get(name, dotted_heading)

    def _disclosure(self) -> str:
        argument = self.template.arguments.get("disclosure")
        if argument is None:
            return "auto"
        text = argument.value.known if isinstance(argument.value, Text) else None
        self.certain = self.certain and text is not None
        return text or "auto"

    def _row(self, items: Items, places: Iterable[_Place]) -> None:
        self.certain = self.certain and items.complete
        for placed in places:
            section = placed.section.value
            self.certain = self.certain and placed.section.certain
            if section is not None:
                self.has_optional |= not placed.section.certain
                self._section(placed, section)

    def _section(self, place: _Place, section: SectionValue) -> None:
        visibility = self.overrides.get(place.path, section.visibility)
        if visibility is None:
            return
        self.shown.append((section, visibility))
        self.param_values.enter(place.dotted)
        if visibility is Visibility.UNKNOWN or section.known("title") is None:
            self.certain = False
            self.has_optional = True
        if visibility is Visibility.SUMMARY:
            children = [child.section for child in place.children]
            if not (
                section.children.complete
                and (place.section.tools_certain or self.disclosure == "open")
                and all(child.certain for child in children)
            ):
                self.certain = False
            keys = [child.key for child in children if child.value is not None]
            body = self._body(section, "summary")
            note = ENGLISH.note(place.opened_by, place.dotted, keys)
            self.pieces.append(piece(place, SectionVisibility.SUMMARY, body, note))
        else:
            body = self._body(section, "template")
            self.pieces.append(piece(place, SectionVisibility.FULL, body))
            where = f"the rest of the children of `{section.key}`"
            self.unresolved += _unresolved(section.children, where, self.template)
            self.unresolved += _unresolved_tools(section)
            self._row(section.children, place.children)

    def _body(self, section: SectionValue, role: str) -> Sequence[Segment]:
        """Return the section's `template` or `summary`, with known values filled in."""
        text = section.text(role)
        task = section.kind == "task"
        if section.kind not in TEXT_KINDS:
            self.certain = False
            text = None if role == "template" else text
        if role == "template" and section.kind in LIST_KINDS:
            listed = self.lists.body(section, self._filled)
            if listed is not None:
                return listed
            text = None
        if text is not None:
            derived = self._derived(section) if task else {}
            parts = parts_of(section, role, text)
            body = [self._filled(section, part, derived) for part in parts]
            return without_absent_end(body) if task and role == "template" else body
        if role == "summary" and section.given(role) is None:
            return ()
        self.certain = False
        return (StaticSegment(SegmentKind.DERIVED, "{…}", known=False),)

    def _derived(self, section: SectionValue) -> dict[str, StaticSegment]:
        """Return the segments that a task section computes, by placeholder name."""
        derived = {}
        for name, block in TASK_BLOCKS.items():
            value, _ = self.param_values.argument(section, block.field)
            is_none = isinstance(value, Nothing)
            known = str_of(value)
            shown = f"${{{block.field}}}" if known is None else known
            text = block.text(None if is_none else shown, ENGLISH)
            derived[name] = StaticSegment(SegmentKind.DERIVED, text, name, known=known is not None)
        return derived

    def _filled(
        self, section: SectionValue, part: Part, derived: Mapping[str, StaticSegment]
    ) -> Segment:
        if not isinstance(part, Placeholder):
            return part
        name, written = part.name, part.mapped.text[part.start : part.end]
        if name in derived:
            return derived[name]
        # Sections with the same parameters show the same.
        default = section.arguments.get("default_params")
        own_key, indent = self.param_values.own_key, part.indent
        key = (own_key, id(section.params), section.opaque, id(default), name, written, indent)
        filled = self.values.get(key)
        if filled is None:
            text, bound = self.param_values.shown(section, name)
            kind = SegmentKind.PARAM if bound or text is None else SegmentKind.DEFAULT
            filled = self.values[key] = value_segment(kind, text, name, written, indent)
        return filled


def _static(block: Block, shown: tuple[SectionValue, Visibility]) -> StaticBlock:
    section, visibility = shown
    return StaticBlock(
        path=block.path,
        number=block.number,
        title=block.title,
        depth=block.depth,
        visibility=visibility,
        span=Span(block.span.start, block.span.end),
        segments=tuple(
            [
                segment
                if isinstance(segment, StaticSegment)
                else StaticSegment(segment.kind, segment.text, segment.field)
                for segment in block.segments
            ]
        ),
        section=section,
        opened_by=block.opened_by,
        role=block.role,
    )
