"""Checks of how prompts are bound, rendered and evaluated, and how code names their sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from foldline.ide.analysis.calls import SECTION_PARAMS, section_params
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.model import StaticSection, Visibility
from foldline.ide.analysis.module_analysis import CallSite
from foldline.ide.analysis.params import dataclass_of, params_of
from foldline.ide.analysis.scopes import Scope
from foldline.ide.analysis.section_tree import in_template, sections_of, sections_with_paths
from foldline.ide.analysis.syntax import Attribute, Call, Dictionary, Expression, Name
from foldline.ide.analysis.values import (
    TEXT_KINDS,
    ClassValue,
    Dataclass,
    External,
    InstanceValue,
    Items,
    MethodValue,
    Nothing,
    PromptValue,
    SectionValue,
    TemplateValue,
    Text,
    Value,
)
from foldline.ide.checks.argument_values import is_summary, visibility_repairs
from foldline.ide.checks.certain import LITERALS, certain
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import (
    LazyDiagnostic,
    LazyLocation,
    Repair,
    alternatives,
    at_node,
    changes,
    did_you_mean,
    replacement,
)
from foldline.ide.checks.signatures import has_unknown_keywords
from foldline.prompts import ChaptersExpansionPolicy, refusals
from foldline.prompts.errors import near_names
from foldline.prompts.layout import binding
from foldline.records import record

_METHODS = frozenset({"bind", "render", "evaluate", "expand_chapters"})


def check_call(call: CallSite, func: Attribute, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Check a call of `bind`, `render`, `expand_chapters` or `evaluate` of a known prompt."""
    name = func.attr.id
    if name not in _METHODS:
        return
    if name == "evaluate":
        first = call.node.args[:1]
        owner: Value | None = evaluator.value(first[0], call.scope) if first else None
    else:
        method = evaluator.value(func, call.scope)
        owner = method.owner if isinstance(method, MethodValue) else None
    if not isinstance(owner, PromptValue | TemplateValue):
        return
    prompt_call = _PromptCall(call.node, call.scope, name, owner, evaluator)
    if name == "expand_chapters":
        yield from _expansion(prompt_call)
    if name in ("expand_chapters", "evaluate"):
        yield from _goal(prompt_call)
    if name != "expand_chapters":
        yield from _section_params(prompt_call)
    if name in ("render", "evaluate"):
        yield from _overrides(prompt_call)
    if name in ("bind", "render"):
        yield from _not_instances(prompt_call)
        yield from _twice(prompt_call)
        yield from _unknown(prompt_call)
    if name == "render" and not has_unknown_keywords(call, name, owner):
        yield from _missing(prompt_call, func)


@record(slots=False)
class _PromptCall:
    """A call of a method of a known prompt or template, or of `evaluate` with one."""

    node: Call
    scope: Scope
    method: str
    owner: PromptValue | TemplateValue
    evaluator: Evaluator

    def value(self, node: Expression) -> Value:
        return self.evaluator.value(node, self.scope)

    @cached_property
    def _sections_of(self) -> tuple[tuple[StaticSection, ...], bool]:
        return sections_of(self.owner.template)

    @property
    def sections(self) -> list[StaticSection]:
        """All sections and chapters, as far as they are known."""
        return [section for top in self._sections_of[0] for section in top.walk()]

    @property
    def complete(self) -> bool:
        """True if these are certainly all."""
        return self._sections_of[1]

    @cached_property
    def bound(self) -> list[tuple[Expression, InstanceValue]]:
        """The instances of dataclasses among the positional arguments."""
        values = ((argument, self.value(argument)) for argument in self.node.args)
        return [(node, value) for node, value in values if isinstance(value, InstanceValue)]

    @cached_property
    def types(self) -> dict[object, str] | None:
        """The names of the parameter types, by identity; None if some aren't known."""
        params = [section.params for section in in_template(self.owner.template)]
        if not self.complete or not all(isinstance(one, Dataclass | Nothing) for one in params):
            return None
        return {one.identity: one.name for one in params if isinstance(one, Dataclass)}


def _not_instances(call: _PromptCall) -> Iterator[LazyDiagnostic]:
    """Report bound values that aren't instances of dataclasses."""
    for argument in call.node.args:
        value = call.value(argument)
        kind = certain(argument, value, call.scope)
        if kind is None or (isinstance(value, InstanceValue) and value.dataclass.is_dataclass):
            continue
        repairs: tuple[Repair, ...] = ()
        message = refusals.not_bindable(kind.shown)
        if isinstance(value, ClassValue):
            params = dataclass_of(call.evaluator, value)
            if params.is_dataclass:
                names = [field.id for field in params.fields]
                message = refusals.not_bindable(kind.shown, params.name, names)
                if not any(field.init and not field.has_default for field in params.fields):
                    instance = f"{argument.source}()"
                    title = f"Bind an instance: `{instance}`"
                    repairs = (replacement(title, at_node(argument), instance),)
        yield LazyDiagnostic(Code.BOUND_NOT_INSTANCE, message, at_node(argument), repairs)


def _twice(call: _PromptCall) -> Iterator[LazyDiagnostic]:
    seen: dict[object, Expression] = {}
    for node, value in call.bound:
        kind = value.dataclass.identity
        if kind in seen:
            yield LazyDiagnostic(
                Code.BOUND_TWICE,
                f"`{value.dataclass.name}` is bound twice in one call, and either could be meant: "
                "bind one instance, and those of single sections with `section_params`.",
                at_node(node),
                related=((at_node(seen[kind]), "It is bound here, too."),),
            )
        seen.setdefault(kind, node)


def _unknown(call: _PromptCall) -> Iterator[LazyDiagnostic]:
    kinds = call.types if call.bound else None
    if kinds is None:
        return
    for node, value in call.bound:
        if value.dataclass.identity not in kinds:
            names = ", ".join(f"`{name}`" for name in sorted(set(kinds.values())))
            name = value.dataclass.name
            base = next(_bases_among(kinds, value.dataclass, call), None)
            message = (
                f"No section takes `{name}`; the sections take {names or 'no parameters'}."
                if base is None
                else refusals.subclass_bound(f"`{name}`", f"`{base}`")
            )
            yield LazyDiagnostic(Code.UNKNOWN_PARAMS, message, at_node(node))


def _bases_among(kinds: Mapping[object, str], kind: Dataclass, call: _PromptCall) -> Iterator[str]:
    """Yield the names of a class's bases that are among the parameter types, nearest first."""
    module = call.scope.module
    if kind.definition is None or kind.definition.file != module.file:
        return
    for base in kind.definition.bases:
        above = params_of(call.evaluator, call.evaluator.value(base, module))
        if isinstance(above, Dataclass):
            if above.identity in kinds:
                yield above.name
            yield from _bases_among(kinds, above, call)


def _missing(call: _PromptCall, func: Attribute) -> Iterator[LazyDiagnostic]:
    """Report the types that a render lacks, if everything that is bound is visible here."""
    owner, template = call.owner, call.owner.template
    keywords, opaque = call.evaluator.keywords(call.node, call.scope)
    own_params = [section_params(keywords, opaque=opaque), owner.section_params]
    if not all(record.complete for record in own_params):
        return
    inline = isinstance(func.value, Call) or isinstance(owner, TemplateValue)
    instances = [item.value for item in owner.bound if isinstance(item.value, InstanceValue)]
    seen = len(instances) == len(owner.bound) and len(call.bound) == len(call.node.args)
    if not inline or call.types is None or not seen or call.node.keyword("visibility_overrides"):
        return
    if isinstance(owner, PromptValue) and not _made_here(func):
        return
    present = {value.dataclass.identity for value in instances}
    present |= {value.dataclass.identity for _, value in call.bound}
    for section in in_template(template):
        if "default_params" in section.arguments and isinstance(section.params, Dataclass):
            present.add(section.params.identity)
    reported: set[object] = set()
    for path, section in _visible(template.rows):
        kind = section.params
        if not isinstance(kind, Dataclass) or not kind.complete:
            continue
        if any(".".join(path) in record.arguments for record in own_params):
            continue
        required = [field.id for field in kind.fields if field.init and not field.has_default]
        identity = kind.identity
        if required and identity not in present and identity not in reported:
            reported.add(identity)
            yield LazyDiagnostic(
                Code.MISSING_PARAMS,
                f"The section `{section.key}` needs `{kind.name}`, which is not bound and has no "
                f"default for {alternatives(tuple(required)).replace(' or ', ', ')}.",
                at_node(func.attr),
            )


def _made_here(func: Expression) -> bool:
    """Return True if a call chain starts with `Prompt(…)`: no other code has bound to it."""
    while isinstance(func, Attribute):
        value = func.value
        if not isinstance(value, Call):
            return False
        if not isinstance(value.func, Attribute):
            return isinstance(value.func, Name) and value.func.id == "Prompt"
        func = value.func
    return False


def _visible(
    items: Items, parent: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], SectionValue]]:
    """Yield the sections whose parameters every render needs, with their paths."""
    for item in items.items:
        section = item.value
        if not isinstance(section, SectionValue) or section.kind == "chapter":
            continue
        path = (*parent, section.key or "?")
        yield path, section
        if section.visibility is Visibility.FULL and not section.gated:
            yield from _visible(section.children, path)


# Names of sections


def _overrides(call: _PromptCall) -> Iterator[LazyDiagnostic]:
    """Check the keys and values of `visibility_overrides`."""
    keyword = call.node.keyword("visibility_overrides")
    if keyword is None or not isinstance(keyword.value, Dictionary):
        return
    by_path = _by_path(call)
    # An override of a chapter has no effect, but isn't a mistake.
    paths = {section.path for section in call.sections}
    for key, node in zip(keyword.value.keys, keyword.value.values, strict=True):
        if key is None:
            continue
        name, value = call.value(key), call.value(node)
        location = at_node(key)
        if isinstance(name, Text) and name.known is not None:
            written = _tuple_code(name.known.split("."))
            yield LazyDiagnostic(
                Code.INVALID_OVERRIDE,
                refusals.override_needs_path(repr(name.known), written),
                location,
                (replacement(f"Change to `{written}`", location, written, preferred=True),),
            )
            continue
        path = _path(name)
        if path is not None and call.complete and path not in paths:
            near = near_names(".".join(path), map(".".join, paths))
            meant = [name for name in near if tuple(name.split(".")) in paths]
            yield LazyDiagnostic(
                Code.UNKNOWN_SECTION,
                f"No section has the path `{'.'.join(path)}`.{did_you_mean(near)}",
                location,
                changes(location, meant, lambda name: _tuple_code(name.split("."))),
            )
        kind = certain(node, value, call.scope)
        if kind is not None and kind.type in LITERALS:
            shown = key.source if path is None else _tuple_code(path)
            yield LazyDiagnostic(
                Code.INVALID_OVERRIDE,
                refusals.override_needs_visibility(shown, kind.shown),
                at_node(node),
                tuple(visibility_repairs(node, value, call.scope, call.evaluator)),
            )
        elif path is not None and is_summary(value):
            section = by_path.get(path)
            if section is not None and _has_no_summary(section):
                yield LazyDiagnostic(
                    Code.MISSING_SUMMARY,
                    refusals.no_summary(f"`{'.'.join(path)}`"),
                    at_node(node),
                )


def _path(name: Value) -> tuple[str, ...] | None:
    """Return the path that a tuple of known keys is."""
    if not isinstance(name, Items) or not name.complete:
        return None
    parts = [item.value.known for item in name.items if isinstance(item.value, Text)]
    path = tuple(part for part in parts if part is not None)
    return path if len(path) == len(name.items) else None


def _by_path(call: _PromptCall) -> Mapping[tuple[str, ...], SectionValue]:
    """Return the sections that a render certainly shows or hides, by path."""
    if not call.complete:
        return {}
    placed = list(sections_with_paths(call.owner.template))
    chapters = [item.section.children for item in placed if item.section.kind == "chapter"]
    # An override inside of a closed chapter has no effect.
    closed = {id(item.value) for items in chapters for item in items.items}
    return {
        item.path: item.section
        for item in placed
        if len(item.path) == 1 and id(item.section) not in closed
    }


def _has_no_summary(section: SectionValue) -> bool:
    sure = not (section.opaque or section.maybe or section.gated)
    return sure and section.given("summary") is None and section.kind in TEXT_KINDS


def _goal(call: _PromptCall) -> Iterator[LazyDiagnostic]:
    """Check `goal_section_key`, by which the intent classifier chooses chapters."""
    keyword, policy = call.node.keyword("goal_section_key"), _policy_of(call)
    chapters = [section for section in call.sections if section.kind == "chapter"]
    if keyword is None:
        spread = any(keyword.name is None for keyword in call.node.keywords)
        if policy is not None and not spread and chapters and _classifies(call):
            message = "INTENT_CLASSIFIER chooses chapters by the goal: give `goal_section_key`."
            yield LazyDiagnostic(Code.GOAL_SECTION, message, at_node(policy))
        return
    value = call.value(keyword.value)
    goal = value.known if isinstance(value, Text) else None
    if goal is None or not call.complete:
        return
    location = at_node(keyword.value)
    sections = [section for section in call.sections if section.kind != "chapter"]
    every = [".".join(section.path) for section in sections]
    named = [".".join(section.path) for section in sections if section.key == goal]
    if goal not in every and not named:
        yield _no_section(Code.GOAL_SECTION, goal, near_names(goal, every), location)
    elif goal not in every and len(named) > 1:
        message = f"The key `{goal}` could mean {alternatives(tuple(named))}: give the whole path."
        yield LazyDiagnostic(Code.GOAL_SECTION, message, location, changes(location, named))
    inside = {id(section) for chapter in chapters for section in chapter.walk()}
    meant = [one for one in call.sections if goal in (one.key, ".".join(one.path))]
    if meant and _classifies(call) and all(id(section) in inside for section in meant):
        message = (
            f"`{goal}` is inside a chapter: INTENT_CLASSIFIER needs a goal that every render shows."
        )
        yield LazyDiagnostic(Code.GOAL_SECTION, message, location)


def _no_section(
    code: Code,
    key: str,
    near: tuple[str, ...],
    place: LazyLocation,
    *,
    kind: str = "section",
    instead: LazyLocation | None = None,
) -> LazyDiagnostic:
    message = f"No {kind} has the key `{key}`.{did_you_mean(near)}"
    return LazyDiagnostic(code, message, place, changes(place, near), instead=instead)


def _policy_of(call: _PromptCall) -> Expression | None:
    """Return the expression of a call's policy of expanding chapters."""
    expands = call.method == "expand_chapters"
    keyword = call.node.keyword("policy" if expands else "chapters_expansion_policy")
    if keyword is not None:
        return keyword.value
    return call.node.args[0] if expands and call.node.args else None


def _classifies(call: _PromptCall) -> bool:
    policy = _policy_of(call)
    value = call.value(policy) if policy is not None else None
    if isinstance(value, Text):
        return value.known == ChaptersExpansionPolicy.INTENT_CLASSIFIER
    return isinstance(value, External) and value.dotted.endswith(".INTENT_CLASSIFIER")


def _section_params(call: _PromptCall) -> Iterator[LazyDiagnostic]:
    """Report keys of unknown sections, and instances that their sections don't take."""
    keyword = call.node.keyword(SECTION_PARAMS)
    if keyword is None or not isinstance(keyword.value, Dictionary) or not call.complete:
        return
    placed = list(sections_with_paths(call.owner.template))
    chapters = {one.section.key for one in placed if one.section.kind == "chapter"}
    sections = {".".join(one.path): one.section for one in placed if one.section.kind != "chapter"}
    for key, argument in zip(keyword.value.keys, keyword.value.values, strict=True):
        name = None if key is None else call.value(key)
        if key is None or not isinstance(name, Text) or name.known is None:
            continue
        section = sections.get(name.known)
        if section is not None:
            yield from _wrong_type(argument, call.value(argument), name.known, section)
        elif name.known in chapters:
            message = f"`{name.known}` is a chapter: give its parameters in `chapter_params`."
            yield LazyDiagnostic(Code.UNKNOWN_SECTION, message, at_node(key))
        else:
            near = binding.near_keys(name.known, sections)
            yield _no_section(Code.UNKNOWN_SECTION, name.known, near, at_node(key))


def _wrong_type(
    node: Expression, value: Value, key: str, section: SectionValue
) -> Iterator[LazyDiagnostic]:
    params = section.params
    if isinstance(params, Nothing):
        message = f"The section `{key}` takes no parameters."
        yield LazyDiagnostic(Code.UNKNOWN_PARAMS, message, at_node(node))
    elif (
        isinstance(params, Dataclass)
        and isinstance(value, InstanceValue)
        and value.dataclass.identity != params.identity
    ):
        message = f"The section `{key}` takes `{params.name}`, not `{value.dataclass.name}`."
        yield LazyDiagnostic(Code.UNKNOWN_PARAMS, message, at_node(node))


def _expansion(call: _PromptCall) -> Iterator[LazyDiagnostic]:
    """Check a call of `expand_chapters`, apart from its goal section."""
    policy = _policy_of(call)
    value = call.value(policy) if policy is not None else None
    policies = [member.value for member in ChaptersExpansionPolicy]
    named = value.known if isinstance(value, Text) else None
    if policy is not None and named is not None and named not in policies:
        yield LazyDiagnostic(
            Code.INVALID_ARGUMENT,
            refusals.no_policy(repr(named), policies),
            at_node(policy),
            changes(at_node(policy), near_names(named, policies)),
        )
    if not call.complete:
        return
    chapters = sorted({section.key for section in call.sections if section.kind == "chapter"})
    for what in ("chapter_params", "only"):
        keyword = call.node.keyword(what)
        if keyword is not None:
            yield from _unknown_chapters(call, keyword.value, chapters)


def _unknown_chapters(
    call: _PromptCall, node: Expression, known: Sequence[str]
) -> Iterator[LazyDiagnostic]:
    if isinstance(node, Dictionary):
        named = [(key, call.value(key)) for key in node.keys if key is not None]
    else:
        value = call.value(node)
        items = value.items if isinstance(value, Items) else ()
        named = [(item.node, item.value) for item in items if not item.maybe]
    for key, value in named:
        if isinstance(value, Text) and value.known is not None and value.known not in known:
            yield _no_section(
                Code.UNKNOWN_SECTION,
                value.known,
                near_names(value.known, known),
                at_node(key),
                kind="chapter",
                instead=at_node(node),
            )


def _tuple_code(parts: Sequence[str]) -> str:
    """Format a path as a Python tuple."""
    written = ", ".join(f'"{part}"' for part in parts)
    return f"({written})" if len(parts) > 1 else f"({written},)"
