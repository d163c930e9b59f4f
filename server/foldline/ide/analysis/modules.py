"""One file: its statements, names, prompts and their sections."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldline.ide.analysis import top_level as statements
from foldline.ide.analysis.evaluator import Evaluator, Modules
from foldline.ide.analysis.model import PromptModule, Span, StaticPrompt
from foldline.ide.analysis.scopes import ModuleScope, ScopeCache
from foldline.ide.analysis.section_tree import is_gone, sections_of
from foldline.ide.analysis.syntax import Assign, Block, Name
from foldline.ide.analysis.values import PromptValue, TemplateValue, Value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foldline.ide.analysis.source_map import MappedText
    from foldline.ide.analysis.syntax import Statement
    from foldline.ide.analysis.top_level import Parsed, TopLevel


_LONE_RETURN = re.compile(r"\r(?!\n)")
_NAMES = frozenset({"ns", "key", "name"})


def parse_module(source: str, path: str | Path) -> PromptModule:
    """Return the prompts of a source text; names from other files stay unknown.

    Broken code isn't an error: the result has what could be parsed, and its `broken` is True.
    """
    document = Document(str(path), source)
    return document.prompts(Evaluator(_NoModules(len(source))))


def with_line_feeds(text: str) -> str:
    """Return the text with lone carriage returns as line feeds, as Python reads them.

    The parser takes a lone carriage return for a blank, so that a file of such lines would be one
    broken statement. Offsets stay the same.
    """
    return _LONE_RETURN.sub("\n", text) if "\r" in text else text


class _NoModules:
    root: Path | None = None

    def __init__(self, size: int) -> None:
        self._size = size

    def find(self, dotted: str, level: int, importer: str) -> ModuleScope | None:
        del dotted, level, importer
        return None

    def file_text(self, path: str, importer: str) -> MappedText | None:
        del path, importer
        return None

    def mentions(self, word: str, near: str, file: str) -> bool:
        del word, near, file
        return False

    def damaged(self, file: str) -> frozenset[str]:
        del file
        return frozenset()

    def size(self, file: str) -> int:
        del file
        return self._size


class Document:
    """A file under edit: statements that an edit doesn't touch aren't parsed again."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._text = with_line_feeds(text)
        self._parsed: Parsed | None = None
        self._scopes = ScopeCache()
        self._scope: ModuleScope | None = None

    @property
    def text(self) -> str:
        return self._text

    @property
    def is_parsed(self) -> bool:
        return self._parsed is not None

    @property
    def parsed(self) -> Parsed:
        """The statements, parsed at first use: most files never need them."""
        if self._parsed is None:
            self._parsed = statements.parse(self._text, self.file)
        return self._parsed

    @property
    def scope(self) -> ModuleScope:
        """The file's names; always the same object."""
        if self._scope is None:
            self._scope = ModuleScope(self.file, self.parsed, {}, ())
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
        self._text = with_line_feeds(text)
        if self._parsed is None:
            return frozenset()
        self._parsed = statements.parse(self._text, self.file, self._parsed)
        if self._scope is None:
            return frozenset()
        return self._scopes.update(self._scope, self._parsed)

    def prompts(
        self, evaluator: Evaluator, among: tuple[TopLevel, ...] | None = None
    ) -> PromptModule:
        """Return the file's prompts in definition order; if `among` is set, only from those."""
        found: dict[str, StaticPrompt] = {}
        read = self.parsed.statements if among is None else among
        for statement in read:
            prompts = partial(self._prompts, statement, evaluator)
            for prompt in evaluator.memo.within(statement.anchor, prompts):
                # The last prompt bound to a name wins.
                found.pop(prompt.name, None)
                found[prompt.name] = prompt
        broken = any(statement.broken for statement in read)
        return PromptModule(self.file, self.text, tuple(found.values()), broken)

    def _prompts(self, statement: TopLevel, evaluator: Evaluator) -> list[StaticPrompt]:
        return [
            _prompt(node, name, value, evaluator, stale=statement.stale)
            for node, name, value in prompt_values(statement, self.scope, evaluator)
            if not is_gone(node)
        ]


def prompt_values(
    statement: TopLevel, scope: ModuleScope, evaluator: Evaluator
) -> Iterator[tuple[Assign, Name, TemplateValue | PromptValue]]:
    """Yield the variables of a top-level statement that hold a template or a prompt."""
    for node in _assignments(statement.nodes):
        if node.value is None or node.operator:
            continue
        for target in node.targets:
            if isinstance(target, Name):
                value: Value = evaluator.value(node.value, scope)
                if isinstance(value, PromptValue):
                    # Later `.bind(…)` calls count, too.
                    last = evaluator.member(scope, target.id)
                    value = last if isinstance(last, PromptValue) else value
                if isinstance(value, TemplateValue | PromptValue):
                    yield node, target, _within_budget(value, evaluator)


def _within_budget(
    value: TemplateValue | PromptValue, evaluator: Evaluator
) -> TemplateValue | PromptValue:
    """Return the prompt, without its sections if showing them again would exceed the budget."""
    template = value.template if isinstance(value, PromptValue) else value
    if evaluator.affords(template.cost):
        return value
    hidden = {name: argument for name, argument in template.arguments.items() if name in _NAMES}
    template = replace(template, arguments=hidden, opaque=True)
    return replace(value, template=template) if isinstance(value, PromptValue) else template


def _assignments(nodes: tuple[Statement, ...]) -> Iterator[Assign]:
    for node in nodes:
        if isinstance(node, Assign):
            yield node
        elif isinstance(node, Block):
            yield from _assignments(node.body)


def _prompt(
    node: Assign,
    name: Name,
    value: TemplateValue | PromptValue,
    evaluator: Evaluator,
    *,
    stale: bool,
) -> StaticPrompt:
    template = value.template if isinstance(value, PromptValue) else value
    sections, complete = sections_of(template, evaluator)
    at = node.anchor.at
    return StaticPrompt(
        name=name.id,
        ns=template.text("ns"),
        key=template.text("key"),
        file=node.file,
        range=Span(at(node.start), max(at(node.start), at(node.end))),
        name_range=Span(at(name.start), max(at(name.start), at(name.end))),
        sections=sections,
        complete=complete,
        bound=isinstance(value, PromptValue),
        stale=stale,
    )


__all__ = ["Document", "Modules", "parse_module", "prompt_values"]
