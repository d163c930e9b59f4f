"""Checks of code that opens sections and chapters by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.section_tree import sections_of
from foldline.ide.analysis.syntax import Attribute, Dictionary
from foldline.ide.analysis.values import (
    TEXT_KINDS,
    Items,
    Nothing,
    SectionValue,
    Text,
)
from foldline.ide.checks.argument_values import is_summary, visibility_repairs
from foldline.ide.checks.certain import LITERALS, certain
from foldline.ide.checks.diagnostic import (
    Code,
    LazyDiagnostic,
    alternatives,
    at_node,
    replacement,
)
from foldline.ide.features.keys import sections_with_paths
from foldline.prompts import ChaptersExpansionPolicy, refusals
from foldline.prompts.errors import near_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.analysis.syntax import Expression
    from foldline.ide.analysis.values import TemplateValue, Value


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
