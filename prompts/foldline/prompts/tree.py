"""The plan of a template: its tree with everything worked out that never changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foldline.prompts.blocks import Segment, SegmentKind
from foldline.prompts.chapter import Chapter
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.headings import Heading
from foldline.prompts.section import Section
from foldline.prompts.visibility import SectionVisibility

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.prompts.headings import HeadingFormatter
    from foldline.prompts.tool import Tool
    from foldline.prompts.visibility import SectionPath

__all__ = ["OPEN_SECTIONS", "READ_SECTION", "Node", "Plan", "build_plan", "replan"]

OPEN_SECTIONS = "open_sections"
READ_SECTION = "read_section"


@dataclass(slots=True, eq=False)
class Node:
    """A section at its place."""

    section: Section[object]
    path: SectionPath
    dotted: str
    number: str
    depth: int
    params_type: type | None
    heading: Segment | None
    title: str
    children: tuple[Node, ...]
    opened_by: str
    """The disclosure tool that the suffix names while the section is summarised."""
    gated: bool
    """Whether anything can disable the section."""
    declared: SectionVisibility | None
    """The visibility that is declared; None where a callable or a subclass decides."""

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(slots=True, eq=False)
class Plan:
    """All sections of a template at their places; nothing in it changes."""

    roots: tuple[Node, ...]
    by_path: dict[SectionPath, Node] = field(default_factory=dict)
    by_dotted: dict[str, Node] = field(default_factory=dict)
    defaults: dict[type, object] = field(default_factory=dict)
    """The first default that is configured for each parameter type."""
    known_types: frozenset[type] = frozenset()
    """Parameter types that may be bound: those of closed chapters too."""
    inert_paths: frozenset[SectionPath] = frozenset()
    """Paths inside closed chapters: an override for them has no effect yet."""
    chapter_paths: frozenset[SectionPath] = frozenset()
    """Paths of the chapters themselves: an override for them has no effect at all."""


def build_plan(
    sections: Sequence[Section[object]], *, heading: HeadingFormatter, disclosure: str
) -> Plan:
    """The plan of these sections, with the chapters among them closed.

    Raises:
        PromptValidationError: A section is unspecialised, or keys or tool names clash, be it
            inside a closed chapter.
    """
    everything = _Everything(sections)
    roots = _nodes(_without_chapters(sections), (), "", heading, disclosure)
    plan = Plan(roots)
    for root in roots:
        for node in root.walk():
            plan.by_path[node.path] = node
            plan.by_dotted[node.dotted] = node
            default = node.section.default_params
            if node.params_type is not None and default is not None:
                plan.defaults.setdefault(node.params_type, default)
    plan.known_types = frozenset(everything.types)
    plan.inert_paths = frozenset(everything.paths - plan.by_path.keys())
    plan.chapter_paths = frozenset(everything.chapter_paths)
    return plan


def replan(
    before: Plan, sections: Sequence[Section[object]], *, heading: HeadingFormatter, disclosure: str
) -> Plan:
    """The plan of changed sections that still knows what was declared before the change."""
    plan = build_plan(sections, heading=heading, disclosure=disclosure)
    plan.known_types |= before.known_types
    declared = before.by_path.keys() | before.inert_paths | plan.inert_paths
    plan.inert_paths = frozenset(declared - plan.by_path.keys())
    plan.chapter_paths |= before.chapter_paths
    return plan


def _without_chapters(sections: Sequence[Section[object]]) -> list[Section[object]]:
    return [section for section in sections if not isinstance(section, Chapter)]


def _nodes(
    sections: Sequence[Section[object]],
    parent: SectionPath,
    prefix: str,
    heading: HeadingFormatter,
    disclosure: str,
) -> tuple[Node, ...]:
    nodes = []
    depth = len(parent)
    for place, section in enumerate(sections, start=1):
        path = (*parent, section.key)
        number = f"{prefix}{place}"
        line = _heading_line(heading, Heading(number, section.title, depth, path))
        children = _nodes(
            _without_chapters(section.children), path, f"{number}.", heading, disclosure
        )
        with_tools = bool(section.tools) or any(c.opened_by == OPEN_SECTIONS for c in children)
        nodes.append(
            Node(
                section=section,
                path=path,
                dotted=".".join(path),
                number=number,
                depth=depth,
                params_type=section.params_type,
                heading=Segment(SegmentKind.HEADING, line) if line else None,
                title=section.title,
                children=children,
                opened_by=OPEN_SECTIONS if with_tools or disclosure == "open" else READ_SECTION,
                gated=section.enabled is not None
                or type(section).is_enabled is not Section.is_enabled,
                declared=_declared(section),
            )
        )
    return tuple(nodes)


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


def _declared(section: Section[object]) -> SectionVisibility | None:
    if type(section).visibility_for is not Section.visibility_for:
        return None
    visibility = section.visibility
    return visibility if isinstance(visibility, SectionVisibility) else None


class _Everything:
    """All that is declared, closed chapters included, checked for clashes."""

    def __init__(self, sections: Sequence[Section[object]]) -> None:
        self.paths: set[SectionPath] = set()
        self.chapter_paths: set[SectionPath] = set()
        self.types: set[type] = set()
        self._dotted: dict[str, SectionPath] = {}
        self._tools: dict[str, SectionPath] = {}
        self._chapters: set[str] = set()
        self._visit(sections, ())
        for path in self.paths:
            if path[-1] in self._chapters:
                raise PromptValidationError(
                    f"The chapter {path[-1]!r} and the section {'.'.join(path)!r} share a key; "
                    "rename one of them.",
                    section_path=path,
                )

    def _visit(self, sections: Sequence[Section[object]], parent: SectionPath) -> None:
        for section in sections:
            path = (*parent, section.key)
            self._specialised(section, path)
            if isinstance(section, Chapter):
                if section.key in self._chapters:
                    raise PromptValidationError(
                        f"Two chapters have the key {section.key!r}; rename one of them.",
                        section_path=path,
                    )
                self._chapters.add(section.key)
                self.chapter_paths.add(path)
                self._visit(section.sections, parent)
                continue
            self._place(path)
            for tool in section.tools:
                self._tool(tool, path)
            self._visit(section.children, path)

    def _specialised(self, section: Section[object], path: SectionPath) -> None:
        if not section.is_specialised:
            name = type(section).__name__
            raise PromptValidationError(
                f"Section {'.'.join(path)!r} does not say what its parameters are: write "
                f"`{name}[Params](…)`, or `{name}[None](…)` if it has none.",
                section_path=path,
            )
        if section.params_type is not None:
            self.types.add(section.params_type)

    def _place(self, path: SectionPath) -> None:
        dotted = ".".join(path)
        if path in self.paths:
            raise PromptValidationError(
                f"Two sections have the key {dotted!r}; rename one of them.", section_path=path
            )
        if dotted in self._dotted:
            raise PromptValidationError(
                f"The dotted key {dotted!r} could mean the sections {self._dotted[dotted]} or "
                f"{path}; rename one of them.",
                section_path=path,
            )
        self.paths.add(path)
        self._dotted[dotted] = path

    def _tool(self, tool: Tool[object, object], path: SectionPath) -> None:
        if tool.name in (OPEN_SECTIONS, READ_SECTION):
            raise PromptValidationError(
                f"Section {'.'.join(path)!r}: the tool name {tool.name!r} is reserved for the "
                "library's own tool; rename yours.",
                section_path=path,
            )
        if tool.name in self._tools:
            raise PromptValidationError(
                f"Two tools have the name {tool.name!r}, in the sections "
                f"{'.'.join(self._tools[tool.name])!r} and {'.'.join(path)!r}; rename one.",
                section_path=path,
            )
        self._tools[tool.name] = path
