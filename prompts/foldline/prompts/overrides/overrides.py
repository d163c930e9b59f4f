"""Stored replacements of a prompt's texts, each valid only for the text it was written for."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import EllipsisType, MappingProxyType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from foldline.prompts.descriptor import text_hash, tool_hash
from foldline.prompts.errors import PromptError, PromptValidationError
from foldline.prompts.forms.tags import LATEST, fallback_tags
from foldline.prompts.layout.tree import check_role
from foldline.prompts.roles import Role
from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.sections.section import Section
from foldline.prompts.specialise import field_names
from foldline.prompts.tool import Tool
from foldline.prompts.visibility import SectionPath

if TYPE_CHECKING:
    from foldline.prompts.template import PromptTemplate

__all__ = [
    "AppliedOverrides",
    "OverrideIssue",
    "OverrideSource",
    "OverrideStore",
    "PromptOverride",
    "SectionOverride",
    "ToolOverride",
    "apply_overrides",
    "load_overrides",
    "seed_override",
]


@dataclass(frozen=True, slots=True)
class SectionOverride:
    """Replacement texts of one section; each hash is that of the replaced text.

    They are independent: one whose text has changed doesn't keep the others from being applied.
    """

    path: tuple[str, ...]
    text: str | None = None
    text_hash: str | None = None
    summary: str | None = None
    summary_hash: str | None = None
    title: str | None = None
    title_hash: str | None = None


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
    tag: str = LATEST
    sections: tuple[SectionOverride, ...] = ()
    tools: tuple[ToolOverride, ...] = ()

    @property
    def content_hash(self) -> str:
        """The hash of all that it says, for `save(…, expected=…)`."""
        return text_hash(json.dumps(asdict(self), sort_keys=True))


@dataclass(frozen=True, slots=True)
class OverrideIssue:
    """A replacement that wasn't applied as stored, and the reason.

    `what` is a dotted section key or a tool name, and `tag` that of the replacement; `kind` is
    `stale`, `unknown`, `refused`, `moved` (applied to the section that has the text now), or
    `missing` (there are no replacements under the tag in `what`).
    """

    kind: str
    what: str
    reason: str
    tag: str = LATEST


class OverrideSource(Protocol):
    """Anything that has stored overrides, such as an `OverridesStore`."""

    def load(self, ns: str, key: str, tag: str = LATEST) -> PromptOverride | None:
        """Return the overrides of a prompt under a tag; None if there are none."""
        ...


class OverrideStore(OverrideSource, Protocol):
    """Stored overrides that can be changed: an `OverridesStore`, or a `PostgresOverridesStore`."""

    def tags(self, ns: str, key: str) -> tuple[str, ...]:
        """Return a prompt's tags, sorted."""
        ...

    def save(
        self,
        override: PromptOverride,
        *,
        template: PromptTemplate[object] | None = None,
        expected: str | EllipsisType | None = ...,
    ) -> object:
        """Store the overrides.

        Args:
            override: What to store.
            template: The prompt, to refuse texts that it can't show.
            expected: The `content_hash` of the overrides that were read and changed, or None where
                there were none: another writer's change isn't overwritten. By default the last
                writer wins.

        Raises:
            PromptValidationError: `template` is given, and refuses one of the texts.
            OverrideConflictError: What is stored isn't what was `expected`.
        """
        ...

    def delete(self, ns: str, key: str, tag: str = LATEST) -> bool:
        """Remove the overrides of a prompt under a tag; returns True if there were any."""
        ...


OutputT_co = TypeVar("OutputT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class AppliedOverrides(Generic[OutputT_co]):
    """A template with replacements applied, and the issues with others."""

    template: PromptTemplate[OutputT_co]
    applied: tuple[str, ...]
    """The dotted keys and tool names that were changed."""
    issues: tuple[OverrideIssue, ...]


def load_overrides(
    source: OverrideSource, ns: str, key: str, tag: str = LATEST
) -> tuple[PromptOverride, ...]:
    """Return a prompt's overrides under a tag and those it falls back to, as far as there are any.

    Raises:
        PromptValidationError: The source has something that isn't the prompt's overrides.
    """
    overrides = (source.load(ns, key, name) for name in fallback_tags(tag))
    return tuple(override for override in overrides if override is not None)


def bind_overrides(
    template: PromptTemplate[OutputT_co], source: OverrideSource, tag: str
) -> PromptTemplate[OutputT_co]:
    """Return the template with the overrides that `source` has under a tag.

    Its `override_issues` say what wasn't applied, or that there is nothing under that tag.

    Raises:
        PromptValidationError: The source has something that isn't the prompt's overrides.
    """
    overrides = load_overrides(source, template.ns, template.key, tag)
    fresh = apply_overrides(template, *overrides).template
    if tag != LATEST and all(override.tag == LATEST for override in overrides):
        instead = "those of 'latest' are used" if overrides else "the texts are as declared"
        missing = OverrideIssue("missing", tag, f"there are no such overrides; {instead}", tag)
        fresh = copy.copy(fresh)
        fresh.override_issues = (missing, *fresh.override_issues)
    return fresh


def apply_overrides(
    template: PromptTemplate[OutputT_co], *overrides: PromptOverride
) -> AppliedOverrides[OutputT_co]:
    """Return a new template with the replacements that are valid for its texts.

    A replacement is stale, and not applied, if the text it was written for has changed. One for a
    missing section is applied to the section that has exactly that text now, if there is only one:
    a renamed or moved section keeps its replacement. Sections in closed chapters are changed, too;
    it shows once their chapter opens.

    Args:
        template: The prompt as declared.
        overrides: The overrides, such as those of `load_overrides`. Each text is the first valid
            replacement of it; one that is the declared text replaces nothing.

    Raises:
        PromptValidationError: An override is for another prompt.
    """
    for override in overrides:
        if (override.ns, override.key) != (template.ns, template.key):
            raise PromptValidationError(
                f"The override is for {override.ns}/{override.key}, "
                f"not for {template.ns}/{template.key}."
            )
    patcher = _Patcher(template.sections, overrides)
    sections = patcher.patched(template.sections, ())
    patcher.report_unused()
    fresh = template.with_sections(sections)
    fresh.tool_param_descriptions = {
        **(template.tool_param_descriptions or {}),
        **patcher.param_descriptions,
    }
    fresh.override_issues = tuple(patcher.issues)
    return AppliedOverrides(fresh, tuple(patcher.applied), fresh.override_issues)


def seed_override(template: PromptTemplate[object], *, tag: str = LATEST) -> PromptOverride:
    """Return an override that changes nothing yet: every replaceable text with its hash."""
    sections: list[SectionOverride] = []
    tools: list[ToolOverride] = []
    for path, section in _sections_below(template.sections, ()):
        if section.accepts_overrides:
            stored: dict[str, str] = {}
            for role in _ROLES:
                text = role.current(section)
                if text is not None:
                    stored |= {role.name: text, f"{role.name}_hash": text_hash(text)}
            sections.append(SectionOverride(path, **stored))
        tools.extend(
            ToolOverride(
                tool.name, tool_hash(tool), tool.description, dict(tool.param_descriptions)
            )
            for tool in section.tools
            if tool.accepts_overrides
        )
    return PromptOverride(template.ns, template.key, tag, tuple(sections), tuple(tools))


@dataclass(frozen=True, slots=True)
class _Role:
    """A kind of text that a section has one of."""

    name: str
    """The attribute of a `SectionOverride`; that of its hash ends in `_hash`."""
    argument: str
    """The argument of the section's constructor."""
    attribute: str
    """The section's attribute with the current text."""

    def current(self, section: Section[object]) -> str | None:
        text: str | None = getattr(section, self.attribute)
        return text


_ROLES = (
    _Role("title", "title", "title"),
    _Role("text", "template", "source_text"),
    _Role("summary", "summary", "summary_text"),
)


class _Patcher:
    """Applies replacements to one tree of sections."""

    def __init__(
        self, sections: Sequence[Section[object]], overrides: Iterable[PromptOverride]
    ) -> None:
        self.applied: list[str] = []
        self.issues: list[OverrideIssue] = []
        self.param_descriptions: dict[str, Mapping[str, str]] = {}
        self._layers = [
            _Layer(
                override.tag,
                self._located(sections, override),
                {tool.name: tool for tool in override.tools},
            )
            for override in overrides
        ]

    def patched(
        self, sections: Sequence[Section[object]], parent: SectionPath, around: Role | None = None
    ) -> tuple[Section[object], ...]:
        result: list[Section[object]] = []
        for section in sections:
            inside = parent if isinstance(section, Chapter) else (*parent, section.key)
            role = around or section.role
            children = self.patched(section.children, inside, role)
            tools = tuple(self._tool(tool) for tool in section.tools)
            patched = section
            if not isinstance(section, Chapter):
                patched = self._section(section, inside, role)
            if children != section.children or tools != section.tools:
                patched = copy.copy(patched)
                vars(patched).update(children=children, tools=tools)
            result.append(patched)
        return tuple(result)

    def report_unused(self) -> None:
        for layer in self._layers:
            for path in layer.sections:
                dotted = ".".join(path)
                self._issue("unknown", dotted, "the prompt has no such section", layer.tag)
            for name in layer.tools:
                self._issue("unknown", name, "the prompt has no such tool", layer.tag)

    def _located(
        self, sections: Sequence[Section[object]], override: PromptOverride
    ) -> dict[SectionPath, SectionOverride]:
        """Return the replacements by the path of the section that they apply to now."""
        sections_by_path = dict(_sections_below(sections, ()))
        by_path = {item.path: item for item in override.sections}
        located: dict[SectionPath, SectionOverride] = {}
        for path, item in by_path.items():
            if path in sections_by_path or item.text_hash is None:
                located[path] = item
                continue
            moved = [
                other
                for other, section in sections_by_path.items()
                if other not in by_path
                and section.source_text is not None
                and text_hash(section.source_text) == item.text_hash
            ]
            if len(moved) == 1 and moved[0] not in located:
                located[moved[0]] = replace(item, path=moved[0])
                now = f"its text is now that of {'.'.join(moved[0])!r}"
                self._issue("moved", ".".join(path), now, override.tag)
            else:
                located[path] = item
        return located

    def _section(
        self, section: Section[object], path: SectionPath, message: Role | None
    ) -> Section[object]:
        overridden = [
            (layer.tag, layer.sections.pop(path))
            for layer in self._layers
            if path in layer.sections
        ]
        dotted = ".".join(path)
        if not section.accepts_overrides:
            for tag, _ in overridden:
                self._issue("refused", dotted, "the section accepts no overrides", tag)
            return section
        patched = section
        for role in _ROLES if overridden else ():
            for tag, item in overridden:
                text = self._valid(role, item, section, dotted, tag)
                try:
                    if text is not None:
                        twin = copy.copy(patched)
                        twin.set_arguments({role.argument: text})
                        check_role(twin, message, path)
                        patched = twin
                        break
                except PromptError as error:
                    self._issue("refused", dotted, str(error), tag)
        if patched is not section:
            self.applied.append(dotted)
        return patched

    def _valid(
        self, role: _Role, item: SectionOverride, section: Section[object], dotted: str, tag: str
    ) -> str | None:
        """Return the replacement if it is valid for the current text and changes it."""
        text: str | None = getattr(item, role.name)
        current = role.current(section)
        if text is None or text == current:
            return None
        given = section.constructor_arguments
        if (current is None and section.source_text is None) or role.argument not in given:
            self._issue("refused", dotted, f"the section has no {role.argument} to replace", tag)
            return None
        if current is None or getattr(item, f"{role.name}_hash") != text_hash(current):
            reason = f"the {role.name} it replaces has changed since it was written"
            self._issue("stale", dotted, reason, tag)
            return None
        return text

    def _tool(self, tool: Tool[object, object]) -> Tool[object, object]:
        overridden = [
            (layer.tag, layer.tools.pop(tool.name))
            for layer in self._layers
            if tool.name in layer.tools
        ]
        description: str | None = None
        params: dict[str, str] = {}
        for tag, item in overridden:
            changes = self._valid_descriptions(tool, item, tag)
            if changes is None:
                continue
            if description is None and item.description != tool.description:
                description = item.description
            params = {**changes, **params}
        if description is None and not params:
            return tool
        self.applied.append(tool.name)
        if params:
            self.param_descriptions[tool.name] = MappingProxyType(params)
        if description is None:
            return tool
        patched = copy.copy(tool)
        patched.description = description.strip()
        return patched

    def _valid_descriptions(
        self, tool: Tool[object, object], item: ToolOverride, tag: str
    ) -> dict[str, str] | None:
        """Return the changed descriptions of parameters; None if the replacement isn't valid."""
        if not tool.accepts_overrides:
            self._issue("refused", tool.name, "the tool accepts no overrides", tag)
            return None
        declared = tool.param_descriptions
        changed = {n: t for n, t in item.param_descriptions.items() if declared.get(n) != t}
        if item.description in (None, tool.description) and not changed:
            return None
        if item.text_hash != tool_hash(tool):
            self._issue("stale", tool.name, "the descriptions it replaces have changed", tag)
            return None
        names = {*field_names(tool.params_type)}
        for name in sorted(changed.keys() - names):
            self._issue("unknown", f"{tool.name}.{name}", "the tool has no such parameter", tag)
            del changed[name]
        return changed

    def _issue(self, kind: str, what: str, reason: str, tag: str) -> None:
        self.issues.append(OverrideIssue(kind, what, reason, tag))


@dataclass(frozen=True, slots=True)
class _Layer:
    """The replacements of one tag that aren't applied yet."""

    tag: str
    sections: dict[SectionPath, SectionOverride]
    tools: dict[str, ToolOverride]


def _sections_below(
    sections: Sequence[Section[object]], parent: SectionPath
) -> Iterator[tuple[SectionPath, Section[object]]]:
    """Yield all sections except chapters, including those inside chapters."""
    for section in sections:
        if isinstance(section, Chapter):
            yield from _sections_below(section.sections, parent)
            continue
        path = (*parent, section.key)
        yield path, section
        yield from _sections_below(section.children, path)
