"""Fields of params dataclasses that no template uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.server.static.checks.findings import Code, Finding, at_node
from foldline.server.static.values import Dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.server.static.analysis import ModuleAnalysis
    from foldline.server.static.syntax import ClassDefinition


def check_fields(analysis: ModuleAnalysis) -> Iterator[Finding]:
    """The fields that this file declares for its sections and that nothing in it uses.

    Only for types of which every use in this file is a section with a text that is all known, and
    that the rest of the file mentions neither by attribute nor by name: `enabled` callables and
    other code may use a field as well.
    """
    used: dict[ClassDefinition, set[str]] = {}
    unsure: set[ClassDefinition] = set()
    for section in analysis.sections:
        params = section.params
        if not isinstance(params, Dataclass) or params.definition is None:
            continue
        used.setdefault(params.definition, set())
        if section.kind != "markdown" or section.opaque or section.text("template") is None:
            unsure.add(params.definition)
    for text in analysis.texts:
        params = text.section.params
        if not isinstance(params, Dataclass) or params.definition not in used:
            continue
        if text.mapped.dynamic:
            unsure.add(params.definition)
        names = {placeholder.name for placeholder in text.placeholders}
        if any(params.field(name) is None for name in names):
            # A misspelt placeholder is reported itself; it may well be the one that is missing.
            unsure.add(params.definition)
        used[params.definition] |= names
    for kind in analysis.dataclasses:
        definition = kind.definition
        if definition not in used or definition in unsure or not kind.complete or kind.task:
            continue
        for field in kind.fields:
            name = field.name
            if name is None or name.file != analysis.file or field.id in used[definition]:
                continue
            if name.anchor is not definition.anchor or _mentioned(field.id, analysis.text):
                continue
            yield Finding(
                Code.UNUSED_FIELD,
                f"No template uses `{field.id}`.",
                at_node(name),
                unnecessary=True,
            )


def _mentioned(name: str, text: str) -> bool:
    """Whether the word occurs other than as a declaration or a keyword argument."""
    return (
        re.search(rf"\b{re.escape(name)}\b(?!\s*[:=])|\b{re.escape(name)}\s*==", text) is not None
    )
