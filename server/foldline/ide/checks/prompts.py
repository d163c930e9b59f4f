"""Checks of how prompts are bound, rendered and evaluated, and how code names their sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.binding import SECTION_PARAMS, section_params
from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.module_analysis import in_template
from foldline.ide.analysis.params import dataclass_of, params_of
from foldline.ide.analysis.section_tree import sections_of
from foldline.ide.analysis.syntax import Attribute, Call, Dictionary, Name
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
)
from foldline.ide.checks.argument_values import is_summary, visibility_repairs
from foldline.ide.checks.certain import LITERALS, certain
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, alternatives, at_node, replacement
from foldline.ide.checks.signatures import has_unknown_keywords
from foldline.ide.features.keys import sections_with_paths
from foldline.prompts import ChaptersExpansionPolicy, refusals
from foldline.prompts.errors import near_names
from foldline.prompts.forms import binding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.model import StaticSection
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.analysis.syntax import Expression, Keyword
    from foldline.ide.analysis.values import Value
    from foldline.ide.checks.diagnostic import Repair

_METHODS = frozenset({"bind", "render", "evaluate", "expand_chapters"})


def check_call(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Check a call of `bind`, `render`, `expand_chapters` or `evaluate` of a known prompt."""
    func = call.node.func
    name = func.attr.id if isinstance(func, Attribute) else ""
    if not isinstance(func, Attribute) or name not in _METHODS:
        return
    if name == "evaluate":
        template = _template(_first(call.node, evaluator, call))
        if template is not None:
            yield from _overrides(call, template, evaluator)
            yield from _goal(call, template, evaluator)
            yield from check_section_params(call, template, evaluator)
        return
    owner = evaluator.value(func, call.scope)
    if not isinstance(owner, MethodValue):
        return
    template = _template(owner.owner)
    if template is None:
        return
    if name == "expand_chapters":
        yield from check_expansion(call, template, evaluator)
        yield from _goal(call, template, evaluator)
        return
    bound_here = _instances(call, evaluator)
    yield from _not_instances(call, evaluator)
    yield from _twice(bound_here)
    yield from _unknown(call, bound_here, template, evaluator)
    yield from check_section_params(call, template, evaluator)
    if name == "render":
        yield from _overrides(call, template, evaluator)
        if not has_unknown_keywords(call, owner.owner):
            yield from _missing(call, owner.owner, template, bound_here, evaluator)


def _template(value: object) -> TemplateValue | None:
    if isinstance(value, PromptValue):
        return value.template
    return value if isinstance(value, TemplateValue) else None


def _first(node: Call, evaluator: Evaluator, call: CallSite) -> object:
    return evaluator.value(node.args[0], call.scope) if node.args else None


def _instances(call: CallSite, evaluator: Evaluator) -> list[tuple[Expression, InstanceValue]]:
    found: list[tuple[Expression, InstanceValue]] = []
    for argument in call.node.args:
        value = evaluator.value(argument, call.scope)
        if isinstance(value, InstanceValue):
            found.append((argument, value))
    return found


def _not_instances(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Report bound values that aren't instances of dataclasses."""
    for argument in call.node.args:
        value = evaluator.value(argument, call.scope)
        kind = certain(argument, value, call.scope)
        if kind is None or (isinstance(value, InstanceValue) and value.dataclass.is_dataclass):
            continue
        repairs: tuple[Repair, ...] = ()
        message = refusals.not_bindable(kind.shown)
        if isinstance(value, ClassValue):
            params = dataclass_of(evaluator, value)
            if params.is_dataclass:
                names = [field.id for field in params.fields]
                message = refusals.not_bindable(kind.shown, params.name, names)
            if params.is_dataclass and not any(
                field.init and not field.has_default for field in params.fields
            ):
                made = f"{argument.source}()"
                repairs = (replacement(f"Bind an instance: `{made}`", at_node(argument), made),)
        yield LazyDiagnostic(Code.BOUND_NOT_INSTANCE, message, at_node(argument), repairs)


def _twice(bound_here: Sequence[tuple[Expression, InstanceValue]]) -> Iterator[LazyDiagnostic]:
    seen: dict[object, Expression] = {}
    for node, value in bound_here:
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


def _known_types(template: TemplateValue, evaluator: Evaluator) -> dict[object, str] | None:
    """The parameter types of a template; None where some are not known."""
    _, complete = sections_of(template, evaluator)
    if not complete:
        return None
    kinds: dict[object, str] = {}
    for section in in_template(template):
        if isinstance(section.params, Dataclass):
            kinds[section.params.identity] = section.params.name
        elif not isinstance(section.params, Nothing):
            return None
    return kinds


def _unknown(
    call: CallSite,
    bound_here: Sequence[tuple[Expression, InstanceValue]],
    template: TemplateValue,
    evaluator: Evaluator,
) -> Iterator[LazyDiagnostic]:
    kinds = _known_types(template, evaluator) if bound_here else None
    if kinds is None:
        return
    for node, value in bound_here:
        if value.dataclass.identity not in kinds:
            names = ", ".join(f"`{name}`" for name in sorted(set(kinds.values())))
            name = value.dataclass.name
            base = next(_bases_among(kinds, value.dataclass, evaluator, call), None)
            message = (
                f"No section takes `{name}`; the sections take {names or 'no parameters'}."
                if base is None
                else refusals.subclass_bound(f"`{name}`", f"`{base}`")
            )
            yield LazyDiagnostic(Code.UNKNOWN_PARAMS, message, at_node(node))


def _bases_among(
    kinds: Mapping[object, str], kind: Dataclass, evaluator: Evaluator, call: CallSite
) -> Iterator[str]:
    """Yield the names of a class's bases that are among the parameter types, nearest first."""
    module = call.scope.module
    if kind.definition is None or kind.definition.file != module.file:
        return
    for base in kind.definition.bases:
        value = evaluator.value(base, module)
        above = params_of(evaluator, value)
        if isinstance(above, Dataclass):
            if above.identity in kinds:
                yield above.name
            yield from _bases_among(kinds, above, evaluator, call)


def _missing(
    call: CallSite,
    owner: object,
    template: TemplateValue,
    bound_here: Sequence[tuple[Expression, InstanceValue]],
    evaluator: Evaluator,
) -> Iterator[LazyDiagnostic]:
    """Report the types that a render lacks, if everything that is bound is visible here."""
    keywords, opaque = evaluator.keywords(call.node, call.scope)
    own = [section_params(keywords, opaque=opaque)]
    if isinstance(owner, PromptValue):
        own.append(owner.section_params)
    if not all(record.complete for record in own):
        return
    func = call.node.func
    inline = isinstance(func, Attribute) and (
        isinstance(func.value, Call) or isinstance(owner, TemplateValue)
    )
    kinds = _known_types(template, evaluator)
    bound = owner.bound if isinstance(owner, PromptValue) else ()
    instances = [item.value for item in bound if isinstance(item.value, InstanceValue)]
    seen = len(instances) == len(bound) and len(bound_here) == len(call.node.args)
    if not inline or kinds is None or not seen or call.node.keyword("visibility_overrides"):
        return
    if isinstance(owner, PromptValue) and not _made_here(func):
        return
    present = {value.dataclass.identity for value in instances}
    present |= {value.dataclass.identity for _, value in bound_here}
    for section in in_template(template):
        if "default_params" in section.arguments and isinstance(section.params, Dataclass):
            present.add(section.params.identity)
    reported: set[object] = set()
    for path, section in _visible(template.rows):
        kind = section.params
        if not isinstance(kind, Dataclass) or not kind.complete:
            continue
        if any(".".join(path) in record.arguments for record in own):
            continue
        required = [field.id for field in kind.fields if field.init and not field.has_default]
        identity = kind.identity
        if required and identity not in present and identity not in reported:
            reported.add(identity)
            assert isinstance(func, Attribute)
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


def _overrides(
    call: CallSite, template: TemplateValue, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    keyword = call.node.keyword("visibility_overrides")
    if keyword is None or not isinstance(keyword.value, Dictionary):
        return
    yield from check_overrides(call, keyword.value, template, evaluator)
    sections, complete = sections_of(template, evaluator)
    if not complete:
        return
    # An override of a chapter has no effect, but isn't a mistake.
    paths = {section.path for section in _walk(sections)}
    for key in keyword.value.keys:
        value = evaluator.value(key, call.scope) if key is not None else None
        if not isinstance(value, Items) or not value.complete or key is None:
            continue
        parts = [item.value.known for item in value.items if isinstance(item.value, Text)]
        path = tuple(part for part in parts if part is not None)
        if len(path) != len(value.items) or path in paths:
            continue
        near = near_names(".".join(path), (".".join(known_path) for known_path in paths))
        repairs = tuple(
            replacement(
                f"Change to `{name}`",
                at_node(key),
                tuple_code(name.split(".")),
            )
            for name in near
            if tuple(name.split(".")) in paths
        )
        yield LazyDiagnostic(
            Code.UNKNOWN_SECTION,
            f"No section has the path `{'.'.join(path)}`."
            + (f" Did you mean {alternatives(near)}?" if near else ""),
            at_node(key),
            repairs,
        )


def _walk(sections: Sequence[StaticSection]) -> Iterator[StaticSection]:
    for section in sections:
        yield from section.walk()


def _goal(
    call: CallSite, template: TemplateValue, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    keyword = call.node.keyword("goal_section_key")
    sections, complete = sections_of(template, evaluator)
    if keyword is None:
        yield from _goal_missing(call, evaluator, sections)
        return
    value = evaluator.value(keyword.value, call.scope)
    known = value.known if isinstance(value, Text) else None
    if known is None or not complete:
        return
    yield from _goal_key(keyword, known, sections)
    if _classifies(call, evaluator):
        yield from _goal_in_chapter(keyword, known, sections)


def _goal_key(
    keyword: Keyword, known: str, sections: Sequence[StaticSection]
) -> Iterator[LazyDiagnostic]:
    every = [section for section in _walk(sections) if section.kind != "chapter"]
    exact = [section for section in every if ".".join(section.path) == known]
    named = [section for section in every if section.key == known]
    place = at_node(keyword.value)
    if not exact and not named:
        near = near_names(known, (".".join(section.path) for section in every))
        yield LazyDiagnostic(
            Code.GOAL_SECTION,
            f"No section has the key `{known}`."
            + (f" Did you mean {alternatives(near)}?" if near else ""),
            place,
            tuple(replacement(f"Change to `{name}`", place, f'"{name}"') for name in near),
        )
    elif not exact and len(named) > 1:
        paths = tuple(".".join(section.path) for section in named)
        yield LazyDiagnostic(
            Code.GOAL_SECTION,
            f"The key `{known}` could mean {alternatives(paths)}: give the whole path.",
            place,
            tuple(replacement(f"Change to `{name}`", place, f'"{name}"') for name in paths),
        )


def _goal_in_chapter(
    keyword: Keyword, known: str, sections: Sequence[StaticSection]
) -> Iterator[LazyDiagnostic]:
    inside = [
        section
        for chapter in _walk(sections)
        if chapter.kind == "chapter"
        for section in chapter.walk()
    ]
    named = [
        section for section in _walk(sections) if known in (section.key, ".".join(section.path))
    ]
    if named and all(section in inside for section in named):
        yield LazyDiagnostic(
            Code.GOAL_SECTION,
            f"`{known}` is inside a chapter: INTENT_CLASSIFIER needs a goal that every render "
            "shows.",
            at_node(keyword.value),
        )


def _classifies(call: CallSite, evaluator: Evaluator) -> bool:
    policy = policy_of(call)
    value = evaluator.value(policy, call.scope) if policy is not None else None
    if isinstance(value, Text):
        return value.known == ChaptersExpansionPolicy.INTENT_CLASSIFIER
    return isinstance(value, External) and value.dotted.endswith(".INTENT_CLASSIFIER")


def _goal_missing(
    call: CallSite, evaluator: Evaluator, sections: Sequence[StaticSection]
) -> Iterator[LazyDiagnostic]:
    policy = policy_of(call)
    if policy is None or any(keyword.name is None for keyword in call.node.keywords):
        return
    has_chapters = any(section.kind == "chapter" for section in _walk(sections))
    if has_chapters and _classifies(call, evaluator):
        yield LazyDiagnostic(
            Code.GOAL_SECTION,
            "INTENT_CLASSIFIER chooses chapters by the goal: give `goal_section_key`.",
            at_node(policy),
        )


def check_section_params(
    call: CallSite, template: TemplateValue, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Report keys of unknown sections, and instances that their sections don't take."""
    keyword = call.node.keyword(SECTION_PARAMS)
    _, complete = sections_of(template, evaluator)
    if keyword is None or not isinstance(keyword.value, Dictionary) or not complete:
        return
    sections: dict[str, SectionValue] = {}
    chapters: set[str | None] = set()
    for placed in sections_with_paths(template):
        if placed.section.kind == "chapter":
            chapters.add(placed.section.key)
        else:
            sections[".".join(placed.path)] = placed.section
    for key, argument in zip(keyword.value.keys, keyword.value.values, strict=True):
        name = None if key is None else evaluator.value(key, call.scope)
        if key is None or not isinstance(name, Text) or name.known is None:
            continue
        section = sections.get(name.known)
        if section is None:
            yield _unknown_section(key, name.known, sections, is_chapter=name.known in chapters)
        else:
            value = evaluator.value(argument, call.scope)
            yield from _wrong_type(argument, value, name.known, section)


def _unknown_section(
    key: Expression, name: str, sections: Mapping[str, object], *, is_chapter: bool
) -> LazyDiagnostic:
    if is_chapter:
        message = f"`{name}` is a chapter: give its parameters in `chapter_params`."
        return LazyDiagnostic(Code.UNKNOWN_SECTION, message, at_node(key))
    near = binding.near_keys(name, sections)
    return LazyDiagnostic(
        Code.UNKNOWN_SECTION,
        f"No section has the key `{name}`."
        + (f" Did you mean {alternatives(near)}?" if near else ""),
        at_node(key),
        tuple(replacement(f"Change to `{other}`", at_node(key), f'"{other}"') for other in near),
    )


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
        yield LazyDiagnostic(
            Code.UNKNOWN_PARAMS,
            f"The section `{key}` takes `{params.name}`, not `{value.dataclass.name}`.",
            at_node(node),
        )


def check_overrides(
    call: CallSite, overrides: Dictionary, template: TemplateValue, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Check the keys and values of `visibility_overrides`, apart from unknown paths."""
    by_path: Mapping[tuple[str, ...], SectionValue] | None = None
    for key, node in zip(overrides.keys, overrides.values, strict=True):
        if key is None:
            continue
        name, value = evaluator.value(key, call.scope), evaluator.value(node, call.scope)
        if isinstance(name, Text) and name.known is not None:
            written = tuple_code(name.known.split("."))
            yield LazyDiagnostic(
                Code.INVALID_OVERRIDE,
                refusals.override_needs_path(repr(name.known), written),
                at_node(key),
                (replacement(f"Change to `{written}`", at_node(key), written, preferred=True),),
            )
            continue
        path = _path(name)
        kind = certain(node, value, call.scope)
        if kind is not None and kind.type in LITERALS:
            shown = key.source if path is None else tuple_code(path)
            yield LazyDiagnostic(
                Code.INVALID_OVERRIDE,
                refusals.override_needs_visibility(shown, kind.shown),
                at_node(node),
                tuple(visibility_repairs(node, value, call.scope, evaluator)),
            )
        elif path is not None and is_summary(value):
            if by_path is None:
                by_path = _by_path(template, evaluator)
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


def _by_path(
    template: TemplateValue, evaluator: Evaluator
) -> Mapping[tuple[str, ...], SectionValue]:
    """Return the sections that a render certainly shows or hides, by path."""
    if not sections_of(template, evaluator)[1]:
        return {}
    chapters = [
        found.section.children
        for found in sections_with_paths(template)
        if found.section.kind == "chapter"
    ]
    # In a closed chapter, an override has no effect.
    closed = {id(item.value) for items in chapters for item in items.items}
    return {
        found.path: found.section
        for found in sections_with_paths(template)
        if len(found.path) == 1 and id(found.section) not in closed
    }


def _has_no_summary(section: SectionValue) -> bool:
    argument = section.arguments.get("summary")
    absent = argument is None or isinstance(argument.value, Nothing)
    sure = not (section.opaque or section.maybe or section.gated)
    return sure and absent and section.kind in TEXT_KINDS


def policy_of(call: CallSite) -> Expression | None:
    """Return the expression of a call's policy of expanding chapters."""
    func = call.node.func
    expands = isinstance(func, Attribute) and func.attr.id == "expand_chapters"
    keyword = call.node.keyword("policy" if expands else "chapters_expansion_policy")
    if keyword is not None:
        return keyword.value
    return call.node.args[0] if expands and call.node.args else None


def check_expansion(
    call: CallSite, template: TemplateValue, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Check a call of `expand_chapters`, apart from its goal section."""
    policy = policy_of(call)
    value = evaluator.value(policy, call.scope) if policy is not None else None
    policies = [member.value for member in ChaptersExpansionPolicy]
    named = value.known if isinstance(value, Text) else None
    if policy is not None and named is not None and named not in policies:
        place = at_node(policy)
        near = near_names(named, policies)
        yield LazyDiagnostic(
            Code.INVALID_ARGUMENT,
            refusals.no_policy(repr(named), policies),
            place,
            tuple(replacement(f"Change to `{name}`", place, f'"{name}"') for name in near),
        )
    sections, complete = sections_of(template, evaluator)
    if not complete:
        return
    known = {s.key for top in sections for s in top.walk() if s.kind == "chapter"}
    for what in ("chapter_params", "only"):
        keyword = call.node.keyword(what)
        if keyword is not None:
            yield from _unknown_chapters(call, keyword.value, sorted(known), evaluator)


def _unknown_chapters(
    call: CallSite, node: Expression, known: Sequence[str], evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    if isinstance(node, Dictionary):
        named = [(key, evaluator.value(key, call.scope)) for key in node.keys if key is not None]
    else:
        value = evaluator.value(node, call.scope)
        items = value.items if isinstance(value, Items) else ()
        named = [(item.node, item.value) for item in items if not item.maybe]
    for key, value in named:
        if not isinstance(value, Text) or value.known is None or value.known in known:
            continue
        near = near_names(value.known, known)
        place = at_node(key)
        yield LazyDiagnostic(
            Code.UNKNOWN_SECTION,
            f"No chapter has the key `{value.known}`."
            + (f" Did you mean {alternatives(near)}?" if near else ""),
            place,
            tuple(replacement(f"Change to `{name}`", place, f'"{name}"') for name in near),
            instead=at_node(node),
        )


def tuple_code(parts: Sequence[str]) -> str:
    """Format a path as a Python tuple."""
    written = ", ".join(f'"{part}"' for part in parts)
    return f"({written})" if len(parts) > 1 else f"({written},)"
