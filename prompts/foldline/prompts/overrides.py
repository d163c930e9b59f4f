"""Stored replacements of a prompt's texts, each valid only for the text it was written for."""

from __future__ import annotations

import copy
from collections.abc import Mapping  # noqa: TC003 - The store resolves the annotations.
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from foldline.prompts.chapter import Chapter
from foldline.prompts.descriptor import text_hash, tool_hash
from foldline.prompts.errors import PromptError, PromptValidationError
from foldline.prompts.markdown import MarkdownSection
from foldline.prompts.tree import replan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.prompts.section import Section
    from foldline.prompts.template import PromptTemplate
    from foldline.prompts.tool import Tool
    from foldline.prompts.visibility import SectionPath

__all__ = [
    "AppliedOverrides",
    "OverrideIssue",
    "PromptOverride",
    "SectionOverride",
    "ToolOverride",
    "apply_overrides",
    "seed_override",
]


@dataclass(frozen=True, slots=True)
class SectionOverride:
    """Replacement texts of one section; each hash is that of the replaced text."""

    path: tuple[str, ...]
    text: str | None = None
    text_hash: str | None = None
    summary: str | None = None
    summary_hash: str | None = None


@dataclass(frozen=True, slots=True)
class ToolOverride:
    """Replacement descriptions of one tool and its parameters."""

    name: str
    text_hash: str
    description: str | None = None
    param_descriptions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PromptOverride:
    """All replacements for one prompt under one tag."""

    ns: str
    key: str
    tag: str = "latest"
    sections: tuple[SectionOverride, ...] = ()
    tools: tuple[ToolOverride, ...] = ()


@dataclass(frozen=True, slots=True)
class OverrideIssue:
    """A replacement that wasn't applied as stored, and the reason.

    `what` is a dotted section key or a tool name; `kind` is `stale`, `unknown`, `refused`, or
    `moved` (applied to the section that has the text now).
    """

    kind: str
    what: str
    reason: str


OutputT_co = TypeVar("OutputT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class AppliedOverrides(Generic[OutputT_co]):
    """A template with replacements applied, and the issues with others."""

    template: PromptTemplate[OutputT_co]
    applied: tuple[str, ...]
    """The dotted keys and tool names that were changed."""
    issues: tuple[OverrideIssue, ...]


def apply_overrides(
    template: PromptTemplate[OutputT_co], override: PromptOverride
) -> AppliedOverrides[OutputT_co]:
    """Return a new template with the replacements that are valid for its texts.

    A replacement is stale, and not applied, if the text it was written for has changed. One for a
    missing section is applied to the section that has exactly that text now, if there is only one:
    a renamed or moved section keeps its replacement. Sections in closed chapters are changed, too;
    it shows once their chapter opens.

    Raises:
        PromptValidationError: The override is for another prompt.
    """
    if (override.ns, override.key) != (template.ns, template.key):
        raise PromptValidationError(
            f"The override is for {override.ns}/{override.key}, "
            f"not for {template.ns}/{template.key}."
        )
    patcher = _Patcher(template.sections, override)
    sections = patcher.patched(template.sections, ())
    patcher.report_unused()
    _ = template.descriptor  # Overrides refer to the declaration, so keep its descriptor.
    fresh = copy.copy(template)
    fresh.sections = sections
    fresh.plan = replan(
        template.plan, sections, heading=template.heading, disclosure=template.disclosure
    )
    fresh.tool_param_descriptions = {
        **(template.tool_param_descriptions or {}),
        **patcher.param_descriptions,
    }
    return AppliedOverrides(fresh, tuple(patcher.applied), tuple(patcher.issues))


def seed_override(template: PromptTemplate[object], *, tag: str = "latest") -> PromptOverride:
    """Return an override that changes nothing yet: every replaceable text with its hash."""
    sections: list[SectionOverride] = []
    tools: list[ToolOverride] = []
    for path, section in _places(template.sections, ()):
        if section.accepts_overrides and section.source_text is not None:
            summary = section.summary_text
            sections.append(
                SectionOverride(
                    path,
                    section.source_text,
                    text_hash(section.source_text),
                    summary,
                    None if summary is None else text_hash(summary),
                )
            )
        tools.extend(
            ToolOverride(
                tool.name, tool_hash(tool), tool.description, dict(tool.param_descriptions)
            )
            for tool in section.tools
            if tool.accepts_overrides
        )
    return PromptOverride(template.ns, template.key, tag, tuple(sections), tuple(tools))


class _Patcher:
    """Applies replacements to one tree of sections."""

    def __init__(self, sections: Sequence[Section[object]], override: PromptOverride) -> None:
        self.applied: list[str] = []
        self.issues: list[OverrideIssue] = []
        self.param_descriptions: dict[str, Mapping[str, str]] = {}
        self._tools = {tool.name: tool for tool in override.tools}
        self._sections = self._located(sections, override)

    def patched(
        self, sections: Sequence[Section[object]], parent: SectionPath
    ) -> tuple[Section[object], ...]:
        result: list[Section[object]] = []
        for section in sections:
            inside = parent if isinstance(section, Chapter) else (*parent, section.key)
            children = self.patched(section.children, inside)
            tools = tuple(self._tool(tool) for tool in section.tools)
            patched = section
            if not isinstance(section, Chapter):
                patched = self._section(section, self._sections.pop(inside, None), inside)
            if children != section.children or tools != section.tools:
                patched = copy.copy(patched)
                vars(patched).update(children=children, tools=tools)
            result.append(patched)
        return tuple(result)

    def report_unused(self) -> None:
        for path in self._sections:
            self._issue("unknown", ".".join(path), "the prompt has no such section")
        for name in self._tools:
            self._issue("unknown", name, "the prompt has no such tool")

    def _located(
        self, sections: Sequence[Section[object]], override: PromptOverride
    ) -> dict[SectionPath, SectionOverride]:
        """Return the replacements by the path of the section that they apply to now."""
        places = dict(_places(sections, ()))
        given = {item.path: item for item in override.sections}
        located: dict[SectionPath, SectionOverride] = {}
        for path, item in given.items():
            if path in places or item.text_hash is None:
                located[path] = item
                continue
            moved = [
                other
                for other, section in places.items()
                if other not in given
                and section.source_text is not None
                and text_hash(section.source_text) == item.text_hash
            ]
            if len(moved) == 1 and moved[0] not in located:
                located[moved[0]] = replace(item, path=moved[0])
                self._issue(
                    "moved", ".".join(path), f"its text is now that of {'.'.join(moved[0])!r}"
                )
            else:
                located[path] = item
        return located

    def _section(
        self, section: Section[object], item: SectionOverride | None, path: SectionPath
    ) -> Section[object]:
        if item is None:
            return section
        dotted = ".".join(path)
        if not section.accepts_overrides:
            self._issue("refused", dotted, "the section accepts no overrides")
            return section
        if not isinstance(section, MarkdownSection):
            self._issue("refused", dotted, "the section has no template text to replace")
            return section
        text = self._current(item.text, item.text_hash, section.source_text, dotted)
        summary = self._current(item.summary, item.summary_hash, section.summary_text, dotted)
        if text is None and summary is None:
            return section
        try:
            patched = section.with_texts(template=text, summary=summary)
        except PromptError as error:
            self._issue("refused", dotted, str(error))
            return section
        self.applied.append(dotted)
        return patched

    def _current(
        self, text: str | None, expected: str | None, current: str | None, what: str
    ) -> str | None:
        """Return the replacement if it is valid for the current text and changes it."""
        if text is None or text == current:
            return None
        if current is None or expected != text_hash(current):
            self._issue("stale", what, "the text it replaces has changed since it was written")
            return None
        return text

    def _tool(self, tool: Tool[object, object]) -> Tool[object, object]:
        item = self._tools.pop(tool.name, None)
        if item is None:
            return tool
        if not tool.accepts_overrides:
            self._issue("refused", tool.name, "the tool accepts no overrides")
            return tool
        declared = tool.param_descriptions
        changed = {n: t for n, t in item.param_descriptions.items() if declared.get(n) != t}
        if item.description in (None, tool.description) and not changed:
            return tool
        if item.text_hash != tool_hash(tool):
            self._issue("stale", tool.name, "the descriptions it replaces have changed")
            return tool
        names = {f.name for f in fields(tool.params_type)} if tool.params_type else set()
        for name in sorted(changed.keys() - names):
            self._issue("unknown", f"{tool.name}.{name}", "the tool has no such parameter")
            del changed[name]
        self.applied.append(tool.name)
        if changed:
            self.param_descriptions[tool.name] = MappingProxyType(changed)
        if item.description in (None, tool.description):
            return tool
        patched = copy.copy(tool)
        patched.description = str(item.description).strip()
        return patched

    def _issue(self, kind: str, what: str, reason: str) -> None:
        self.issues.append(OverrideIssue(kind, what, reason))


def _places(
    sections: Sequence[Section[object]], parent: SectionPath
) -> Iterator[tuple[SectionPath, Section[object]]]:
    """Yield all sections except chapters, including those inside chapters."""
    for section in sections:
        if isinstance(section, Chapter):
            yield from _places(section.sections, parent)
            continue
        path = (*parent, section.key)
        yield path, section
        yield from _places(section.children, path)
