"""Analysis of one file: its sections, templates, tools and params types."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from foldline.ide.analysis import instances
from foldline.ide.analysis.modules import prompt_values
from foldline.ide.analysis.params import dataclass_of
from foldline.ide.analysis.placeholders import texts_of
from foldline.ide.analysis.section_tree import is_gone
from foldline.ide.analysis.static_render import rendered, summarized_blocks
from foldline.ide.analysis.syntax import (
    Assign,
    Attribute,
    Block,
    Call,
    ClassDefinition,
    Conditional,
    Dictionary,
    Display,
    Evaluate,
    Expression,
    FunctionDefinition,
    Lambda,
    Opaque,
    Operation,
    Return,
    Starred,
    Statement,
    String,
    Subscript,
)
from foldline.ide.analysis.values import (
    ROOTS,
    ClassValue,
    Dataclass,
    PromptValue,
    SectionValue,
    TemplateValue,
    ToolValue,
    kept,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.model import PromptModule, StaticPrompt
    from foldline.ide.analysis.modules import Document
    from foldline.ide.analysis.placeholders import Placeholder, TemplateText
    from foldline.ide.analysis.scopes import ModuleScope, Scope
    from foldline.ide.analysis.static_render import StaticRender, SummarizedBlock
    from foldline.ide.analysis.syntax import Anchor, Name
    from foldline.ide.analysis.top_level import TopLevel


@dataclass(frozen=True, slots=True, eq=False)
class CallSite:
    """A call and the scope that it is evaluated in."""

    node: Call
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False)
class StatementFacts:
    """The sections, templates, tools and params types of one top-level statement."""

    statement: TopLevel
    calls: tuple[CallSite, ...]
    """Every call, outer ones first."""
    sections: tuple[SectionValue, ...]
    """Every section constructed here, including those in functions that are never called."""
    templates: tuple[TemplateValue, ...]
    tools: tuple[ToolValue, ...]
    prompts: tuple[PromptValue, ...]
    """Prompts constructed or bound here."""
    classes: tuple[tuple[ClassDefinition, Scope], ...]
    dataclasses: tuple[Dataclass, ...]
    """The classes that are or may be dataclasses."""
    texts: tuple[TemplateText, ...]
    """The template texts of these sections and of all sections in these templates."""


@dataclass(frozen=True, slots=True, eq=False)
class PromptFacts:
    """A prompt that a variable holds."""

    name: Name
    value: TemplateValue | PromptValue
    analysis: ModuleAnalysis

    @property
    def described(self) -> StaticPrompt:
        """The prompt's model at its current location."""
        prompt = self.analysis.module.prompt(self.name.id)
        assert prompt is not None
        return prompt

    @property
    def bound(self) -> bool:
        """True for a `Prompt`, False for a `PromptTemplate`."""
        return isinstance(self.value, PromptValue)

    @property
    def render(self) -> StaticRender:
        """The prompt's text with its summaries folded, from its source alone."""
        return rendered(self.value)

    @property
    def summarized(self) -> Mapping[tuple[str, ...], SummarizedBlock]:
        """The summarized blocks of that render, by path."""
        return summarized_blocks(self.value)

    def summarized_section(self, key: str) -> SummarizedBlock | None:
        """Return one of these blocks by its dotted path."""
        return kept(self.value, "summarized by key", _by_key).get(key)

    @property
    def template(self) -> TemplateValue:
        return self.value.template if isinstance(self.value, PromptValue) else self.value


class ModuleAnalysis:
    """Analysis of one version of a file, computed on demand."""

    def __init__(self, document: Document, evaluator: Evaluator, *, concerned: bool = True) -> None:
        self.document = document
        self.evaluator = evaluator
        self.file = document.file
        self.text = document.text
        self.statements = document.parsed.statements if concerned else ()
        self.refused = document.parsed.refused if concerned else ""
        """The reason why the file isn't analysed; empty if it is."""

    @property
    def scope(self) -> ModuleScope:
        return self.document.scope

    @cached_property
    def module(self) -> PromptModule:
        """The prompts of the file."""
        return self.document.prompts(self.evaluator, self.statements)

    @cached_property
    def facts(self) -> tuple[StatementFacts, ...]:
        """Facts per statement, in source order."""
        memo = self.evaluator.memo
        return tuple(
            memo.fact(statement.anchor, "facts", partial(self._facts, statement))
            for statement in self.statements
        )

    def _facts(self, statement: TopLevel) -> StatementFacts:
        evaluator = self.evaluator
        calls: list[CallSite] = []
        classes: list[tuple[ClassDefinition, Scope]] = []
        for node in statement.nodes:
            calls.extend(_calls_of(node, self.scope, evaluator))
            classes.extend(_classes_of(node, self.scope, evaluator))
        made_by = [(call, evaluator.value(call.node, call.scope)) for call in calls]
        # A call that returns what another call made isn't counted twice.
        values = [
            value for call, value in made_by if isinstance(value, Made) and value.node is call.node
        ]
        sections = [value for value in values if isinstance(value, SectionValue)]
        for definition, scope in classes:
            declared = instances.declared_in(evaluator, ClassValue(definition, scope))
            if declared is not None:
                sections.append(declared)
        templates = tuple(value for value in values if isinstance(value, TemplateValue))
        everywhere = {id(section): section for section in sections}
        everywhere.update(
            (id(value), value) for _, value in made_by if isinstance(value, SectionValue)
        )
        for template in templates:
            everywhere.update((id(section), section) for section in in_template(template))
        made = [dataclass_of(evaluator, ClassValue(*found)) for found in classes]
        return StatementFacts(
            statement=statement,
            calls=tuple(calls),
            sections=tuple(sections),
            templates=templates,
            tools=tuple(value for value in values if isinstance(value, ToolValue)),
            prompts=tuple(value for value in values if isinstance(value, PromptValue)),
            classes=tuple(classes),
            dataclasses=tuple(kind for kind in made if kind.is_dataclass is not False),
            texts=tuple(text for section in everywhere.values() for text in texts_of(section)),
        )

    @property
    def prompts(self) -> Iterator[PromptFacts]:
        """The prompts that the file's variables hold; the last one that is bound to a name."""
        return (PromptFacts(name, value, self) for name, value in self._named.values())

    def prompt(self, name: str) -> PromptFacts | None:
        """Return the prompt that a variable holds."""
        found = self._named.get(name)
        return PromptFacts(*found, self) if found is not None else None

    @cached_property
    def _named(self) -> dict[str, tuple[Name, TemplateValue | PromptValue]]:
        memo = self.evaluator.memo
        found: dict[str, tuple[Name, TemplateValue | PromptValue]] = {}
        for statement in self.statements:
            prompts = memo.fact(statement.anchor, "prompts", partial(self._prompts, statement))
            for node, name, value in prompts:
                if not is_gone(node):
                    found.pop(name.id, None)
                    found[name.id] = (name, value)
        return found

    def _prompts(
        self, statement: TopLevel
    ) -> tuple[tuple[Assign, Name, TemplateValue | PromptValue], ...]:
        return tuple(prompt_values(statement, self.scope, self.evaluator))

    @property
    def calls(self) -> Iterator[CallSite]:
        return (call for facts in self.facts for call in facts.calls)

    @property
    def sections(self) -> Iterator[SectionValue]:
        return (section for facts in self.facts for section in facts.sections)

    @property
    def templates(self) -> Iterator[TemplateValue]:
        return (template for facts in self.facts for template in facts.templates)

    @property
    def tools(self) -> Iterator[ToolValue]:
        return (tool for facts in self.facts for tool in facts.tools)

    @property
    def dataclasses(self) -> Iterator[Dataclass]:
        return (item for facts in self.facts for item in facts.dataclasses)

    @property
    def texts(self) -> Iterator[TemplateText]:
        """The template texts, once per section."""
        seen: set[tuple[int, str]] = set()
        for facts in self.facts:
            for text in facts.texts:
                key = (id(text.section), text.role)
                if key not in seen:
                    seen.add(key)
                    yield text

    def placeholders(self) -> Iterator[tuple[TemplateText, Placeholder]]:
        """Every placeholder written in this file, once per section that uses it."""
        for text in self.texts:
            for placeholder in text.placeholders:
                if placeholder.file == self.file:
                    yield text, placeholder


def _by_key(value: TemplateValue | PromptValue) -> dict[str, SummarizedBlock]:
    return {".".join(path): found for path, found in summarized_blocks(value).items()}


Made = SectionValue | TemplateValue | ToolValue | PromptValue


def in_template(template: TemplateValue) -> Iterator[SectionValue]:
    """Yield all sections of a template, including those in chapters."""
    for name in ROOTS:
        for item in template.items(name).items:
            if isinstance(item.value, SectionValue):
                yield from below(item.value)


def below(section: SectionValue, depth: int = 0) -> Iterator[SectionValue]:
    """Yield a section and all below it."""
    yield section
    if depth < 32:
        for item in section.children.items:
            if isinstance(item.value, SectionValue):
                yield from below(item.value, depth + 1)


def expressions(node: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside an expression."""
    match node:
        case Call():
            return (node.func, *node.args, *(keyword.value for keyword in node.keywords))
        case Subscript():
            return (node.value, *node.items)
        case Attribute() | Starred():
            return (node.value,)
        case Display():
            return node.items
        case Dictionary():
            return (*(key for key in node.keys if key is not None), *node.values)
        case Operation():
            return (node.left, node.right)
        case Conditional():
            return (node.body, node.test, node.orelse)
        case Lambda():
            return (node.body,)
        case Opaque() | String():
            return node.inner
    return ()


def _calls_of(node: Statement, scope: Scope, evaluator: Evaluator) -> Iterator[CallSite]:
    match node:
        case Assign() | Return() | Evaluate():
            if node.value is not None:
                yield from _calls_in(node.value, node.anchor, scope, evaluator)
        case Block():
            for inner in node.inner:
                yield from _calls_in(inner, node.anchor, scope, evaluator)
            for child in node.body:
                yield from _calls_of(child, scope, evaluator)
        case FunctionDefinition():
            inside = evaluator.any_call(node, scope)
            for child in node.body:
                yield from _calls_of(child, inside, evaluator)
        case ClassDefinition():
            body = evaluator.body(node, scope)
            for child in node.body:
                yield from _calls_of(child, body, evaluator)


def _calls_in(
    node: Expression, anchor: Anchor, scope: Scope, evaluator: Evaluator
) -> Iterator[CallSite]:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.anchor is not anchor:
            yield from evaluator.memo.fact(
                inner.anchor, "calls", partial(_calls_of_piece, inner, scope, evaluator)
            )
            continue
        if isinstance(inner, Call):
            yield CallSite(inner, scope)
        waiting.extend(reversed(expressions(inner)))


def _calls_of_piece(piece: Expression, scope: Scope, evaluator: Evaluator) -> tuple[CallSite, ...]:
    return tuple(_calls_in(piece, piece.anchor, scope, evaluator))


def _classes_of(
    node: Statement, scope: Scope, evaluator: Evaluator
) -> Iterator[tuple[ClassDefinition, Scope]]:
    match node:
        case ClassDefinition():
            yield node, scope
            body = evaluator.body(node, scope)
            for child in node.body:
                yield from _classes_of(child, body, evaluator)
        case FunctionDefinition():
            inside = evaluator.any_call(node, scope)
            for child in node.body:
                yield from _classes_of(child, inside, evaluator)
        case Block():
            for child in node.body:
                yield from _classes_of(child, scope, evaluator)
