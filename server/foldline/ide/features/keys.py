"""The placeholder, field, section, text or key at an offset, and where each is defined."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from itertools import chain

from foldline.ide.analysis.calls import SECTION_PARAMS
from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.analysis.module_analysis import CallSite, ModuleAnalysis
from foldline.ide.analysis.placeholders import Placeholder, TemplateText
from foldline.ide.analysis.section_tree import (
    PlacedSection,
    in_template,
    sections_with_paths,
    span_of,
)
from foldline.ide.analysis.source_map import MappedText
from foldline.ide.analysis.syntax import Dictionary, Display, Expression, Name, String
from foldline.ide.analysis.values import (
    Dataclass,
    Field,
    InstanceValue,
    ModuleValue,
    PromptValue,
    SectionValue,
    TemplateValue,
    Text,
)
from foldline.prompts.sections import section as library
from foldline.records import record

KEY_CHARACTERS = library.KEY_CHARACTERS


class KeyKind(StrEnum):
    """The way a string names a section."""

    PATH = "path"
    """One key of a path tuple: `("context", "examples")`."""
    DOTTED = "dotted"
    """A whole path, or the last key of one: `"context.examples"`."""
    EXACT = "exact"
    """A whole path and nothing shorter."""
    CHAPTER = "chapter"


ARGUMENTS = {
    "visibility_overrides": KeyKind.PATH,
    "section_keys": KeyKind.DOTTED,
    "section_key": KeyKind.DOTTED,
    "goal_section_key": KeyKind.DOTTED,
    "chapter_params": KeyKind.CHAPTER,
    SECTION_PARAMS: KeyKind.EXACT,
}
"""The keyword arguments whose strings name sections."""

_IN_TESTS = dict.fromkeys(("enabled", "may_change", "sections"), KeyKind.EXACT)
"""Those of `foldline.prompts.testing`, where a value isn't a section's own argument."""


def templates_of(analysis: ModuleAnalysis, call: CallSite | None) -> tuple[TemplateValue, ...]:
    """Return the templates that a call concerns; all templates of the file if that is unknown."""
    if call is not None:
        evaluator = analysis.evaluator
        func = call.node.func
        for node in (getattr(func, "value", func), *call.node.args[:1]):
            value = evaluator.value(node, call.scope)
            if isinstance(value, PromptValue | TemplateValue):
                return (value.template,)
    templates = {id(prompt.template): prompt.template for prompt in analysis.prompts}
    templates.update((id(template), template) for template in analysis.templates)
    member, module_scope = analysis.evaluator.member, analysis.scope
    values = [member(module_scope, name) for name in module_scope.names]
    scopes = [value.scope for value in values if isinstance(value, ModuleValue)]
    for value in (*values, *(member(scope, name) for scope in scopes for name in scope.names)):
        if isinstance(value, PromptValue | TemplateValue):
            templates[id(value.template)] = value.template
    return tuple(templates.values())


def key_uses(
    analysis: ModuleAnalysis, offset: int | None = None
) -> Iterator[tuple[CallSite, KeyKind, String, tuple[str, ...]]]:
    """Yield the strings that name sections, each with the keys before it in its path."""
    for facts in analysis.facts:
        if offset is not None and not facts.statement.start <= offset <= facts.statement.end:
            continue
        for call in facts.calls:
            for keyword in call.node.keywords:
                name = keyword.name.id if keyword.name is not None else ""
                kind = ARGUMENTS.get(name) or _IN_TESTS.get(name)
                if kind is not None:
                    for node, before in _strings(keyword.value, kind):
                        yield call, kind, node, before


def _strings(value: Expression, kind: KeyKind) -> Iterator[tuple[String, tuple[str, ...]]]:
    match value:
        case String():
            yield value, ()
        case Dictionary():
            for key in value.keys:
                if key is not None:
                    yield from _strings(key, kind)
        case Display():
            before: tuple[str, ...] = ()
            for item in value.items:
                if isinstance(item, String):
                    yield item, before if kind is KeyKind.PATH else ()
                    before = (*before, item.source.strip("\"'"))


def key_at(analysis: ModuleAnalysis, offset: int) -> tuple[SourceSpan, list[PlacedSection]] | None:
    """Return the section-naming string at an offset, and the sections it may refer to."""
    for use in key_uses(analysis, offset):
        span = span_of(use[2])
        if span.span.holds(offset):
            text, meant = meant_by(analysis, *use)
            return (span, meant) if text is not None else None
    return None


def meant_by(
    analysis: ModuleAnalysis, call: CallSite, kind: KeyKind, node: String, before: tuple[str, ...]
) -> tuple[MappedText | None, list[PlacedSection]]:
    """Return a section-naming string, None if code makes it, and the sections it may refer to."""
    value = analysis.evaluator.value(node, call.scope)
    text = value.known if isinstance(value, Text) and not node.inner else None
    if text is None or not isinstance(value, Text):
        return None, []
    every = chain.from_iterable(map(sections_with_paths, templates_of(analysis, call)))
    return value.mapped, [declared for declared in every if _means(declared, kind, text, before)]


@record
class Key:
    """A key in a literal; `text` is empty, and None is among `declarations`, if code makes it."""

    place: SourceSpan
    text: str
    declarations: frozenset[SourceSpan | None] = frozenset()

    @property
    def declared(self) -> SourceSpan | None:
        """The literal that certainly declares it."""
        return next(iter(self.declarations)) if len(self.declarations) == 1 else None


def keys_of(analysis: ModuleAnalysis) -> Iterator[Key]:
    """Yield the keys that a file declares, and those that its calls name."""
    templates = tuple(analysis.templates)
    sections = chain(analysis.sections, *map(in_template, templates))
    declared = {(declared_key(section), section.key) for section in sections}
    declared |= {(declared_key(prompt), prompt.text("key")) for prompt in templates}
    for span, key in declared:
        if span is not None and span.file == analysis.file:
            yield Key(span, key, frozenset({span}))
    for use in key_uses(analysis):
        text, meant = meant_by(analysis, *use)
        if text is None:
            yield Key(span_of(use[2]), "")
            continue
        named: defaultdict[tuple[int, int], set[SourceSpan | None]] = defaultdict(set)
        for path, section, parents in meant:
            keys, start = path if ".".join(path) == text.text else (section.key,), 0
            for key, owner in zip(keys, (*parents, section)[-len(keys) :], strict=True):
                named[start, start + len(key)].add(declared_key(owner))
                start += len(key) + 1
        for (start, end), declarations in named.items():
            span = text.place(start, end)
            if span is not None:
                yield Key(span, text.text[start:end], frozenset(declarations))


def declared_key(owner: SectionValue | TemplateValue) -> SourceSpan | None:
    """Return the place of a key in its literal; None if code makes it."""
    argument = owner.arguments.get("key")
    if argument is None or not isinstance(argument.node, String) or argument.node.inner:
        return None
    text = argument.value.mapped if isinstance(argument.value, Text) else None
    return text.place(0, len(text.text)) if text is not None and text.text else None


def _means(candidate: PlacedSection, kind: KeyKind, known: str, before: tuple[str, ...]) -> bool:
    chapter = candidate.section.kind == "chapter"
    if kind is KeyKind.CHAPTER:
        return chapter and candidate.section.key == known
    if chapter:
        return False
    if kind is KeyKind.PATH:
        return candidate.path == (*before, known)
    if ".".join(candidate.path) == known:
        return True
    return kind is KeyKind.DOTTED and candidate.section.key == known


_KEY_STRING = rf"""["']([{KEY_CHARACTERS}]*)["']"""
_OPEN_STRING = re.compile(rf"""["']([{KEY_CHARACTERS}]*)\Z""")
_KEYS_BEFORE = re.compile(rf"""\(\s*((?:["'][{KEY_CHARACTERS}]*["']\s*,\s*)*)\Z""")


@record
class KeyContext:
    """A string being typed where a section key is expected."""

    kind: KeyKind
    typed: str
    before: tuple[str, ...]


def key_context(text: str, offset: int) -> KeyContext | None:
    """Return the key being typed, from the text alone: unfinished code seldom parses."""
    string = _OPEN_STRING.search(text, max(0, offset - 80), offset)
    if string is None:
        return None
    window = text[max(0, offset - 600) : string.start()]
    arguments = list(_ARGUMENT.finditer(window))
    if not arguments:
        return None
    argument = arguments[-1]
    between = window[argument.end() :]
    if not _inside(between):
        return None
    kind = ARGUMENTS[argument[1]]
    if argument[1] == "visibility_overrides" and between.rstrip().endswith(":"):
        return None
    if argument[1].endswith("_params") and not _KEY_OF_VALUES.search(_without_values(between)):
        return None
    before: tuple[str, ...] = ()
    keys = _KEYS_BEFORE.search(between)
    if kind is KeyKind.PATH and keys is not None:
        before = tuple(re.findall(_KEY_STRING, keys[1]))
    return KeyContext(kind, string[1], before)


_ARGUMENT = re.compile(rf"\b({'|'.join(ARGUMENTS)})\s*=(?!=)\s*")
_KEY_OF_VALUES = re.compile(r"\A\{(?:[^(\[{,]*,)*\s*\Z")
_BRACKETS = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_STRINGS = re.compile(r"""("[^"\n]*"|'[^'\n]*')""")


def _without_values(between: str) -> str:
    """Return the text without strings and what is in brackets that are closed."""
    between = _STRINGS.sub("", between)
    while (shorter := _BRACKETS.sub("", between)) != between:
        between = shorter
    return between


def _inside(between: str) -> bool:
    """Return True if an argument's value extends to the end of `between`."""
    depth = 0
    for character in _STRINGS.sub("", between):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            return False
        if depth < 0:
            return False
    return True


def definitions(analysis: ModuleAnalysis, offset: int) -> tuple[SourceSpan, ...]:
    """Return the fields of the placeholder at an offset, or the sections that a key there names."""
    placeholder = placeholder_at(analysis, offset)
    if placeholder is not None:
        return tuple(
            span_of(field.name) for _, field in placeholder.fields if field.name is not None
        )
    key = key_at(analysis, offset)
    if key is not None:
        return tuple(dict.fromkeys(_declared(placed.section) for placed in key[1]))
    return ()


def _declared(section: SectionValue) -> SourceSpan:
    argument = section.arguments.get("key")
    return span_of(argument.node if argument is not None else section.node)


@record(eq=False)
class PlaceholderAt:
    """A placeholder and the texts of all sections that share it."""

    placeholder: Placeholder
    texts: tuple[TemplateText, ...]

    @property
    def fields(self) -> tuple[tuple[Dataclass, Field], ...]:
        """The fields that it names, one per params type."""
        by_identity: dict[object, tuple[Dataclass, Field]] = {}
        for text in self.texts:
            owner = text.owner
            if isinstance(owner, Dataclass):
                field = owner.field(self.placeholder.name)
                if field is not None:
                    by_identity.setdefault(field.name or field.id, (owner, field))
        return tuple(by_identity.values())


def placeholder_at(analysis: ModuleAnalysis, offset: int) -> PlaceholderAt | None:
    """Return the placeholder at an offset."""
    innermost: Placeholder | None = None
    innermost_span: Span | None = None
    texts: list[TemplateText] = []
    for text in text_at(analysis, offset):
        for placeholder in text.placeholders:
            source = placeholder.source
            if source is None or source.file != analysis.file or not source.span.holds(offset):
                continue
            if innermost is None and placeholder.name:
                innermost, innermost_span = placeholder, source.span
            if innermost is not None and source.span == innermost_span:
                texts.append(text)
    return PlaceholderAt(innermost, tuple(texts)) if innermost is not None else None


def field_at(analysis: ModuleAnalysis, offset: int) -> tuple[Dataclass, Field, SourceSpan] | None:
    """Return the field whose declaration or constructor keyword is at an offset, and its place."""
    declared = (
        (field.name, kind, field)
        for kind in analysis.dataclasses
        for field in kind.fields
        if field.name is not None and field.name.file == analysis.file
    )
    for name, kind, field in chain(declared, constructor_keywords(analysis)):
        span = span_of(name)
        if span.span.holds(offset):
            return kind, field, span
    return None


def constructor_keywords(analysis: ModuleAnalysis) -> Iterator[tuple[Name, Dataclass, Field]]:
    """Yield the keywords of the file's constructor calls, with the fields that they set."""
    for facts in analysis.facts:
        for call in facts.calls:
            value = analysis.evaluator.value(call.node, call.scope)
            if not isinstance(value, InstanceValue) or value.node is not call.node:
                continue
            for keyword in call.node.keywords:
                if keyword.name is not None:
                    field = value.dataclass.field(keyword.name.id)
                    if field is not None:
                        yield keyword.name, value.dataclass, field


def sections_at(analysis: ModuleAnalysis, offset: int) -> tuple[SectionValue, ...]:
    """Return the sections that the innermost constructor call around an offset may make."""
    best: Span | None = None
    sections: dict[int, SectionValue] = {}
    for facts in analysis.facts:
        if not facts.statement.start <= offset <= facts.statement.end:
            continue
        for section in facts.sections:
            if section.node.file != analysis.file:
                continue
            span = span_of(section.node).span
            if span.holds(offset) and (best is None or best.covers(span)):
                if span != best:
                    sections.clear()
                best = span
                sections[id(section)] = section
    return tuple(sections.values())


def text_at(analysis: ModuleAnalysis, offset: int) -> tuple[TemplateText, ...]:
    """Return the template texts whose literals contain an offset."""
    return tuple(
        text for text in analysis.texts if text.written.offset_of(analysis.file, offset) is not None
    )
