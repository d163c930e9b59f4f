"""Fields of params dataclasses that no template uses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from foldline.ide.analysis.placeholders import ITEMS, roles_of, texts_of
from foldline.ide.analysis.values import LIST_KINDS, Dataclass, Items, kept
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis, StatementFacts
    from foldline.ide.analysis.values import Field, SectionValue


def check_fields(analysis: ModuleAnalysis) -> Iterator[LazyDiagnostic]:
    """Report the fields that this file declares and that nothing in the workspace uses.

    A field is reported only if all texts of the sections that have it are known, and if neither the
    rest of the file nor a file that names the dataclass mentions it: `enabled` callables and other
    code may use a field, too.
    """
    memo = analysis.evaluator.memo
    declared: dict[int, tuple[Dataclass, Field]] = {}
    used: set[int] = set()
    unsure: set[int] = set()
    for facts in analysis.facts:
        uses = memo.fact(facts.statement.anchor, "fields", partial(_uses, facts))
        declared.update(uses.declared)
        used |= uses.used
        unsure |= uses.unsure
    for key, (kind, field) in declared.items():
        name = field.name
        if key in used or key in unsure or name is None or name.file != analysis.file:
            continue
        if field.id.startswith("__"):
            continue  # `__stability__` and its like are for the library.
        if _mentioned(field.id, analysis.text):
            continue
        if analysis.evaluator.modules.mentions(field.id, kind.name, analysis.file):
            continue
        yield LazyDiagnostic(
            Code.UNUSED_FIELD,
            f"No template uses `{field.id}`.",
            at_node(name),
            unnecessary=True,
        )


@dataclass(frozen=True, slots=True)
class _Uses:
    """Fields that code declares and uses, by the `id` of their declared names."""

    declared: dict[int, tuple[Dataclass, Field]]
    used: set[int]
    unsure: set[int]


_NO_USES = _Uses({}, set(), set())


def _uses(facts: StatementFacts) -> _Uses:
    found = _Uses({}, set(), set())
    sections = {id(text.section): text.section for text in facts.texts}
    of_sections = [kept(section, "declared fields", _declared) for section in facts.sections]
    of_texts = [kept(section, "used fields", _used) for section in sections.values()]
    for uses in (*of_sections, *of_texts):
        found.declared.update(uses.declared)
        found.used.update(uses.used)
        found.unsure.update(uses.unsure)
    return found


def _declared(section: SectionValue) -> _Uses:
    """The fields that a section has, and those that it may use elsewhere than in its texts."""
    params = section.params
    if not isinstance(params, Dataclass) or params.definition is None:
        return _NO_USES
    fields = {id(field.name): field for field in params.fields if field.name is not None}
    unsure = (
        not params.complete
        or params.task
        or params.computed
        or not _renders_only_known_texts(section)
    )
    declared = {key: (params, field) for key, field in fields.items()}
    return _Uses(declared, set(), set(fields) if unsure else set())


def _used(section: SectionValue) -> _Uses:
    """The fields that a section's texts use."""
    found = _Uses({}, set(), set())
    for text in texts_of(section):
        owner = text.owner
        if not isinstance(owner, Dataclass):
            continue
        names = {placeholder.name for placeholder in text.placeholders} - set(text.computed)
        found.used.update(id(field.name) for field in owner.fields if field.id in names)
        # A misspelled placeholder has its own diagnostic, and may be meant for this field.
        if text.mapped.dynamic or any(owner.field(name) is None for name in names):
            found.unsure.update(id(field.name) for field in owner.fields)
    return found


def _renders_only_known_texts(section: SectionValue) -> bool:
    """Return True if the section uses fields only in its texts, and they are known."""
    if section.kind not in ("markdown", *LIST_KINDS) or section.opaque:
        return False
    items = section.arguments.get(ITEMS)
    given = items is not None and isinstance(items.value, Items)
    if section.kind in LIST_KINDS and not given and section.known(ITEMS) is None:
        return False
    return section.text("template") is not None and all(
        role not in section.arguments or section.text(role) is not None
        for role in roles_of(section)
    )


def _mentioned(name: str, text: str) -> bool:
    """Return True if the word occurs other than as a declaration or a keyword argument."""
    return (
        re.search(rf"\b{re.escape(name)}\b(?!\s*[:=])|\b{re.escape(name)}\s*==", text) is not None
    )
