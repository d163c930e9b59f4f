"""References to a field of a params dataclass: declared, set, read, in templates; and renaming."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path

from foldline.ide.analysis import syntax
from foldline.ide.analysis.instances import SECTION_KINDS, lineage_of
from foldline.ide.analysis.model import SourceSpan
from foldline.ide.analysis.module_analysis import ModuleAnalysis, expressions
from foldline.ide.analysis.params import dataclass_of, params_of
from foldline.ide.analysis.placeholders import roles_of
from foldline.ide.analysis.project import Project
from foldline.ide.analysis.scopes import Scope
from foldline.ide.analysis.section_tree import in_template, span_of
from foldline.ide.analysis.values import (
    ClassValue,
    Dataclass,
    External,
    Field,
    FunctionValue,
    InstanceValue,
    LambdaValue,
    SectionValue,
)
from foldline.ide.checks.diagnostic import Change
from foldline.ide.errors import RenameRefused
from foldline.ide.features.keys import (
    KEY_CHARACTERS,
    Key,
    constructor_keywords,
    declared_key,
    field_at,
    keys_of,
    placeholder_at,
    templates_of,
)
from foldline.prompts.sections import task
from foldline.prompts.sections.section import KEY_PATTERN, KEY_RULE
from foldline.records import record

_WITH_PARAMS = frozenset(
    {"derive", "is_enabled", "render_body", "render_summary", "visibility_for"}
)
"""The section methods that receive its parameters."""


class Role(StrEnum):
    """The way a reference uses a field."""

    DECLARATION = "declaration"
    WRITE = "write"
    READ = "read"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """A reference to a field."""

    place: SourceSpan
    role: Role


@record(eq=False)
class FieldTarget:
    """A field of the workspace, by its declaration."""

    dataclass: Dataclass
    field: Field
    declared: syntax.Name
    place: SourceSpan
    """The location that the request is about."""

    def is_declared_by(self, field: Field | None) -> bool:
        """Return True if a field is this one, even if its file has been parsed again since."""
        name = field.name if field is not None else None
        return name is self.declared or (
            name is not None
            and name.file == self.declared.file
            and span_of(name) == span_of(self.declared)
        )


def target_at(analysis: ModuleAnalysis, offset: int) -> FieldTarget | None:
    """Return the workspace field named by the placeholder, declaration or keyword at an offset."""
    placeholder = placeholder_at(analysis, offset)
    if placeholder is not None:
        source = placeholder.placeholder.name_source
        for kind, field in placeholder.fields:
            if field.name is not None and source is not None:
                return FieldTarget(kind, field, field.name, source)
        return None
    target = field_at(analysis, offset)
    if target is None:
        return None
    kind, field, source = target
    return FieldTarget(kind, field, field.name, source) if field.name is not None else None


def occurrences(target: FieldTarget, analyses: Iterable[ModuleAnalysis]) -> tuple[Occurrence, ...]:
    """Return every reference to a field in these files, sorted."""
    uses: set[Occurrence] = {Occurrence(span_of(target.declared), Role.DECLARATION)}
    for analysis in analyses:
        uses.update(_placeholders(target, analysis))
        uses.update(
            Occurrence(span_of(name), Role.WRITE)
            for name, _, field in constructor_keywords(analysis)
            if target.is_declared_by(field)
        )
        uses.update(
            Occurrence(span_of(name), role) for name, role in _Reads(target, analysis).occurrences()
        )
    return tuple(sorted(uses))


def files_about(project: Project, target: FieldTarget, file: str) -> Iterator[ModuleAnalysis]:
    """Yield the files that may refer to a field: its own, `file`, open files, the workspace's.

    They are analysed one at a time, so that a large workspace is never in memory as a whole.
    """
    files = dict.fromkeys((target.declared.file, file, *project.open_files))
    # Code that uses the dataclass, or one derived from it, names it or imports its module.
    near = (target.dataclass.name, Path(target.declared.file).stem)
    files.update(dict.fromkeys(project.mentioning(target.field.id, near=near)))
    for path in files:
        analysis = project.analysis(path)
        if analysis is not None:
            yield analysis


def _placeholders(target: FieldTarget, analysis: ModuleAnalysis) -> Iterator[Occurrence]:
    name = target.field.id
    for text in analysis.texts:
        owner = text.owner
        if isinstance(owner, Dataclass) and target.is_declared_by(owner.field(name)):
            sources = (one.name_source for one in text.placeholders if one.name == name)
            yield from (Occurrence(one, Role.PLACEHOLDER) for one in sources if one is not None)


class _Reads:
    """Finds `value.field` where the value is certainly an instance, and `replace(value, field=)`.

    Instances are results of constructor calls, the parameter of a section's `enabled` or
    `visibility`, and parameters annotated with the dataclass.
    """

    def __init__(self, target: FieldTarget, analysis: ModuleAnalysis) -> None:
        self.target = target
        self.analysis = analysis
        self.evaluator = analysis.evaluator
        self.selectors: dict[int, Dataclass] = {}
        for section in analysis.sections:
            if not isinstance(section.params, Dataclass):
                continue
            for name in ("enabled", "visibility"):
                argument = section.arguments.get(name)
                if argument is not None and isinstance(argument.value, LambdaValue | FunctionValue):
                    self.selectors[id(argument.value.definition)] = section.params

    def occurrences(self) -> Iterator[tuple[syntax.Name, Role]]:
        for statement in self.analysis.statements:
            if self.target.field.id in statement.anchor.text:
                for node in statement.nodes:
                    yield from self._statement(node, self.analysis.scope, frozenset())

    def _statement(
        self, node: syntax.Statement, scope: Scope, instances: frozenset[str]
    ) -> Iterator[tuple[syntax.Name, Role]]:
        match node:
            case syntax.Assign() | syntax.Return() | syntax.Evaluate():
                if node.value is not None:
                    yield from self._expression(node.value, scope, instances)
                for target in node.targets if isinstance(node, syntax.Assign) else ():
                    yield from self._expression(target, scope, instances)
            case syntax.Compound():
                for part in node.inner:
                    yield from self._expression(part, scope, instances)
                for inner in node.body:
                    yield from self._statement(inner, scope, instances)
            case syntax.FunctionDefinition():
                body = self.evaluator.any_call(node, scope)
                scope_instances = instances | self._parameters(node, scope)
                for parameter in node.parameters:
                    if parameter.default is not None:
                        yield from self._expression(parameter.default, scope, instances)
                for inner in node.body:
                    yield from self._statement(inner, body, scope_instances)
            case syntax.ClassDefinition():
                body = self.evaluator.body(node, scope)
                names = {"self"} if self._is_owner(ClassValue(node, scope)) else set()
                self._note_methods(ClassValue(node, scope))
                for inner in node.body:
                    yield from self._statement(inner, body, instances | names)

    def _note_methods(self, value: ClassValue) -> None:
        """Note which methods of a section class receive its parameters after `self`."""
        lineage = lineage_of(self.evaluator, value)
        types = lineage.types
        if lineage.root not in SECTION_KINDS or types is None or not types.arguments:
            return
        params = params_of(self.evaluator, types.arguments[0])
        if isinstance(params, Dataclass):
            for member in value.definition.body:
                if isinstance(member, syntax.FunctionDefinition) and member.name.id in _WITH_PARAMS:
                    self.selectors[id(member)] = params

    def _parameters(
        self, node: syntax.FunctionDefinition | syntax.Lambda, scope: Scope
    ) -> frozenset[str]:
        names: set[str] = set()
        selected = self.selectors.get(id(node))
        method = isinstance(node, syntax.FunctionDefinition) and node.name.id in _WITH_PARAMS
        parameters = node.parameters[1 if method else 0 :]
        if selected is not None and parameters and self._has(selected):
            names.add(parameters[0].name.id)
        for parameter in node.parameters:
            if parameter.annotation is not None:
                value = self.evaluator.value(parameter.annotation, scope)
                if self._is_owner(value):
                    names.add(parameter.name.id)
        return frozenset(names)

    def _is_owner(self, value: object) -> bool:
        return isinstance(value, ClassValue) and self._has(dataclass_of(self.evaluator, value))

    def _has(self, kind: Dataclass) -> bool:
        return self.target.is_declared_by(kind.field(self.target.field.id))

    def _expression(
        self, node: syntax.Expression, scope: Scope, instances: frozenset[str]
    ) -> Iterator[tuple[syntax.Name, Role]]:
        if isinstance(node, syntax.Lambda):
            instances = instances | self._parameters(node, scope)
        elif isinstance(node, syntax.Attribute) and node.attr.id == self.target.field.id:
            if self._is_instance(node.value, scope, instances):
                yield node.attr, Role.READ
        elif isinstance(node, syntax.Call):
            yield from self._replaced(node, scope, instances)
        for inner in expressions(node):
            yield from self._expression(inner, scope, instances)

    def _is_instance(
        self, node: syntax.Expression, scope: Scope, instances: frozenset[str]
    ) -> bool:
        if isinstance(node, syntax.Name) and node.id in instances:
            return True
        value = self.evaluator.value(node, scope)
        return isinstance(value, InstanceValue) and self._has(value.dataclass)

    def _replaced(
        self, node: syntax.Call, scope: Scope, instances: frozenset[str]
    ) -> Iterator[tuple[syntax.Name, Role]]:
        keyword = node.keyword(self.target.field.id)
        if keyword is None or keyword.name is None or not node.args:
            return
        func = self.evaluator.value(node.func, scope)
        replaces = isinstance(func, External) and func.dotted == "dataclasses.replace"
        if replaces and self._is_instance(node.args[0], scope, instances):
            yield keyword.name, Role.WRITE


def references(
    project: Project,
    analysis: ModuleAnalysis,
    offset: int,
    *,
    include_declaration: bool,
) -> tuple[SourceSpan, ...]:
    """Return every reference to the field at an offset, in all files that may have one."""
    target = target_at(analysis, offset)
    if target is None:
        return ()
    uses = occurrences(target, files_about(project, target, analysis.file))
    return tuple(
        use.place for use in uses if include_declaration or use.role is not Role.DECLARATION
    )


def highlights(analysis: ModuleAnalysis, offset: int) -> tuple[Occurrence, ...]:
    """Return the references in this file to the field at an offset."""
    target = target_at(analysis, offset)
    if target is None:
        return ()
    uses = occurrences(target, [analysis])
    return tuple(use for use in uses if use.place.file == analysis.file)


def rename(
    project: Project, analysis: ModuleAnalysis, offset: int, name: str
) -> tuple[Change, ...] | None:
    """Return the changes that rename the field at an offset; None if there is no field.

    Raises:
        RenameRefused: The name isn't an identifier, the dataclass already has it, or a text
            built by code names the field.
    """
    target = target_at(analysis, offset)
    if target is None:
        return None
    # `string.Template` accepts only ASCII names.
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise RenameRefused(f"{name!r} cannot be a field that a placeholder names")
    if name in task.TASK_BLOCKS and target.dataclass.task:
        raise RenameRefused(f"{name!r} is computed by the task section itself")
    if name != target.field.id and target.dataclass.field(name) is not None:
        raise RenameRefused(f"{target.dataclass.name} already has a field {name!r}")
    for module in files_about(project, target, analysis.file):
        for kind in module.dataclasses:
            if target.is_declared_by(kind.field(target.field.id)) and kind.field(name) is not None:
                raise RenameRefused(f"{kind.name} already has a field {name!r}")
        _refuse_computed(module, target, name)
        _refuse_built_text(module, target)
    changes: dict[object, Change] = {}
    for occurrence in occurrences(target, files_about(project, target, analysis.file)):
        changes.setdefault(occurrence.place, Change(occurrence.place, name))
    return tuple(changes.values())


def key_to_rename(analysis: ModuleAnalysis, offset: int) -> Key | None:
    """Return the key at an offset if one literal, and nothing else, declares it."""
    key = next((key for key in keys_of(analysis) if key.place.span.holds(offset)), None)
    return key if key is not None and key.declared is not None else None


def rename_key(
    project: Project, analysis: ModuleAnalysis, offset: int, name: str
) -> tuple[tuple[Change, ...], tuple[str, ...]] | None:
    """Return the changes that rename the key at an offset, and where it may stand and stays.

    Raises:
        RenameRefused: The new key is invalid, or taken.
    """
    target = key_to_rename(analysis, offset)
    if target is None or target.declared is None:
        return None
    if not KEY_PATTERN.fullmatch(name):
        raise RenameRefused(f"{name!r} isn't a key: give {KEY_RULE}")
    declared = target.declared
    words = (target.text, name, Path(declared.file).stem)
    mentioning = chain.from_iterable(project.mentioning(word, near=("",)) for word in words)
    files = dict.fromkeys((analysis.file, declared.file, *project.open_files, *mentioning))
    inside = rf"[/{KEY_CHARACTERS}]*"
    string = rf"""["'](?:{inside}[./])?({re.escape(target.text)})(?:[.]{inside})?["']"""
    places = {declared}
    left: dict[str, None] = {}
    named: set[tuple[str, str, SourceSpan | None]] = set()
    for module in filter(None, map(project.analysis, files)):
        keys = [*keys_of(module)]
        here = [key.place for key in keys if key.declared == declared]
        other = [key.place for key in keys if key.text and declared not in key.declarations]
        unsure = {key.place.start for key in keys if not key.text}
        unsure |= {match.start(1) for match in re.finditer(string, module.text)}
        places.update(here)
        for start in sorted(unsure.difference(span.start for span in (*here, *other))):
            line = module.text.count("\n", 0, start) + 1
            left[f"{Path(module.file).name}:{line}"] = None
        for template in templates_of(module, None):
            ns, template_key = template.text("ns"), template.text("key")
            named.add((ns, template_key, declared_key(template)))
            named.update(
                (f"{ns}/{template_key}", one.key, declared_key(one))
                for one in in_template(template)
            )
    spaces = {space for space, _, span in named if span == declared}
    taken = [one[0] for one in named if one[1] == name and one[2] != declared and one[0] in spaces]
    if taken:
        raise RenameRefused(f"the key {name!r} is taken in {taken[0]}")
    for parts in ((space, *more) for space in spaces for more in ((), (target.text,))):
        folder = Path(".foldline/prompts/overrides", *parts)
        if any(Path(project.root or "/", folder).glob("*.json")):
            left[str(folder)] = None
    return tuple(Change(span, name) for span in sorted(places)), tuple(left)


def _refuse_computed(analysis: ModuleAnalysis, target: FieldTarget, name: str) -> None:
    """Raise if a section computes a placeholder of the new name."""
    for text in analysis.texts:
        owner = text.owner
        field = owner.field(target.field.id) if isinstance(owner, Dataclass) else None
        if name in text.computed and target.is_declared_by(field):
            raise RenameRefused(f"{name!r} is computed by a section itself")


def _refuse_built_text(analysis: ModuleAnalysis, target: FieldTarget) -> None:
    """Raise if text built by code may contain a placeholder of the field."""
    name = target.field.id
    if not any(
        isinstance(owner := section.named_by(role), Dataclass)
        and target.is_declared_by(owner.field(name))
        and _is_code(section, role)
        for section in analysis.sections
        for role in roles_of(section)
    ):
        return
    texts = {
        source.span
        for _, placeholder in analysis.placeholders()
        if (source := placeholder.source) is not None
    }
    for match in re.finditer(rf"(?<!\$)(?:\$\$)*(\$\{{*{re.escape(name)}\b)", analysis.text):
        if not any(span.holds(match.start(1)) for span in texts):
            line = analysis.text.count("\n", 0, match.start(1)) + 1
            raise RenameRefused(
                f"line {line} of {Path(analysis.file).name} names {name!r} in a text that "
                "code builds: write the text as one literal, or rename by hand"
            )


def _is_code(section: SectionValue, role: str) -> bool:
    text = section.text(role)
    return section.given(role) is not None and (text is None or text.dynamic)
