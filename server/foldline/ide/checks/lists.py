"""Checks of sections that show a list: the field with the items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.placeholders import ITEMS
from foldline.ide.analysis.values import LIST_KINDS, Dataclass, InstanceValue, Items, Nothing
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, alternatives, at_node
from foldline.ide.checks.diagnostic import at_placeholder as at
from foldline.ide.checks.sections import name_repairs, names_in, use_of
from foldline.prompts import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.placeholders import TemplateText
    from foldline.ide.analysis.values import SectionValue


def check_list(section: SectionValue, texts: tuple[TemplateText, ...]) -> Iterator[LazyDiagnostic]:
    """Check that `items` names a field with a sequence of items."""
    if section.kind not in LIST_KINDS:
        return
    for text in texts:
        if text.role == ITEMS:
            yield from _field(text)
    yield from _given(section)


def _field(text: TemplateText) -> Iterator[LazyDiagnostic]:
    section, params, names = text.section, text.owner, names_in(text)
    (whole,) = text.placeholders
    if names is None:
        return
    if isinstance(params, Nothing):
        yield LazyDiagnostic(
            Code.ITEMS_FIELD,
            f"The section takes no parameters that could have a field `{whole.name}`: specialise "
            "it with their dataclass, or give the items themselves.",
            at(whole),
            instead=use_of(section, ITEMS),
        )
    elif whole.name not in names and isinstance(params, Dataclass):
        near = errors.near_names(whole.name, names)
        hint = f" Did you mean {alternatives(near)}?" if near else ""
        yield LazyDiagnostic(
            Code.ITEMS_FIELD,
            f"`{whole.name}` isn't a field of `{params.name}`.{hint}",
            at(whole),
            tuple(name_repairs(whole, near, None)),
            instead=use_of(section, ITEMS),
        )
    elif section.holds_items is False and isinstance(section.item, Dataclass):
        field = params.field(whole.name) if isinstance(params, Dataclass) else None
        declared = f" is declared as `{field.annotation}`" if field is not None else ""
        name = field.name if field is not None else None
        yield LazyDiagnostic(
            Code.ITEMS_FIELD,
            f"`{whole.name}`{declared}; `items` needs a field with a sequence of "
            f"`{section.item.name}`, such as `tuple[{section.item.name}, ...]`.",
            at(whole),
            related=((at_node(name), "It is declared here."),) if name is not None else (),
            instead=use_of(section, ITEMS),
        )


def _given(section: SectionValue) -> Iterator[LazyDiagnostic]:
    """Check items that are given with the section, as far as their classes are known."""
    argument, kind = section.arguments.get(ITEMS), section.item
    if argument is None or not isinstance(argument.value, Items) or not isinstance(kind, Dataclass):
        return
    for item in argument.value.items:
        value = item.value
        if not isinstance(value, InstanceValue) or item.maybe:
            continue
        definition = value.dataclass.definition
        # One that has bases may be derived from it.
        if value.dataclass.identity is not kind.identity and not (definition and definition.bases):
            yield LazyDiagnostic(
                Code.ITEMS_FIELD,
                f"The items of the section are `{kind.name}`, not `{value.dataclass.name}`.",
                at_node(item.node),
                instead=use_of(section, ITEMS),
            )
