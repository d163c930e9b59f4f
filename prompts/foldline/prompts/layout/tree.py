"""The plan of a template: its tree, with everything precomputed that never changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from foldline.prompts import refusals
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.layout.layout import (
    OPEN_SECTIONS,
    READ_SECTION,
    HeadingFormatter,
    Place,
    arrange,
)
from foldline.prompts.roles import Role
from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.sections.markdown import MarkdownSection
from foldline.prompts.sections.section import Section
from foldline.prompts.tool import Tool
from foldline.prompts.visibility import SectionPath, SectionVisibility
from foldline.prompts.wording import ENGLISH, Wording


@dataclass(frozen=True, slots=True)
class DeclaredSection:
    """A section that is part of a template, in a closed chapter or outside of chapters."""

    path: SectionPath
    params_type: type | None


@dataclass(slots=True, eq=False)
class Node(Place[Section[object]]):
    """A section at its position, with everything that is the same in all renders."""

    params_type: type | None = field(init=False)
    gated: bool = field(init=False)
    """True if the section can be disabled."""
    declared: SectionVisibility | None = field(init=False)
    """The declared visibility; None if a callable or a subclass decides."""
    _note: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        section = self.section
        self.params_type = section.params_type
        self.gated = (
            section.enabled is not None or type(section).is_enabled is not Section.is_enabled
        )
        self.declared = _declared(section)

    def note(self, wording: Wording, subsections: Sequence[str]) -> str:
        """Return the note below the section's summary in the wording of its plan."""
        if subsections:
            return wording.note(self.opened_by, self.dotted, subsections)
        if self._note is None:
            # At worst, two threads compute the same.
            self._note = wording.note(self.opened_by, self.dotted, ())
        return self._note


@dataclass(slots=True, eq=False)
class Plan:
    """All sections of a template at their positions; immutable."""

    roots: tuple[Node, ...]
    wording: Wording = ENGLISH
    prompt: str = ""
    """The template's `ns/key`."""
    by_path: dict[SectionPath, Node] = field(default_factory=dict)
    by_dotted: dict[str, Node] = field(default_factory=dict)
    defaults: dict[type, object] = field(default_factory=dict)
    """The first default parameters of each type."""
    declared: dict[str, DeclaredSection] = field(default_factory=dict)
    """All sections by dotted key, including those of closed chapters."""
    known_types: frozenset[type] = frozenset()
    """Parameter types that may be bound, including those of closed chapters."""
    inert_paths: frozenset[SectionPath] = frozenset()
    """Paths inside closed chapters: an override for them has no effect yet."""
    chapter_paths: frozenset[SectionPath] = frozenset()
    """Paths of the chapters themselves: an override for them has no effect at all."""
    closed: frozenset[str] = frozenset()
    """Keys of the chapters that are neither open nor gone."""


def build_plan(
    sections: Sequence[Section[object]],
    *,
    heading: HeadingFormatter,
    disclosure: str,
    wording: Wording,
    prompt: str,
    before: Plan | None = None,
) -> Plan:
    """Return the plan of these sections, with chapters closed; see `arrange` for `disclosure`.

    The declarations of the plan before the sections changed are kept.

    Raises:
        PromptValidationError: A section is unspecialised, or keys or tool names clash, even inside
            a closed chapter.
    """
    everything = _Everything(sections)
    roots = arrange(sections, Node, heading=heading, disclosure=disclosure)
    plan = Plan(roots, wording, prompt)
    for root in roots:
        for node in root.walk():
            plan.by_path[node.path] = node
            plan.by_dotted[node.dotted] = node
            default = node.section.default_params
            if node.params_type is not None and default is not None:
                plan.defaults.setdefault(node.params_type, default)
    earlier = before or Plan(())
    paths = everything.paths | earlier.by_path.keys() | earlier.inert_paths
    plan.known_types = earlier.known_types | everything.types
    plan.declared = {**earlier.declared, **everything.sections}
    plan.inert_paths = frozenset(paths - plan.by_path.keys())
    plan.closed = frozenset(everything.chapters)
    plan.chapter_paths = earlier.chapter_paths | everything.chapter_paths
    return plan


def check_role(section: Section[object], role: Role | None, path: SectionPath) -> None:
    """Check that a section shows nothing untrusted in a message of this role."""
    untrusted = section.untrusted if isinstance(section, MarkdownSection) else ()
    if untrusted and role in (Role.SYSTEM, Role.DEVELOPER):
        raise PromptValidationError(
            f"Section {'.'.join(path)!r}: {refusals.untrusted_role(untrusted[0], role)}",
            section_path=path,
            placeholder=untrusted[0],
        )


def _declared(section: Section[object]) -> SectionVisibility | None:
    if type(section).visibility_for is not Section.visibility_for:
        return None
    visibility = section.visibility
    return visibility if isinstance(visibility, SectionVisibility) else None


class _Everything:
    """All declarations, including closed chapters, checked for clashes."""

    def __init__(self, sections: Sequence[Section[object]]) -> None:
        self.paths: set[SectionPath] = set()
        self.chapter_paths: set[SectionPath] = set()
        self.types: set[type] = set()
        self.sections: dict[str, DeclaredSection] = {}
        self._tools: dict[str, SectionPath] = {}
        self.chapters: set[str] = set()
        self._visit(sections, (), None)

    def _visit(
        self, sections: Sequence[Section[object]], parent: SectionPath, around: Role | None
    ) -> None:
        for section in sections:
            path = (*parent, section.key)
            self._specialised(section, path)
            role = self._role(section, path, around)
            if isinstance(section, Chapter):
                if section.key in self.chapters:
                    raise PromptValidationError(
                        f"Two chapters have the key {section.key!r}; rename one of them.",
                        section_path=path,
                    )
                self.chapters.add(section.key)
                self.chapter_paths.add(path)
                self._visit(section.sections, parent, role)
                continue
            self._place(path, section.params_type)
            check_role(section, role, path)
            for tool in section.tools:
                self._tool(tool, path)
            self._visit(section.children, path, role or Role.USER)

    def _specialised(self, section: Section[object], path: SectionPath) -> None:
        if not section.is_specialised:
            name = type(section).__name__
            base = section.params_base
            raise PromptValidationError(
                f"Section {'.'.join(path)!r} doesn't declare its parameters: "
                + refusals.not_specialised(name, None if base is None else base.__name__),
                section_path=path,
            )
        if section.params_type is not None:
            self.types.add(section.params_type)

    def _role(
        self, section: Section[object], path: SectionPath, around: Role | None
    ) -> Role | None:
        if around is None or section.role in (None, around):
            return around or section.role
        raise PromptValidationError(
            refusals.nested_role(repr(".".join(path)), str(section.role), around),
            section_path=path,
        )

    def _place(self, path: SectionPath, params_type: type | None) -> None:
        dotted = ".".join(path)
        if path in self.paths:
            raise PromptValidationError(
                f"Two sections have the key {dotted!r}; rename one of them.", section_path=path
            )
        if dotted in self.sections:
            other = self.sections[dotted].path
            raise PromptValidationError(
                f"The dotted key {dotted!r} could mean the sections {other} or {path}; rename one "
                "of them.",
                section_path=path,
            )
        self.paths.add(path)
        self.sections[dotted] = DeclaredSection(path, params_type)

    def _tool(self, tool: Tool[object, object], path: SectionPath) -> None:
        if tool.name in (OPEN_SECTIONS, READ_SECTION):
            raise PromptValidationError(
                f"Section {'.'.join(path)!r}: the tool name {tool.name!r} is reserved for the "
                "library's own tool; rename yours.",
                section_path=path,
            )
        if tool.name in self._tools:
            first, second = ".".join(self._tools[tool.name]), ".".join(path)
            raise PromptValidationError(
                refusals.same_tool_name(repr(tool.name), repr(first), repr(second)),
                section_path=path,
            )
        self._tools[tool.name] = path
