"""One file: its statements, names, prompts and sections."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from foldline.ide.analysis import instances, syntax
from foldline.ide.analysis import top_level as statements
from foldline.ide.analysis.model import PromptModule, StaticPrompt
from foldline.ide.analysis.modules import with_line_feeds
from foldline.ide.analysis.params import dataclass_of
from foldline.ide.analysis.placeholders import Placeholder, TemplateText, texts_of
from foldline.ide.analysis.scopes import ModuleScope, Scope, ScopeCache
from foldline.ide.analysis.section_tree import in_template, is_gone, sections_of, span_of
from foldline.ide.analysis.static_render import StaticRender, rendered
from foldline.ide.analysis.values import (
    ClassValue,
    Dataclass,
    PromptValue,
    SectionValue,
    TemplateValue,
    ToolValue,
    Value,
)
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.top_level import Parsed, TopLevel


@record(eq=False)
class CallSite:
    """A call and the scope that it is evaluated in."""

    node: syntax.Call
    scope: Scope


@record(eq=False)
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
    dataclasses: tuple[Dataclass, ...]
    """The classes that are or may be dataclasses."""
    texts: tuple[TemplateText, ...]
    """The template texts of these sections and of all sections in these templates."""


@record(eq=False)
class PromptFacts:
    """A prompt that a variable holds."""

    name: syntax.Name
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
    def template(self) -> TemplateValue:
        return self.value.template


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
        classes: list[tuple[syntax.ClassDefinition, Scope]] = []
        for node, scope in statements_in(statement.nodes, self.scope, evaluator):
            calls.extend(_calls_of(node, scope, evaluator))
            if isinstance(node, syntax.ClassDefinition):
                classes.append((node, scope))
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
        dataclasses = [dataclass_of(evaluator, ClassValue(*class_of)) for class_of in classes]
        return StatementFacts(
            statement=statement,
            calls=tuple(calls),
            sections=tuple(sections),
            templates=templates,
            tools=tuple(value for value in values if isinstance(value, ToolValue)),
            prompts=tuple(value for value in values if isinstance(value, PromptValue)),
            dataclasses=tuple(kind for kind in dataclasses if kind.is_dataclass is not False),
            texts=tuple(text for section in everywhere.values() for text in texts_of(section)),
        )

    @property
    def prompts(self) -> Iterator[PromptFacts]:
        """The prompts that the file's variables hold; the last one that is bound to a name."""
        return (PromptFacts(name, value, self) for name, value in self._named.values())

    def prompt(self, name: str) -> PromptFacts | None:
        """Return the prompt that a variable holds."""
        named = self._named.get(name)
        return PromptFacts(*named, self) if named is not None else None

    @cached_property
    def _named(self) -> dict[str, tuple[syntax.Name, TemplateValue | PromptValue]]:
        memo = self.evaluator.memo
        by_name: dict[str, tuple[syntax.Name, TemplateValue | PromptValue]] = {}
        for statement in self.statements:
            read = partial(prompt_values, statement, self.scope, self.evaluator)
            for node, name, value in memo.facts(statement.anchor, "prompts", read):
                if not is_gone(node):
                    by_name.pop(name.id, None)
                    by_name[name.id] = (name, value)
        return by_name

    @property
    def sections(self) -> Iterator[SectionValue]:
        return (section for facts in self.facts for section in facts.sections)

    @property
    def templates(self) -> Iterator[TemplateValue]:
        return (template for facts in self.facts for template in facts.templates)

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


Made = SectionValue | TemplateValue | ToolValue | PromptValue


def expressions(node: syntax.Expression) -> tuple[syntax.Expression, ...]:
    """The expressions directly inside an expression."""
    match node:
        case syntax.Call():
            return (node.func, *node.args, *(keyword.value for keyword in node.keywords))
        case syntax.Subscript():
            return (node.value, *node.items)
        case syntax.Attribute() | syntax.Starred():
            return (node.value,)
        case syntax.Display():
            return node.items
        case syntax.Dictionary():
            return (*(key for key in node.keys if key is not None), *node.values)
        case syntax.Operation():
            return (node.left, node.right)
        case syntax.Conditional():
            return (node.body, node.test, node.orelse)
        case syntax.Lambda():
            return (node.body,)
        case syntax.Opaque() | syntax.String():
            return node.inner
    return ()


def statements_in(
    nodes: Iterable[syntax.Statement], scope: Scope, evaluator: Evaluator
) -> Iterator[tuple[syntax.Statement, Scope]]:
    """Yield statements and all inside them, each with the scope that it is evaluated in."""
    for node in nodes:
        yield node, scope
        match node:
            case syntax.Compound():
                yield from statements_in(node.body, scope, evaluator)
            case syntax.FunctionDefinition():
                yield from statements_in(node.body, evaluator.any_call(node, scope), evaluator)
            case syntax.ClassDefinition():
                yield from statements_in(node.body, evaluator.body(node, scope), evaluator)


def _calls_of(node: syntax.Statement, scope: Scope, evaluator: Evaluator) -> Iterator[CallSite]:
    """Yield the calls in a statement, apart from those in the statements inside it."""
    inner: tuple[syntax.Expression, ...] = ()
    match node:
        case syntax.Assign() | syntax.Return() | syntax.Evaluate():
            inner = () if node.value is None else (node.value,)
        case syntax.Compound():
            inner = node.inner
    for expression in inner:
        yield from _calls_in(expression, node.anchor, scope, evaluator)


def _calls_in(
    node: syntax.Expression, anchor: syntax.Anchor, scope: Scope, evaluator: Evaluator
) -> Iterator[CallSite]:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.anchor is not anchor:
            read = partial(_calls_in, inner, inner.anchor, scope, evaluator)
            yield from evaluator.memo.facts(inner.anchor, "calls", read)
            continue
        if isinstance(inner, syntax.Call):
            yield CallSite(inner, scope)
        waiting.extend(reversed(expressions(inner)))


_NAMES = frozenset({"ns", "key", "name"})


class Document:
    """A file under edit: statements that an edit doesn't touch aren't parsed again."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = with_line_feeds(text)
        self._parsed: Parsed | None = None
        self._scopes = ScopeCache()
        self._scope: ModuleScope | None = None

    @property
    def is_parsed(self) -> bool:
        return self._parsed is not None

    @property
    def parsed(self) -> Parsed:
        """The statements, parsed at first use: most files never need them."""
        if self._parsed is None:
            self._parsed = statements.parse(self.text, self.file)
        return self._parsed

    @property
    def scope(self) -> ModuleScope:
        """The file's names; always the same object."""
        if self._scope is None:
            self._scope = ModuleScope(self.file, {}, ())
            self._scopes.update(self._scope, self.parsed)
        return self._scope

    @property
    def damaged(self) -> frozenset[str]:
        """Names whose only definition is in unparsable text."""
        return self._parsed.damaged if self._parsed is not None else frozenset()

    def update(self, text: str) -> frozenset[str]:
        """Set the file's text, and return the names whose meaning changed.

        Statements that don't parse keep their last good nodes.
        """
        self.text = with_line_feeds(text)
        if self._parsed is None:
            return frozenset()
        self._parsed = statements.parse(self.text, self.file, self._parsed)
        if self._scope is None:
            return frozenset()
        return self._scopes.update(self._scope, self._parsed)

    def prompts(
        self, evaluator: Evaluator, among: tuple[TopLevel, ...] | None = None
    ) -> PromptModule:
        """Return the file's prompts in definition order; if `among` is set, only from those."""
        by_name: dict[str, StaticPrompt] = {}
        read = self.parsed.statements if among is None else among
        for statement in read:
            prompts = partial(self._prompts, statement, evaluator)
            for prompt in evaluator.memo.within(statement.anchor, prompts):
                # The last prompt bound to a name wins.
                by_name.pop(prompt.name, None)
                by_name[prompt.name] = prompt
        broken = any(statement.broken for statement in read)
        return PromptModule(self.text, tuple(by_name.values()), broken)

    def _prompts(self, statement: TopLevel, evaluator: Evaluator) -> list[StaticPrompt]:
        return [
            _described(node, name, value, stale=statement.stale)
            for node, name, value in prompt_values(statement, self.scope, evaluator)
            if not is_gone(node)
        ]


def prompt_values(
    statement: TopLevel, scope: ModuleScope, evaluator: Evaluator
) -> Iterator[tuple[syntax.Assign, syntax.Name, TemplateValue | PromptValue]]:
    """Yield the variables of a top-level statement that hold a template or a prompt."""
    for node in _assignments(statement.nodes):
        if node.value is None or node.operator:
            continue
        for target in node.targets:
            if isinstance(target, syntax.Name):
                value: Value = evaluator.value(node.value, scope)
                if isinstance(value, PromptValue):
                    # Later `.bind(…)` calls count, too.
                    last = evaluator.member(scope, target.id)
                    value = last if isinstance(last, PromptValue) else value
                value = evaluator.doubted(value, scope, target.id)
                if isinstance(value, TemplateValue | PromptValue):
                    yield node, target, _within_budget(value, evaluator)


def _within_budget(
    value: TemplateValue | PromptValue, evaluator: Evaluator
) -> TemplateValue | PromptValue:
    """Return the prompt, without its sections if showing them again would exceed the budget."""
    template = value.template
    if evaluator.affords(template.cost):
        return value
    hidden = {name: argument for name, argument in template.arguments.items() if name in _NAMES}
    template = replace(template, arguments=hidden, opaque=True)
    return replace(value, template=template) if isinstance(value, PromptValue) else template


def _assignments(nodes: tuple[syntax.Statement, ...]) -> Iterator[syntax.Assign]:
    for node in nodes:
        if isinstance(node, syntax.Assign):
            yield node
        elif isinstance(node, syntax.Compound):
            yield from _assignments(node.body)


def _described(
    node: syntax.Assign, name: syntax.Name, value: TemplateValue | PromptValue, *, stale: bool
) -> StaticPrompt:
    sections, complete = sections_of(value.template)
    return StaticPrompt(
        name=name.id,
        ns=value.template.text("ns"),
        key=value.template.text("key"),
        range=span_of(node).span,
        name_range=span_of(name).span,
        sections=sections,
        complete=complete,
        bound=isinstance(value, PromptValue),
        stale=stale,
    )
