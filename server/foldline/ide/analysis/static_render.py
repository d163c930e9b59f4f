"""What a prompt renders to, as far as its source tells: fidelity `static`.

The same blocks as an executed render: where a value is not known, its placeholder stands for it;
a literal default is put in. What the source leaves open (a visibility that is decided by code) is
taken as FULL and marked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from foldline.ide.analysis.model import SourceSpan, Span, Visibility
from foldline.ide.analysis.param_values import GivenParams
from foldline.ide.analysis.placeholders import placeholders
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.values import (
    External,
    Items,
    PromptValue,
    SectionValue,
    TemplateValue,
    Text,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from foldline.ide.analysis.source_map import MappedText
    from foldline.ide.token_counter import TokenCounter

_DEPTH = 32


class SegmentKind(StrEnum):
    """What a stretch of the text is; the words are those of an executed render."""

    HEADING = "heading"
    LITERAL = "literal"
    PARAM = "param"
    DEFAULT = "default"
    DERIVED = "derived"
    SUFFIX = "suffix"
    SEPARATOR = "separator"


@dataclass(frozen=True, slots=True)
class StaticSegment:
    """A stretch of text; for a placeholder without a known value, `text` is the placeholder."""

    kind: SegmentKind
    text: str
    field: str | None = None
    known: bool = True
    _place: tuple[MappedText, int, int] | None = None

    @property
    def source(self) -> SourceSpan | None:
        """Where the stretch was written; None for what the library adds."""
        if self._place is None:
            return None
        mapped, start, end = self._place
        return mapped.place(start, end)


@dataclass(frozen=True, slots=True)
class StaticBlock:
    """A section that a render shows, at its place in the text."""

    path: tuple[str, ...]
    key: str
    number: str
    title: str
    depth: int
    visibility: Visibility
    span: Span
    segments: tuple[StaticSegment, ...]
    section: SectionValue
    opened_by: str | None = None
    """The tool that opens or reads the section while it is summarised."""

    @property
    def source(self) -> SourceSpan:
        """Where the section is constructed."""
        return span_of(self.section.node)

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True, slots=True)
class StaticRender:
    """A prompt's text and blocks; `certain` tells whether running it can only fill values in."""

    text: str
    blocks: tuple[StaticBlock, ...]
    certain: bool

    def block(self, path: tuple[str, ...]) -> StaticBlock | None:
        return next((block for block in self.blocks if block.path == path), None)

    def tokens(self, counter: TokenCounter) -> int:
        """The tokens of the whole text, counted block by block."""
        return sum(counter.count(block.text) for block in self.blocks)

    def tokens_below(self, path: tuple[str, ...], counter: TokenCounter) -> int:
        """The tokens of a section and all that is shown below it."""
        return sum(
            counter.count(block.text) for block in self.blocks if block.path[: len(path)] == path
        )


@dataclass(frozen=True, slots=True)
class _Block:
    """What a task section makes of a field that may be absent."""

    name: str
    form: str


_EXPANSION = _Block("_expansion_block", "**Expansion Context:** {}\n\n---\n\n")
_BACKGROUND = _Block("_background_block", "**Background:** {}")


@dataclass(frozen=True, slots=True)
class _Piece:
    section: SectionValue
    path: tuple[str, ...]
    number: str
    visibility: Visibility
    segments: list[StaticSegment]
    opened_by: str | None


def render(
    prompt: TemplateValue | PromptValue,
    overrides: Mapping[tuple[str, ...], Visibility] | None = None,
) -> StaticRender:
    """A prompt as it renders, with chapters closed."""
    template = prompt.template if isinstance(prompt, PromptValue) else prompt
    bound = prompt.bound if isinstance(prompt, PromptValue) else ()
    made = _Renderer(template, [item.value for item in bound], dict(overrides or {})).render()
    return replace(made, certain=made.certain and not prompt.maybe)


def render_opened(
    prompt: TemplateValue | PromptValue,
    blocks: Iterable[StaticBlock],
    overrides: Mapping[tuple[str, ...], Visibility] | None = None,
) -> Iterator[tuple[StaticBlock, ...]]:
    """The blocks that stand in place of each of some blocks of a render when that one is opened.

    The cost is that of what is opened, not of the whole prompt.
    """
    template = prompt.template if isinstance(prompt, PromptValue) else prompt
    bound = prompt.bound if isinstance(prompt, PromptValue) else ()
    renderer = _Renderer(template, [item.value for item in bound], dict(overrides or {}))
    for block in blocks:
        yield renderer.opened(block)


class _Renderer:
    def __init__(
        self,
        template: TemplateValue,
        bound: list[Value],
        overrides: dict[tuple[str, ...], Visibility],
    ) -> None:
        self.template = template
        self.overrides = overrides
        self.given = GivenParams(template, bound)
        disclosure = template.arguments.get("disclosure")
        value = disclosure.value if disclosure is not None else None
        self.always_open = isinstance(value, Text) and value.known == "open"
        heading = template.arguments.get("heading")
        shape = heading.value if heading is not None else None
        named = shape.library_name if isinstance(shape, External) else ""
        self.dot = "" if named == "undotted_heading" else "."
        known = heading is None or named in ("dotted_heading", "undotted_heading")
        self.certain = known and not (template.opaque or template.maybe)
        self.pieces: list[_Piece] = []

    def render(self) -> StaticRender:
        self._visit(self.template.items("sections"), (), "", 0)
        blocks = self._blocks(ends=True)
        text = "".join(block.text for block in blocks)
        return StaticRender(text, tuple(blocks), self.certain)

    def opened(self, block: StaticBlock) -> tuple[StaticBlock, ...]:
        """The blocks in place of one that a render shows, with that one open."""
        self.pieces = []
        kept = self.overrides
        self.overrides = {**kept, block.path: Visibility.FULL}
        self._section(block.section, block.path, block.number, block.depth)
        self.overrides = kept
        ends = not block.segments or block.segments[-1] is not _BLANK_LINE
        return tuple(self._blocks(ends=ends))

    def _blocks(self, *, ends: bool) -> list[StaticBlock]:
        """The blocks of all pieces, blank lines between; after the last unless it `ends` all."""
        last = max((i for i, piece in enumerate(self.pieces) if piece.segments), default=-1)
        last = last if ends else -1
        blocks: list[StaticBlock] = []
        at = 0
        for index, piece in enumerate(self.pieces):
            if piece.segments and index != last:
                piece.segments.append(_BLANK_LINE)
            size = sum(len(segment.text) for segment in piece.segments)
            blocks.append(
                StaticBlock(
                    path=piece.path,
                    key=piece.path[-1],
                    number=piece.number,
                    title=piece.section.title,
                    depth=len(piece.path) - 1,
                    visibility=piece.visibility,
                    span=Span(at, at + size),
                    segments=tuple(piece.segments),
                    section=piece.section,
                    opened_by=piece.opened_by,
                )
            )
            at += size
        return blocks

    def _visit(self, items: Items, parent: tuple[str, ...], prefix: str, depth: int) -> None:
        self.certain = self.certain and items.complete
        place = 0
        for item in items.items:
            section = item.value
            if not isinstance(section, SectionValue):
                self.certain = False
                place += 1
                continue
            self.certain = self.certain and not (item.maybe or section.maybe)
            if section.kind == "chapter" or depth > _DEPTH:
                continue
            place += 1
            self._section(section, (*parent, section.key or "?"), f"{prefix}{place}", depth)

    def _section(
        self, section: SectionValue, path: tuple[str, ...], number: str, depth: int
    ) -> None:
        declared = section.visibility
        named = section.known("key") is not None and section.known("title") is not None
        if declared is Visibility.UNKNOWN or section.gated or not named:
            self.certain = False
        visibility = self.overrides.get(path, declared)
        summarised = visibility is Visibility.SUMMARY
        heading = f"{'#' * (depth + 2)} {number}{self.dot} {section.title.strip()}"
        segments = [StaticSegment(SegmentKind.HEADING, heading)]
        body = self._summary(section) if summarised else self._body(section)
        if any(segment.text.strip() for segment in body):
            segments += [_BLANK_LINE, *body]
        opened_by = None
        if summarised:
            opened_by = self._opened_by(section)
            if any(child.gated for child in _shown(section)):
                self.certain = False
            segments.append(StaticSegment(SegmentKind.SUFFIX, _suffix(section, path, opened_by)))
        self.pieces.append(_Piece(section, path, number, visibility, segments, opened_by))
        if not summarised:
            self._visit(section.children, path, f"{number}.", depth + 1)

    def _summary(self, section: SectionValue) -> list[StaticSegment]:
        text = section.text("summary")
        return self._filled(section, text.dedent().strip()) if text is not None else []

    def _body(self, section: SectionValue) -> list[StaticSegment]:
        if section.kind == "task":
            return self._task(section)
        text = section.text("template") if section.kind == "markdown" else None
        if text is None:
            self.certain = False
            return [StaticSegment(SegmentKind.DERIVED, "{…}", known=False)]
        return self._filled(section, text.dedent().strip())

    def _task(self, section: SectionValue) -> list[StaticSegment]:
        """The request, between what the library makes of the task's other fields."""
        segments = [
            *self._derived(section, "expansion_instructions", _EXPANSION),
            self._value(section, "request", "${request}", None),
        ]
        background = self._derived(section, "background", _BACKGROUND)
        if background:
            segments += [StaticSegment(SegmentKind.LITERAL, "\n\n"), *background]
        return segments

    def _derived(self, section: SectionValue, name: str, block: _Block) -> list[StaticSegment]:
        given = self.given.value(section, name)
        if given.is_none or given.text == "":
            return []
        shown = f"${{{name}}}" if given.text is None else given.text
        known = given.text is not None
        return [StaticSegment(SegmentKind.DERIVED, block.form.format(shown), block.name, known)]

    def _filled(self, section: SectionValue, mapped: MappedText) -> list[StaticSegment]:
        segments: list[StaticSegment] = []
        at = 0

        def literal(end: int) -> None:
            if end > at:
                shown = mapped.text[at:end].replace("$$", "$")
                known = not mapped.dynamic_in(at, end)
                segments.append(
                    StaticSegment(SegmentKind.LITERAL, shown, known=known, _place=(mapped, at, end))
                )

        for placeholder in placeholders(mapped):
            if not placeholder.name:
                continue
            literal(placeholder.start)
            shown = mapped.text[placeholder.start : placeholder.end]
            place = (mapped, placeholder.start, placeholder.end)
            segments.append(self._value(section, placeholder.name, shown, place))
            at = placeholder.end
        literal(len(mapped.text))
        return segments

    def _value(
        self,
        section: SectionValue,
        name: str,
        shown: str,
        place: tuple[MappedText, int, int] | None,
    ) -> StaticSegment:
        given = self.given.value(section, name)
        kind = SegmentKind.PARAM if given.bound or given.text is None else SegmentKind.DEFAULT
        text = given.text
        return StaticSegment(
            kind, shown if text is None else text, name, known=text is not None, _place=place
        )

    def _opened_by(self, section: SectionValue) -> str:
        return "open_sections" if self.always_open or _has_tools(section) else "read_section"


_BLANK_LINE = StaticSegment(SegmentKind.SEPARATOR, "\n\n")


def _has_tools(section: SectionValue, depth: int = 0) -> bool:
    argument = section.arguments.get("tools")
    if argument is not None and not (
        isinstance(argument.value, Items) and argument.value.complete and not argument.value.items
    ):
        return True
    return depth < _DEPTH and any(
        isinstance(item.value, SectionValue)
        and item.value.kind != "chapter"
        and _has_tools(item.value, depth + 1)
        for item in section.children.items
    )


def _suffix(section: SectionValue, path: tuple[str, ...], tool: str) -> str:
    children = [_key_of(value) for value in _shown(section)]
    call = f'call `{tool}` with key "{".".join(path)}"'
    if children:
        note = (
            f"[This section is summarized. C{call[1:]} to view full content including "
            f"subsections: {', '.join(children)}.]"
        )
    else:
        note = f"[This section is summarized. To view full content, {call}.]"
    return f"\n\n---\n{note}"


def _shown(section: SectionValue) -> Iterator[SectionValue]:
    for item in section.children.items:
        if isinstance(item.value, SectionValue) and item.value.kind != "chapter":
            yield item.value


def _key_of(section: SectionValue) -> str:
    return section.key or "?"
