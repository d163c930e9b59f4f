"""Checks of parameters for single sections: `bind(section_params={…})`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.binding import SECTION_PARAMS
from foldline.ide.analysis.section_tree import sections_of
from foldline.ide.analysis.syntax import Dictionary
from foldline.ide.analysis.values import Dataclass, InstanceValue, Nothing, Text
from foldline.ide.checks.diagnostic import (
    Code,
    LazyDiagnostic,
    alternatives,
    at_node,
    replacement,
)
from foldline.ide.features.keys import sections_with_paths
from foldline.prompts.forms import binding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.analysis.syntax import Expression
    from foldline.ide.analysis.values import SectionValue, TemplateValue, Value


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
            yield _unknown(key, name.known, sections, is_chapter=name.known in chapters)
        else:
            value = evaluator.value(argument, call.scope)
            yield from _wrong_type(argument, value, name.known, section)


def _unknown(
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
