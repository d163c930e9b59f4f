"""The source of each character that a preview shows, and the way back.

A render has segments, and the source has the texts that they are made of, each character with its
place. A section's texts are split at their placeholders, and each segment gets the next piece that
fits it. What has no equal in the source gets the nearest place that is known.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.units import UTF16, from_units, units
from foldline.ide.analysis.model import LineTable, SourceSpan, Span
from foldline.ide.analysis.placeholders import Placeholder, parts, shown
from foldline.ide.analysis.section_tree import sections_with_paths, span_of
from foldline.ide.analysis.source_map import DOLLARS, MappedText
from foldline.ide.analysis.static_lists import ParamValues, sequence_of
from foldline.ide.analysis.values import LIST_KINDS, Dataclass, InstanceValue, Items, Text, kept
from foldline.ide.render.render import Location  # Structuring looks it up.
from foldline.ide.uris import uri_of_file
from foldline.prompts.sections.examples import REASONING
from foldline.prompts.sections.task import TASK_BLOCKS
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias

    from foldline.ide.analysis.placeholders import ShownText
    from foldline.ide.analysis.values import SectionValue, Value
    from foldline.ide.render.render import Block, Render, Segment
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.workspace import Workspace

    _Piece: TypeAlias = Placeholder | MappedText

_AROUND = ("heading", "separator", "suffix")
_FIELD = re.compile(r"(\w+)(?:\[(\d+)\]\.(\w+))?")
_IN_SOURCE = ("bound", "default", "default_params")
_LINES_AROUND = 2
_MOST_LINES = 12


@record
class SourcePlace:
    """A place in the source.

    Attributes:
        what: What is there, in words.
        line: From 1.
        column: From 1, in code points.
        location: For editors; None where none is there.
        excerpt: The lines around it: what is before it, the place itself, and what is behind it.
    """

    what: str
    uri: str
    line: int
    column: int
    location: Location | None
    excerpt: tuple[str, str, str]


@record
class TextOrigin:
    """The origin of a preview's character.

    Attributes:
        words: That, for people.
        exact: False if the places are only the nearest that are known.
        places: The nearest first; none if the source doesn't show the section.
    """

    words: str
    exact: bool
    places: tuple[SourcePlace, ...]


@record
class Occurrence:
    """A part of a block's text, in UTF-16 code units."""

    id: str
    start: int
    end: int


class _Source(NamedTuple):
    """The source of a text: another text, character by character, or a place as a whole."""

    what: str
    text: MappedText | None
    place: SourceSpan | None = None


class _Stretch(NamedTuple):
    """A range of a block's text, and its sources, the nearest first."""

    start: int
    end: int
    sources: tuple[_Source, ...]
    exact: bool = True


class Provenance:
    """The sources of what a preview shows, in the documents as they are now."""

    def __init__(self, workspace: Workspace, render: Render, snapshot: Snapshot) -> None:
        self._render, self._read = render, snapshot.project.text
        self._locate = partial(workspace.locate, snapshot)
        self._sections: dict[tuple[str, ...], list[SectionValue]] = {}
        for prompt in snapshot.analysis.prompts:
            if prompt.name.id == render.name:
                self._values = ParamValues(prompt.value)
                for path, section, _ in sections_with_paths(prompt.template):
                    if section.kind != "chapter":
                        self._sections.setdefault(path, []).append(section)

    def origin(self, block: Block, unit: int) -> TextOrigin:
        """Return where the character at a number of UTF-16 code units of a block comes from."""
        at, exact = from_units(block.text, unit, UTF16), False
        places: list[SourcePlace] = []
        for start, end, sources, is_exact in self._stretches(block):
            for what, text, extent in sources if start <= at < end else ():
                written = extent if text is None else self._written(text, at - start)
                if source_place := self._place(what, written):
                    exact = is_exact if not places else exact
                    places.append(source_place)
        if not places:
            nodes = [span_of(one.node) for one in self._sections.get(block.path, ())[:1]]
            places += filter(None, [self._place(f"section {block.key}", node) for node in nodes])
        exact = exact and self._is_sure(block)
        words = (
            "; ".join(source_place.what for source_place in places)
            or "the source doesn't show this section"
        )
        return TextOrigin(words if exact else f"not exactly known: {words}", exact, tuple(places))

    def occurrences(self, file: str, line: int, character: int, size: int) -> Iterator[Occurrence]:
        """Yield the parts of the blocks that come from a part of a file, in order.

        It begins at a line, from 0, behind so many UTF-16 code units, and has `size` code points.
        """
        source = self._read(file) or ""
        lines = LineTable(source)
        start = lines.offset(line, from_units(lines.line(line), character, UTF16))
        place = SourceSpan(file, start, start + size)
        for block in self._render.blocks:
            spans: set[Span] = set()
            for low, high, sources, is_exact in self._stretches(block):
                for _, text, extent in sources:
                    if text is not None:
                        spans |= {Span(low + a, low + b) for a, b in text.shown_from(place)}
                    elif extent is not None and is_exact and low < high and _overlap(extent, place):
                        spans.add(Span(low, high))
            for span in sorted(spans):
                before, end = (units(block.text[:offset], UTF16) for offset in span)
                yield Occurrence(block.id, before, end)

    def _is_sure(self, block: Block) -> bool:
        """Return False where another section of the same path may be the one that is shown."""
        role = "summary" if block.is_summarized else "template"
        sections = self._sections.get(block.path, ())
        sizes = sorted(len(_pieces_by_segment(one, role, block)) for one in sections)
        is_alone = len(sizes) < 2 or sizes[-1] > sizes[-2]
        return is_alone and not any(one.maybe for one in sections)

    def _stretches(self, block: Block) -> Iterator[_Stretch]:
        """Yield the ranges of a block's text whose source is known."""
        role, at, index = "summary" if block.is_summarized else "template", 0, 0
        candidates = [
            (_pieces_by_segment(one, role, block), one)
            for one in self._sections.get(block.path, ())
        ]
        if not candidates:
            return
        # Sections that exclude each other can have one path.
        pieces, section = max(candidates, key=lambda candidate: len(candidate[0]))
        what, title, argument = f"{role} of {block.key}", section.text("title"), section.given(role)
        for n, segment in enumerate(block.segments):
            start, at = at, at + len(segment.text)
            piece = pieces.get(n)
            if segment.kind == "heading" and title is not None:
                title = title.strip()
                if segment.text.endswith(title.text):
                    source = _Source(f"title of {block.key}", title)
                    yield _Stretch(at - len(title.text), at, (source,))
            elif segment.field is not None:
                name, number, inner = _names(segment.field, section)
                index = index if number is None else int(number)
                value_text, others = self._text_of_field(section, block.key, name, index, inner)
                first = []
                if isinstance(piece, Placeholder) and piece.file:
                    written = piece.mapped.text[piece.start : piece.end]
                    first = [_Source(f"placeholder {written}", None, piece.source)]
                if value_text is not None and segment.text.count(value_text.text) == 1:
                    low = start + segment.text.index(value_text.text)
                    value = _Source(f"value of {inner or name}", value_text)
                    yield _Stretch(start, low, (*first, *others))
                    yield _Stretch(low, low + len(value_text.text), (*first, value, *others))
                    start = low + len(value_text.text)
                yield _Stretch(start, at, (*first, *others))
            elif isinstance(piece, MappedText):
                yield from _literal(piece, segment.text, start, what)
            elif segment.kind not in _AROUND and argument is not None:
                computed = _Source(what, None, span_of(argument.node))
                yield _Stretch(start, at, (computed,), exact=False)

    def _text_of_field(
        self, section: SectionValue, key: str, name: str, index: int, inner: str
    ) -> tuple[MappedText | None, list[_Source]]:
        """Return the text that a field holds, if the source tells, and the field's other places."""
        items, params = section.given("items"), section.params
        value: Value | None = None
        others: list[_Source] = []
        if inner and items is not None and isinstance(items.value, Items):
            value = items.value
        elif isinstance(params, Dataclass) and (field := params.field(name)) is not None:
            instance = self._given(params.name, key, name)
            if instance.get("source") in _IN_SOURCE:
                self._values.enter(key)
                value, _ = self._values.argument(section, name)
            elif (line := self._line_of(instance, params.name, name)) is not None:
                others.append(_Source(f"value of {name}", None, line))
            if field.name is not None:
                others.append(_Source(f"field {params.name}.{name}", None, span_of(field.name)))
        if inner:
            item_values = (value is not None and sequence_of(value)) or ()
            item = item_values[index] if index < len(item_values) else None
            argument = item.arguments.get(inner) if isinstance(item, InstanceValue) else None
            value = None if argument is None else argument.value
            if argument is not None and not isinstance(value, Text):
                others.insert(0, _Source(f"value of {inner}", None, span_of(argument.node)))
        return (value.mapped if isinstance(value, Text) and value.known else None), others

    def _given(self, kind: str, key: str, name: str) -> Mapping[str, Any]:
        """Return where the value of a field comes from, as the worker says."""
        kinds = [one for one in self._render.parameters if one.type == kind]
        of_section = [one for one in kinds if one.section == key] or kinds
        fields = (field for one in of_section[:1] for field in one.fields if field.name == name)
        return next((field.origin for field in fields if field.origin), {"source": "bound"})

    def _line_of(self, given: Mapping[str, Any], kind: str, name: str) -> SourceSpan | None:
        """Return the line of a file that gives a field's value, or the file's beginning."""
        source = self._read(given["file"]) if given.get("file") else None
        if source is None:
            return None
        lines = LineTable(source)
        if given.get("line"):
            at = lines.offset(given["line"] - 1, 0)
        else:
            # The table of TOML; in JSON, a key is known if it's the only one of its name.
            table = max(source.find(f"[sets.{given.get('name')}.{kind}]"), source.find(f"[{kind}]"))
            key = re.compile(rf"(?<![\w.]){name}\b[\"']?\s*[=:]")
            keys = [match.start() for match in key.finditer(source, max(table, 0))]
            at = keys[0] if keys and (table >= 0 or len(keys) == 1) else 0
        return SourceSpan(given["file"], at, at + len(lines.line(lines.position(at).line)))

    def _written(self, text: MappedText, offset: int) -> SourceSpan | None:
        """Return the place of a character; None if something else stands there by now."""
        span, written = text.written(offset) or (None, "")
        source = self._read(span.file) if span is not None else None
        if span is None or source is None or source[span.start : span.end] != written:
            return None
        return span

    def _place(self, what: str, place: SourceSpan | None) -> SourcePlace | None:
        source = self._read(place.file) if place is not None and place.file else None
        if place is None or source is None:
            return None
        lines = LineTable(source)
        line, column = lines.position(place.start)
        last = min(lines.position(place.end).line + _LINES_AROUND, line + _MOST_LINES)
        first, end = lines.starts[max(0, line - _LINES_AROUND)], lines.offset(last + 1, 0)
        middle = min(place.end, end)
        excerpt = source[first : place.start], source[place.start : middle], source[middle:end]
        where = f"{what}, {Path(place.file).name}:{line + 1}:{column + 1}"
        return SourcePlace(
            where, uri_of_file(place.file), line + 1, column + 1, self._locate(place), excerpt
        )


def _names(field: str, section: SectionValue) -> tuple[str, str | None, str]:
    """Return the field of a value, and if that holds items, the number and the field of one."""
    if field in TASK_BLOCKS:
        return TASK_BLOCKS[field].field, None, ""
    if field == REASONING:
        return section.known("items") or "", None, "reasoning"
    match = _FIELD.fullmatch(field)
    return (match[1], match[2], match[3] or "") if match is not None else (field, None, "")


def _pieces_by_segment(section: SectionValue, role: str, block: Block) -> dict[int, _Piece]:
    """Return the piece of the section's texts that each segment shows, by the segment's number."""
    by_segment: dict[int, _Piece] = {}
    body = [(n, one) for n, one in enumerate(block.segments) if one.kind not in _AROUND]
    own_pieces, at = list(_pieces(section, role)), 0
    if role == "template" and section.kind in LIST_KINDS:
        # The template comes again for each item; what comes last may look like its beginning.
        for rows in (_pieces(section, "empty"), _pieces(section, "more")):
            last = body[-len(rows) :]
            if rows and len(last) == len(rows) and all(map(_fits, rows, [one for _, one in last])):
                by_segment |= {n: piece for (n, _), piece in zip(last, rows, strict=True)}
        separator = section.text("separator")
        own_pieces += [] if separator is None else [separator]
    for n, segment in body:
        # From the last piece on, and around: a template is repeated for each item.
        for number in range(at, at + len(own_pieces)) if n not in by_segment else ():
            piece = own_pieces[number % len(own_pieces)]
            if _fits(piece, segment):
                by_segment[n], at = piece, number % len(own_pieces) + 1
                break
    return by_segment


def _pieces(section: SectionValue, name: str) -> tuple[_Piece, ...]:
    """Return what an argument of the section is made of; computed once in its lifetime."""
    written = section.text(name)
    if written is None:
        return ()
    return kept(section, f"{name} pieces", partial(_split, text=shown(written)))


def _split(_: SectionValue, text: ShownText) -> tuple[_Piece, ...]:
    return tuple(
        part if isinstance(part, Placeholder) else text.mapped.slice(*part).formatted(DOLLARS)
        for part in parts(text)
    )


def _fits(piece: _Piece, segment: Segment) -> bool:
    if isinstance(piece, Placeholder):
        return segment.field is not None and segment.field.rpartition(".")[2] == piece.name
    return segment.field is None and _ends(piece, segment.text) is not None


def _ends(text: MappedText, shown: str) -> tuple[int, int] | None:
    """Return how much both begin and end with; code makes what is between."""
    dynamic = [run for run in text.runs if run.dynamic]
    if not dynamic or text.text == shown:
        return (len(shown), 0) if text.text == shown else None
    head, tail = dynamic[0].start, len(text.text) - dynamic[-1].start - dynamic[-1].length
    fits = shown.startswith(text.text[:head]) and shown.endswith(text.text[len(text.text) - tail :])
    return (head, tail) if fits and head + tail <= len(shown) else None


def _literal(text: MappedText, shown: str, start: int, what: str) -> Iterator[_Stretch]:
    """Yield the stretches of a literal text, and of the code in it."""
    end = start + len(shown)
    if text.text == shown:
        yield _Stretch(start, end, (_Source(what, text),))
        return
    head, tail = _ends(text, shown) or (0, 0)
    size = len(text.text)
    span = text.place(head, size - tail)
    yield _Stretch(start, start + head, (_Source(what, text.slice(0, head)),))
    code = _Source(f"code in the {what}", None, span)
    yield _Stretch(start + head, end - tail, (code,), exact=False)
    yield _Stretch(end - tail, end, (_Source(what, text.slice(size - tail, size)),))


def _overlap(one: SourceSpan, other: SourceSpan) -> bool:
    return one.file == other.file and one.start < other.end and other.start < one.end
