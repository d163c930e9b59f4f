"""Go to definition: fields of placeholders, sections of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.section_tree import span_of
from foldline.ide.features.keys import key_at
from foldline.ide.features.locate import placeholder_at

if TYPE_CHECKING:
    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.values import SectionValue


def definitions(analysis: ModuleAnalysis, offset: int) -> tuple[SourceSpan, ...]:
    """Return the fields of the placeholder at an offset, or the sections that a key there names."""
    placeholder = placeholder_at(analysis, offset)
    if placeholder is not None:
        return tuple(
            span_of(field.name) for _, field in placeholder.fields if field.name is not None
        )
    key = key_at(analysis, offset)
    if key is not None:
        return tuple(dict.fromkeys(_declared(placed.section) for placed in key.sections))
    return ()


def _declared(section: SectionValue) -> SourceSpan:
    argument = section.arguments.get("key")
    return span_of(argument.node if argument is not None else section.node)
