"""Checks of how fields show: forms that make no sense, and values shown as Python writes them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from foldline.ide.analysis.placeholders import ITEMS
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.values import TEXT_KINDS, Dataclass
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node, at_placeholder
from foldline.prompts.forms import field_forms
from foldline.prompts.sections import composition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.analysis.placeholders import Placeholder, TemplateText
    from foldline.ide.analysis.values import Field


def check_forms(text: TemplateText) -> Iterator[LazyDiagnostic]:
    """Report fields that a text can't show, and those that it shows as Python writes them."""
    section, params = text.section, text.owner
    if section.kind not in TEXT_KINDS or text.role == ITEMS or not isinstance(params, Dataclass):
        return
    # What `enabled` decides from the parameters says nothing of an item.
    gated = section.gated and params is section.params
    for placeholder in text.placeholders:
        field = params.field(placeholder.name)
        if field is None:
            continue
        use = section.arguments.get(text.role)
        instead = None if use is None else at_node(use.node)
        shows = field.type.shows
        if field.type.problem:
            yield LazyDiagnostic(
                Code.INVALID_FORM,
                f"`{field.id}` can't be shown: {field.type.problem}.",
                partial(_annotation, field, placeholder),
                instead=at_placeholder(placeholder),
            )
        elif shows is not None and not (gated and shows.kind is composition.Repr.NONE):
            yield LazyDiagnostic(
                Code.REPR_PLACEHOLDER,
                f"`${{{field.id}}}` {field_forms.repr_message(shows, field.id)}.",
                at_placeholder(placeholder),
                related=(
                    ((partial(_annotation, field, placeholder), "Its type is declared here."),)
                    if field.hint is not None
                    else ()
                ),
                instead=instead,
            )


def _annotation(field: Field, placeholder: Placeholder) -> SourceSpan | None:
    """Location of a field's type, or of the placeholder for a field of the library."""
    return placeholder.source if field.hint is None else span_of(field.hint[0])
