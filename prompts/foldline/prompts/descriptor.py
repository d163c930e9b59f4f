"""Descriptors of prompts as data, for versioning, overrides and tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.roles import Role
from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.sections.section import Section
from foldline.prompts.tool import Tool
from foldline.prompts.visibility import SectionPath, SectionVisibility
from foldline.prompts.wording import ENGLISH

if TYPE_CHECKING:
    from foldline.prompts.template import PromptTemplate


@dataclass(frozen=True, slots=True)
class ChapterDescriptor:
    """A chapter as declared; `parent_path` is empty for one at the root of the prompt."""

    key: str
    title: str
    description: str | None
    parent_path: SectionPath


@dataclass(frozen=True, slots=True)
class SectionDescriptor:
    """A section as declared, with hashes instead of texts."""

    path: SectionPath
    title: str
    kind: str
    """The name of the section's class."""
    params: str | None
    visibility: str
    """`FULL`, `SUMMARY`, or `SELECTED` if a callable decides."""
    accepts_overrides: bool
    chapters: tuple[str, ...]
    """Keys of the enclosing chapters, outermost first."""
    text_hash: str | None
    summary_hash: str | None
    tools: tuple[str, ...]
    role: str | None = field(default=None, repr=False)
    """The declared role; None for sections that declare none."""


@dataclass(frozen=True, slots=True)
class ToolDescriptor:
    """A tool as declared, with a hash of its descriptions."""

    name: str
    section_path: SectionPath
    text_hash: str
    accepts_overrides: bool


@dataclass(frozen=True, slots=True)
class PromptDescriptor:
    """A prompt as declared, including open and closed chapters.

    `content_hash` changes with every change of a text, a title, a tool or the structure.
    """

    ns: str
    key: str
    name: str | None
    sections: tuple[SectionDescriptor, ...]
    tools: tuple[ToolDescriptor, ...]
    chapters: tuple[ChapterDescriptor, ...]
    content_hash: str


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, in hexadecimal."""
    from hashlib import sha256

    # UTF-8 has no lone surrogates, but a text with one needs a hash, too.
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tool_hash(tool: Tool[object, object]) -> str:
    """Return the hash of a tool's description and its parameters' descriptions."""
    return text_hash(repr((tool.description, sorted(tool.param_descriptions.items()))))


def describe(template: PromptTemplate[object]) -> PromptDescriptor:
    """Return the descriptor of a template as declared."""
    survey = _Survey()
    survey.visit(template.sections, (), ())
    identity: tuple[object, ...] = (
        template.ns,
        template.key,
        survey.sections,
        survey.tools,
        survey.chapters,
        template.disclosure,
        _output_identity(template),
        # Only where there are some: the hashes of other prompts stay as they were.
        *([survey.other_texts] if survey.other_texts else []),
        *((section.path, section.role) for section in survey.sections if section.role),
    )
    if template.wording != ENGLISH:
        identity = (*identity, template.wording)
    return PromptDescriptor(
        ns=template.ns,
        key=template.key,
        name=template.name,
        sections=tuple(survey.sections),
        tools=tuple(survey.tools),
        chapters=tuple(survey.chapters),
        content_hash=text_hash(repr(identity)),
    )


class _Survey:
    def __init__(self) -> None:
        self.sections: list[SectionDescriptor] = []
        self.tools: list[ToolDescriptor] = []
        self.chapters: list[ChapterDescriptor] = []
        self.other_texts: list[tuple[SectionPath, str]] = []

    def visit(
        self,
        sections: Sequence[Section[object]],
        parent: SectionPath,
        chapters: tuple[str, ...],
        anchor: SectionPath | None = None,
        role: Role | None = None,
    ) -> None:
        for section in sections:
            section_role = section.role or role
            if isinstance(section, Chapter):
                where = parent if anchor is None else anchor
                self.chapters.append(
                    ChapterDescriptor(section.key, section.title, section.description, where)
                )
                self.visit(
                    section.sections,
                    parent,
                    (*chapters, section.key),
                    (*where, section.key),
                    section_role,
                )
                continue
            path = (*parent, section.key)
            self._section(section, path, chapters, section_role)
            self.visit(section.children, path, chapters)

    def _section(
        self,
        section: Section[object],
        path: SectionPath,
        chapters: tuple[str, ...],
        role: Role | None,
    ) -> None:
        visibility = section.visibility
        kind = section.params_type
        self.sections.append(
            SectionDescriptor(
                path=path,
                title=section.title,
                kind=type(section).__name__.partition("[")[0],
                params=None if kind is None else kind.__qualname__,
                visibility=(
                    visibility.name if isinstance(visibility, SectionVisibility) else "SELECTED"
                ),
                accepts_overrides=section.accepts_overrides,
                chapters=chapters,
                text_hash=_hash_of(section.source_text),
                summary_hash=_hash_of(section.summary_text),
                tools=tuple(tool.name for tool in section.tools),
                role=role,
            )
        )
        if section.other_text is not None:
            self.other_texts.append((path, section.other_text))
        for tool in section.tools:
            self.tools.append(
                ToolDescriptor(tool.name, path, tool_hash(tool), tool.accepts_overrides)
            )


def _output_identity(template: PromptTemplate[object]) -> object:
    config = template.structured_output
    if config is None:
        return None
    try:
        return config.container, config.schema
    except PromptValidationError:
        # A string annotation that can't be resolved; renders don't need it.
        return config.container, config.output_type.__qualname__, config.allow_extra_keys


def _hash_of(text: str | None) -> str | None:
    return None if text is None else text_hash(text)
