"""Layout of a prompt: the positions of its sections, and how their texts are joined.

`arrange` numbers the sections and makes their headings, `piece` builds the part of one section, and
`assemble` joins the pieces. Executed prompts and those read from source use the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.layout.blocks import Block, Span
from foldline.prompts.roles import SECTION_ROLES, Role
from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.visibility import SectionPath, SectionVisibility

OPEN_SECTIONS = "open_sections"
READ_SECTION = "read_section"

BLANK_LINE = Segment(SegmentKind.SEPARATOR, "\n\n")


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's position in its template; `depth` is 0 for root sections."""

    number: str
    title: str
    depth: int
    path: tuple[str, ...]

    @property
    def marks(self) -> str:
        """The number signs for this depth: `##` for root sections."""
        return "#" * (self.depth + 2)


HeadingFormatter: TypeAlias = Callable[[Heading], str]
"""Returns the heading line; an empty string omits the heading."""


def dotted_heading(heading: Heading) -> str:
    """The default form: `## 1. Title`, `### 1.1. Subtitle`."""
    return f"{heading.marks} {heading.number}. {heading.title}"


def undotted_heading(heading: Heading) -> str:
    """The older form: `## 1 Title`, `### 1.1 Subtitle`."""
    return f"{heading.marks} {heading.number} {heading.title}"


class Arrangeable(Protocol):
    """The attributes of a section that its position depends on."""

    @property
    def key(self) -> str:
        """The name within the parent."""

    @property
    def title(self) -> str:
        """One line of text."""

    @property
    def tools(self) -> Sequence[object]:
        """The tools that a summary hides."""

    @property
    def role(self) -> Role | None:
        """The declared role; None for that of the section above, or the user's."""

    @property
    def children(self) -> Sequence[Arrangeable]:
        """The child sections, in order."""


SectionT_co = TypeVar("SectionT_co", bound=Arrangeable, covariant=True)
PlaceT = TypeVar("PlaceT", bound="Place[Arrangeable]")


@dataclass(slots=True, eq=False)
class Place(Generic[SectionT_co]):
    """A section at its position in the prompt."""

    section: SectionT_co
    path: SectionPath
    dotted: str
    number: str
    depth: int
    title: str
    heading: Segment | None
    children: tuple[Self, ...]
    role: Role
    opened_by: str
    """The disclosure tool that a summary's suffix names."""

    def walk(self) -> Iterator[Self]:
        """Yield this place and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


class Piece(NamedTuple, Generic[PlaceT]):
    """A section's part of the text, before its offset is known."""

    node: PlaceT
    enabled: bool
    visibility: SectionVisibility
    segments: list[Segment]


def arrange(
    sections: Sequence[Arrangeable],
    place: type[PlaceT],
    *,
    heading: HeadingFormatter,
    disclosure: str,
    path: SectionPath = (),
    number: str = "",
    role: Role | None = None,
) -> tuple[PlaceT, ...]:
    """Return the places of sections and of all sections below them; chapters are closed.

    Args:
        sections: The sections in order.
        place: The class of the places.
        heading: Makes the heading lines.
        disclosure: With `open`, `open_sections` opens every summary; otherwise only those that
            hide tools, and `read_section` reads the others.
        path: The path of the parent section.
        number: The number of the parent section.
        role: The role of the parent section; None at the top, where sections of one role follow
            each other: system, developer, user.

    Raises:
        PromptValidationError: `heading` raised, or didn't return one line of text.
    """
    shown = [section for section in sections if not isinstance(section, Chapter)]
    if role is None:
        shown.sort(key=lambda section: SECTION_ROLES.index(section.role or Role.USER))
    places: list[PlaceT] = []
    for position, section in enumerate(shown, start=1):
        at = Heading(
            section_number(number, position), section.title, len(path), (*path, section.key)
        )
        line = _heading_line(heading, at)
        section_role = role or section.role or Role.USER
        children = arrange(
            section.children,
            place,
            heading=heading,
            disclosure=disclosure,
            path=at.path,
            number=at.number,
            role=section_role,
        )
        opens = (
            disclosure == "open"
            or bool(section.tools)
            or any(child.opened_by == OPEN_SECTIONS for child in children)
        )
        places.append(
            place(
                section=section,
                path=at.path,
                dotted=".".join(at.path),
                number=at.number,
                depth=at.depth,
                title=at.title,
                heading=Segment(SegmentKind.HEADING, line) if line else None,
                children=children,
                role=section_role,
                opened_by=OPEN_SECTIONS if opens else READ_SECTION,
            )
        )
    return tuple(places)


def section_number(above: str, position: int) -> str:
    """Return the number of the section at the one-based `position` below the number `above`."""
    return f"{above}.{position}" if above else str(position)


def piece(
    node: PlaceT,
    visibility: SectionVisibility,
    body: Sequence[Segment],
    note: str | None = None,
) -> Piece[PlaceT]:
    """Return the piece of an enabled section: its heading, body and, for a summary, suffix.

    Blank text is omitted. The suffix has the note on opening the section; None for no suffix.
    """
    segments = [] if node.heading is None else [node.heading]
    if _has_text(body):
        if segments:
            segments.append(BLANK_LINE)
        segments += body
    if note is not None:
        before = "\n\n---\n" if segments else "---\n"
        segments.append(Segment(SegmentKind.SUFFIX, before + note))
    return Piece(node, True, visibility, segments)


def assemble(pieces: Sequence[Piece[PlaceT]]) -> tuple[str, tuple[Block, ...]]:
    """Join pieces to a text and its blocks; a blank line separates those with any text."""
    last = len(pieces) - 1
    while last >= 0 and not pieces[last].segments:
        last -= 1
    texts: list[str] = []
    blocks: list[Block] = []
    start = 0
    for index, (node, enabled, visibility, segments) in enumerate(pieces):
        if segments and index != last:
            segments.append(BLANK_LINE)
        text = "".join([segment.text for segment in segments])
        texts.append(text)
        end = start + len(text)
        blocks.append(
            Block(
                node.path,
                node.number,
                node.title,
                node.depth,
                visibility,
                enabled,
                Span(start, end),
                tuple(segments),
                node.opened_by if enabled and visibility is SectionVisibility.SUMMARY else None,
                node.role,
            )
        )
        start = end
    return "".join(texts), tuple(blocks)


def _heading_line(formatter: HeadingFormatter, place: Heading) -> str:
    try:
        line = formatter(place)
    except Exception as error:
        raise PromptValidationError(
            f"Section {'.'.join(place.path)!r}: `heading` raised {type(error).__name__}: {error}",
            section_path=place.path,
        ) from error
    if not isinstance(line, str) or len(line.splitlines()) > 1:
        raise PromptValidationError(
            f"Section {'.'.join(place.path)!r}: `heading` gave {line!r}; give one line of text.",
            section_path=place.path,
        )
    return line


def _has_text(body: Sequence[Segment]) -> bool:
    for segment in body:
        text = segment.text
        if text and not text.isspace():
            return True
    return False
