"""Checks of a template as a whole: keys, paths, tools and the structured output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from foldline.ide.analysis.model import LineTable, SourceSpan
from foldline.ide.analysis.module_analysis import ModuleAnalysis
from foldline.ide.analysis.placeholders import texts_of
from foldline.ide.analysis.section_tree import in_template, span_of
from foldline.ide.analysis.syntax import Subscript
from foldline.ide.analysis.values import (
    ROOTS,
    ClassValue,
    Dataclass,
    Item,
    Items,
    SectionValue,
    TemplateValue,
    Text,
    ToolValue,
)
from foldline.ide.checks.argument_values import removal
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import (
    LazyDiagnostic,
    LazyLocation,
    at_argument,
    at_node,
    at_placeholder,
    replacement,
)
from foldline.prompts import refusals
from foldline.prompts.roles import Role


def check_template(template: TemplateValue) -> Iterator[LazyDiagnostic]:
    """Check a template as a whole, apart from its individual sections."""
    for name in ("ns", "key"):
        argument = template.arguments.get(name)
        if argument is not None and isinstance(argument.value, Text):
            text = argument.value.known
            if text is not None and not text.strip():
                yield LazyDiagnostic(
                    Code.INVALID_KEY,
                    f"A template needs a non-empty `{name}`.",
                    at_node(argument.node),
                )
    yield from _Tree(template).diagnostics()


def check_prompt_names(
    analysis: ModuleAnalysis, known: dict[str, tuple[SourceSpan, int]]
) -> Iterator[LazyDiagnostic]:
    """Report prompts whose `ns/key` an earlier one has; `known` keeps their places and lines."""
    lines = LineTable(analysis.text)
    for prompt in analysis.prompts:
        template, span = prompt.template, span_of(prompt.template.node)
        name = f"{template.text('ns')}/{template.text('key')}"
        if span is None or span.file != analysis.file or name.startswith("/") or name[-1] == "/":
            continue
        first, line = known.setdefault(name, (span, lines.position(span.start).line + 1))
        if first != span:
            other = os.path.relpath(first.file, Path(span.file).parent)
            message = f"`{name}` is also the prompt of {other}:{line}: give one another key."
            related = (partial(SourceSpan, first.file, first.start, first.end), "It is here first.")
            yield LazyDiagnostic(
                Code.DUPLICATE_PROMPT, message, at_node(prompt.name), related=(related,)
            )


_AMONG = {"system": Role.SYSTEM}
"""Arguments whose sections have a role."""


class _Tree:
    """Finds duplicate names and wrong roles in a template's tree, visited as the library does."""

    def __init__(self, template: TemplateValue) -> None:
        self.template = template
        self.paths: dict[tuple[str, ...], Item] = {}
        self.dotted: dict[str, tuple[str, ...]] = {}
        self.chapters: dict[str, Item] = {}
        self.tools: dict[str, str] = {}
        self.found: list[LazyDiagnostic] = []

    def diagnostics(self) -> list[LazyDiagnostic]:
        for name in ROOTS:
            self._visit(self.template.items(name), (), 0, None, among=_AMONG.get(name))
        self._output()
        return self.found

    def _visit(
        self,
        items: Items,
        parent: tuple[str, ...],
        depth: int,
        around: Role | None,
        *,
        among: Role | None = None,
    ) -> None:
        """Visit sections in one with the role `around`, if that is known."""
        for item in items.items:
            section = item.value
            if not isinstance(section, SectionValue) or depth > 32:
                continue
            if item.maybe or section.maybe:
                continue
            key = section.known("key")
            self._role(item, section, (*parent, key or "?"), around, among)
            role = around or among or section.role
            if section.kind == "chapter":
                inner = role if around or among or section.declares_role else None
                if key and key in self.chapters:
                    self._report(item, f"Two chapters have the key `{key}`.", self.chapters[key])
                elif key:
                    self.chapters[key] = item
                self._visit(section.children, parent, depth + 1, inner)
                continue
            self._tools(section, item, ".".join((*parent, key or "?")))
            if role in (Role.SYSTEM, Role.DEVELOPER):
                self._untrusted(item, section, role)
            if key is None:
                continue
            path = (*parent, key)
            dotted = ".".join(path)
            if path in self.paths:
                self._report(item, f"Two sections have the key `{dotted}`.", self.paths[path])
            elif dotted in self.dotted:
                other = self.dotted[dotted]
                self._report(
                    item,
                    f"The key `{dotted}` could mean two sections, {' > '.join(path)} or "
                    f"{' > '.join(other)}.",
                    self.paths[other],
                )
            else:
                self.paths[path] = item
                self.dotted[dotted] = path
            unknown = section.opaque and not section.declares_role and not (around or among)
            self._visit(section.children, path, depth + 1, None if unknown else role)

    def _role(
        self,
        item: Item,
        section: SectionValue,
        path: tuple[str, ...],
        around: Role | None,
        among: Role | None,
    ) -> None:
        """Report a role that differs from the one of the sections around."""
        declared, expected = section.declared_role, around or among
        if declared is None or expected in (None, declared):
            return
        says = refusals.nested_role if around else refusals.role_among_others
        argument = section.arguments["role"]
        self.found.append(
            LazyDiagnostic(
                Code.INVALID_ARGUMENT,
                says(f"`{'.'.join(path)}`", declared, expected),
                at_argument(argument),
                (removal(argument),),
                instead=at_node(item.node),
            )
        )

    def _untrusted(self, item: Item, section: SectionValue, role: Role) -> None:
        """Report the untrusted values that a message of the system or the developer shows."""
        for text in texts_of(section):
            if not isinstance(text.owner, Dataclass):
                continue
            for place in text.placeholders:
                field = text.owner.field(place.name)
                if field and field.type.form and field.type.form.untrusted:
                    problem = refusals.untrusted_role(field.id, role)
                    at, instead = at_placeholder(place), at_node(item.node)
                    found = LazyDiagnostic(Code.UNTRUSTED_TEXT, problem, at, instead=instead)
                    self.found.append(found)

    def _report(self, item: Item, message: str, other: Item | None = None) -> None:
        location = _key_place(item)
        related = () if other is None else ((_key_place(other), "The other is here."),)
        if other is not None and other.value is item.value:
            location = at_node(item.node)  # One section in two places.
        self.found.append(
            LazyDiagnostic(
                Code.DUPLICATE_KEY, f"{message} Rename one of them.", location, (), related
            )
        )

    def _output(self) -> None:
        """Report that the structured output has the type of a section's parameters."""
        func, output = self.template.node.func, self.template.output
        if not (isinstance(func, Subscript) and isinstance(output, ClassValue)):
            return
        takes = (
            one
            for one in in_template(self.template)
            if isinstance(one.params, Dataclass) and one.params.definition is output.definition
        )
        section = next(takes, None)
        if section is None:
            return
        kind = func.items[0].source
        self.found.append(
            LazyDiagnostic(
                Code.OUTPUT_IS_PARAMETERS,
                f"`{kind}` is the type of parameters, and here also of the answer: a model must "
                f"answer with the JSON of `{kind}`. Without `[{kind}]`, it answers with text.",
                at_node(func.items[0]),
                (replacement(f"Remove `[{kind}]`", at_node(func), func.value.source),),
                related=((at_node(section.node), "This section takes it as parameters."),),
            )
        )

    def _tools(self, section: SectionValue, item: Item, dotted: str) -> None:
        argument = section.arguments.get("tools")
        if argument is None or not isinstance(argument.value, Items) or section.opaque:
            return
        for tool_item in argument.value.items:
            tool = tool_item.value
            if not isinstance(tool, ToolValue) or (name := tool.known("name")) is None:
                continue
            if name in self.tools:
                node = tool_item.node if tool_item.node.file == item.node.file else item.node
                self.found.append(
                    LazyDiagnostic(
                        Code.TOOL_NAME,
                        refusals.same_tool_name(
                            f"`{name}`", f"`{self.tools[name]}`", f"`{dotted}`"
                        ),
                        at_node(node),
                    )
                )
            self.tools.setdefault(name, dotted)


def _key_place(item: Item) -> LazyLocation:
    """Location of a section's key, or of the expression that stands for it in this file."""
    file = item.node.file

    def place() -> SourceSpan | None:
        argument = item.value.arguments.get("key") if isinstance(item.value, SectionValue) else None
        span = at_argument(argument)() if argument is not None else None
        return span if span is not None and span.file == file else span_of(item.node)

    return place
